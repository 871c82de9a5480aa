//! What is said of a run at its end, and the exit code for it.

use thermidor_runs::Ended;
use thermidor_step_engine::{EndStatus, LimitKind};
use thermidor_types::{Failure, FailureKind, TreeId};

use crate::{
    exit::{Exit, Trouble, of_failure},
    find_run::short,
    words,
};

/// The last line of a run that is done.
pub(crate) fn totals(id: TreeId, ended: &Ended) -> String {
    let unfit: usize = ended.output.stages().iter().map(|stage| stage.unfit.len()).sum();
    let unfit = match unfit {
        0 => String::new(),
        count => format!(" {} left in the answers.", words::count(count as u64, "fault")),
    };
    let usage = words::usage(&ended.output.usage());
    format!("Done: {usage}.{unfit} The timeline: thermidor runs show {}", short(id))
}

/// The last line of a run that was let go of.
pub(crate) fn stopped(id: TreeId) -> Trouble {
    Trouble::new(Exit::Stopped, format!("Stopped. Resume with: thermidor runs resume {}", short(id)))
}

/// The store failed under a run: what was kept is safe, and the way on is the same as after a crash.
pub(crate) fn broke_off(id: TreeId, error: thermidor_runs::Error) -> Trouble {
    let resumable = matches!(error.kind(), thermidor_runs::ErrorKind::Store(_));
    let trouble = Trouble::from(error);
    if !resumable {
        return trouble;
    }
    let message = format!("{}\nThen go on with: thermidor runs resume {}", trouble.message, short(id));
    Trouble::new(trouble.exit, message)
}

/// What is said of a run that ended without being done.
pub(crate) fn not_done(id: TreeId, ended: &Ended, limit: Option<LimitKind>) -> Trouble {
    let reason = ended.end.reason.as_ref().map(|reason| words::one_line(reason)).unwrap_or_default();
    let resume = format!("thermidor runs resume {}", short(id));
    match ended.end.status {
        EndStatus::Done | EndStatus::Stopped => {
            Trouble::new(Exit::Stopped, format!("The run was stopped. Resume with: {resume}"))
        }
        EndStatus::Limit => {
            let which = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
            let flag = raise(limit);
            let spent = ended.output.usage().cost.filter(|_| limit == Some(LimitKind::Money));
            let spent = spent.map(|spent| format!(" after spending {spent}")).unwrap_or_default();
            Trouble::new(
                Exit::Limit,
                format!("The run reached its limit{which}{spent}. Go on with: {resume} {flag} ({COUNTED})"),
            )
        }
        EndStatus::Failed => {
            let unknown = Failure::new(FailureKind::Internal, reason.as_str());
            let failure = ended.output.failure().unwrap_or(&unknown);
            let what = if reason.is_empty() { words::one_line(&failure.to_string()) } else { reason };
            let (remedy, then) = remedy(failure.kind);
            let then = then.map(|then| format!(" {then}: {resume}")).unwrap_or_default();
            let message = format!("The run failed: {what}\n{remedy}{then}");
            Trouble::new(of_failure(failure.kind), message)
        }
    }
}

/// What the value of a raised limit means.
pub(crate) const COUNTED: &str = "counted from the run's beginning";

/// The flag that raises a limit.
pub(crate) fn raise(limit: Option<LimitKind>) -> &'static str {
    match limit {
        Some(LimitKind::Tokens) => "--max-tokens N",
        Some(LimitKind::Time) => "--timeout TIME",
        Some(LimitKind::Money) => "--max-cost AMOUNT",
        _ => "--max-turns N",
    }
}

/// What to do about a failure, as a sentence; `None` for the second where the same run cannot get further.
fn remedy(kind: FailureKind) -> (&'static str, Option<&'static str>) {
    const THEN: Option<&str> = Some("Then go on with");
    match kind {
        FailureKind::Credentials => {
            ("Check the key's variable (thermidor models ls names it) with thermidor models test.", THEN)
        }
        FailureKind::Quota => ("Top up the account at the provider.", THEN),
        FailureKind::Malformed => {
            ("Check the provider's address (thermidor models ls shows it) with thermidor models test.", THEN)
        }
        FailureKind::RateLimited | FailureKind::Overloaded | FailureKind::Server => {
            ("Wait a little; thermidor models test shows whether the provider answers again.", THEN)
        }
        FailureKind::Network | FailureKind::Timeout => {
            ("Check the network and the provider's address with thermidor models test.", THEN)
        }
        FailureKind::NotFound => (
            "Start again with another model: -m, and thermidor models ls lists them; or mend the provider's \
              base_url, if its address is wrong.",
            None,
        ),
        FailureKind::ContextTooLong => {
            ("Start again with a model of a larger window, or a shorter request.", None)
        }
        FailureKind::ContentRefused | FailureKind::InvalidRequest => {
            ("Start again with another request, or another model (-m).", None)
        }
        FailureKind::Configuration => ("Mend what it names.", THEN),
        FailureKind::Unfit | FailureKind::Cancelled | FailureKind::Internal => {
            ("thermidor runs show tells more.", Some("To try again"))
        }
    }
}

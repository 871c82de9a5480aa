//! Drives a run to its end while showing it.

use std::{io, path::Path, time::Duration};

use thermidor_runs::{Ended, Outcome, Run, RunEventKind, delivery};
use thermidor_step_engine::{EndStatus, LimitKind};
use thermidor_types::TreeId;

use crate::{
    args::Show,
    display::{Detail, Display, Json, Live, Plain, Silent},
    ending::{broke_off, not_done, stopped, totals},
    exit::{Exit, Trouble},
    find_run::short,
    interrupt::Interrupts,
    screen::Screen,
    words,
};

/// How often live lines are brought up to date, and the driver is asked whether it still lives.
const TICK: Duration = Duration::from_millis(100);
/// How long a run may take to let go. It is safe to end without waiting: the journal is whole at any moment.
const GRACE: Duration = Duration::from_secs(3);

/// The display that the flags ask for. `total` is the number of stages, where it is known.
pub(crate) fn display(screen: Screen, show: &Show, total: Option<usize>) -> Box<dyn Display> {
    let detail = match (show.quiet, show.verbose) {
        (true, _) => Detail::Quiet,
        (false, true) => Detail::Full,
        (false, false) => Detail::Usual,
    };
    if show.json {
        Box::new(Json::new(screen, detail))
    } else if show.quiet {
        Box::new(Silent)
    } else if screen.live {
        Box::new(Live::new(screen, total, detail))
    } else {
        Box::new(Plain::new(screen, total, detail))
    }
}

/// Shows a run until this process lets go of it, prints its answer, and writes its files.
///
/// # Errors
/// With the exit code and the words for every end that is not done.
pub(crate) async fn follow(
    run: Run,
    screen: Screen,
    show: &Show,
    mut display: Box<dyn Display>,
    mut interrupts: Interrupts,
) -> Result<(), Trouble> {
    let id = run.id();
    let mut limit = None;
    // Whoever read it has gone, or it cannot be written: the second is said, and is no wish to stop.
    let mut unread = None;
    let seen = watch(&run, &mut *display, &mut interrupts, &mut limit, &mut unread).await;
    display.close();
    let watched = seen?;
    let outcome = tokio::select! {
        outcome = run.wait() => outcome.map_err(|error| broke_off(id, error))?,
        () = interrupts.next() => return Err(stopped(id)),
        () = tokio::time::sleep(GRACE), if watched != Watched::ToTheEnd => Outcome::Suspended,
    };
    if watched == Watched::Unread {
        let gone = unread.filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        let Some(error) = gone else { return Err(Trouble::quiet(Exit::Stopped)) };
        let trouble = Trouble::from(error);
        let message = format!("{}\nThen go on with: thermidor runs resume {}", trouble.message, short(id));
        return Err(Trouble::new(trouble.exit, message));
    }
    match outcome {
        Outcome::Ended(ended) if ended.end.status == EndStatus::Done => {
            hand_over(id, &ended, screen, show, &mut *display)
        }
        Outcome::Ended(ended) => Err(not_done(id, &ended, limit)),
        Outcome::Waiting(waits) => {
            let questions: Vec<_> = waits.iter().map(|wait| words::one_line(&wait.question.text)).collect();
            let message = format!("run {} waits for an answer: {}", short(id), questions.join("; "));
            Err(Trouble::new(Exit::Approval, message))
        }
        Outcome::Suspended => Err(stopped(id)),
    }
}

/// Why watching came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    /// There are no more events.
    ToTheEnd,
    /// A person stopped it.
    Stopped,
    /// Nobody reads what is printed.
    Unread,
}

async fn watch(
    run: &Run,
    display: &mut dyn Display,
    interrupts: &mut Interrupts,
    limit: &mut Option<LimitKind>,
    unread: &mut Option<io::Error>,
) -> Result<Watched, Trouble> {
    let broke_off = |error| broke_off(run.id(), error);
    let mut events = run.events().await.map_err(broke_off)?;
    let mut watched = Watched::ToTheEnd;
    let mut ticks = tokio::time::interval(TICK);
    let mut over = false;
    loop {
        tokio::select! {
            // The run's last words go before anything else.
            biased;
            event = events.next() => {
                let Some(event) = event else { return Ok(watched) };
                let event = event.map_err(broke_off)?;
                if let RunEventKind::LimitReached { limit: crossed } = &event.kind {
                    *limit = Some(*crossed);
                }
                if watched != Watched::Unread && let Err(error) = display.event(&event) {
                    watched = Watched::Unread;
                    *unread = Some(error);
                    run.suspend();
                }
            }
            () = interrupts.next() => {
                if watched != Watched::ToTheEnd {
                    return Err(stopped(run.id()));
                }
                watched = Watched::Stopped;
                run.suspend();
                display.note("Stopping … (again to stop at once)");
            }
            _ = ticks.tick() => {
                display.tick();
                // A driver whose store failed leaves no last event behind.
                if over {
                    return Ok(watched);
                }
                over = run.is_over();
            }
        }
    }
}

/// Prints the answer of a run that is done, and writes its delivery where one is wanted.
///
/// # Errors
/// When it cannot be printed or written.
pub(crate) fn hand_over(
    id: TreeId,
    ended: &Ended,
    screen: Screen,
    show: &Show,
    display: &mut dyn Display,
) -> Result<(), Trouble> {
    if !show.json {
        screen.answer(ended.output.text())?;
    }
    deliver(id, ended, show.output.as_deref(), display)?;
    display.note(&totals(id, ended));
    Ok(())
}

fn deliver(
    id: TreeId,
    ended: &Ended,
    folder: Option<&Path>,
    display: &mut dyn Display,
) -> Result<(), Trouble> {
    let Some(folder) = folder else { return Ok(()) };
    let written = delivery::write(folder, &ended.output);
    let written = written.map_err(|error| {
        Trouble::configuration(format!(
            "the result cannot be written: {error}\nThe run is kept. Its answer: thermidor runs tail {}",
            short(id)
        ))
    })?;
    for left_out in &written.left_out {
        display.note(&format!("! not written: {}", words::harmless(left_out)));
    }
    let files = words::count(written.files.len() as u64, "file");
    display.note(&format!("Wrote {files} to {}", folder.display()));
    Ok(())
}

use thermidor_step_engine::{EndStatus, ErrorKind as EngineKind, JournalErrorKind};
use thermidor_types::TreeId;

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Problem);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Engine(#[from] thermidor_step_engine::Error),
    #[error(transparent)]
    Journal(#[from] thermidor_step_engine::JournalError),
    #[error("run {0} is being driven by another process")]
    Busy(TreeId),
    #[error("run {0} is done: there is nothing to go on with; start a new one")]
    Done(TreeId),
    #[error("{0}")]
    Configuration(String),
    #[error("run {0} {ended}{because}", ended = ended(*.1), because = because(.2))]
    NotDone(TreeId, EndStatus, String),
    #[error("run {0} waits for a person: {1}")]
    Asks(TreeId, String),
    #[error("run {0} was suspended")]
    Suspended(TreeId),
    #[error("the driver of run {0} broke off: {1}")]
    Broken(TreeId, String),
}

fn ended(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Done => "is done",
        EndStatus::Failed => "failed",
        EndStatus::Stopped => "was stopped",
        EndStatus::Limit => "reached a limit",
    }
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

/// Why something could not be done with a run, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such run.
    NotFound,
    /// Another process drives the run.
    Busy,
    /// The run is done.
    Done,
    /// The run did not come to a done end: failed, stopped, at a limit, suspended, or waiting for a person.
    NotDone,
    /// What was configured cannot be used.
    Configuration,
    /// A newer program wrote it.
    Newer,
    /// The store failed; see the message.
    Store(JournalErrorKind),
    /// A defect of ours.
    Internal,
}

impl Error {
    pub(crate) fn configuration(problem: impl std::fmt::Display) -> Self {
        Problem::Configuration(problem.to_string()).into()
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        let store = |kind| match kind {
            JournalErrorKind::NotFound => ErrorKind::NotFound,
            JournalErrorKind::Newer => ErrorKind::Newer,
            JournalErrorKind::Conflict => ErrorKind::Busy,
            JournalErrorKind::NotABorder
            | JournalErrorKind::Unavailable
            | JournalErrorKind::Full
            | JournalErrorKind::ReadOnly
            | JournalErrorKind::Corrupt => ErrorKind::Store(kind),
        };
        match &self.0 {
            Problem::Engine(error) => match error.kind() {
                EngineKind::Journal(kind) => store(kind),
                EngineKind::Newer => ErrorKind::Newer,
                EngineKind::Configuration => ErrorKind::Configuration,
                EngineKind::Corrupt => ErrorKind::Store(JournalErrorKind::Corrupt),
                EngineKind::Defect => ErrorKind::Internal,
            },
            Problem::Journal(error) => store(error.kind()),
            Problem::Busy(_) => ErrorKind::Busy,
            Problem::Done(_) => ErrorKind::Done,
            Problem::NotDone(..) | Problem::Asks(..) | Problem::Suspended(_) => ErrorKind::NotDone,
            Problem::Configuration(_) => ErrorKind::Configuration,
            Problem::Broken(..) => ErrorKind::Internal,
        }
    }
}

impl From<thermidor_step_engine::Error> for Error {
    fn from(error: thermidor_step_engine::Error) -> Self {
        Problem::from(error).into()
    }
}

impl From<thermidor_step_engine::JournalError> for Error {
    fn from(error: thermidor_step_engine::JournalError) -> Self {
        Problem::from(error).into()
    }
}

//! How the command ends: the exit codes, and failures with the words that go to stderr.

use std::{fmt, io};

use thermidor_runs::ErrorKind as RunsErrorKind;
use thermidor_types::FailureKind;

/// The exit codes. Scripts branch on them: their meaning does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done = 0,
    /// It could not.
    Failed = 1,
    /// The command line asks for something that is not there or makes no sense.
    Usage = 2,
    /// A file, a folder or a setting is wrong.
    Configuration = 3,
    /// A key is missing or refused, or a provider does not answer as it should.
    Provider = 4,
    /// A limit was reached.
    Limit = 5,
    /// A person has to approve or answer something, and nobody can.
    Approval = 6,
    /// It was stopped.
    Stopped = 130,
}

/// Why a command ends early: an exit code, and what is said about it.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) exit: Exit,
    /// What was tried and what to do; empty when nothing is to be said.
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { exit, message: message.to_string() }
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn configuration(message: impl fmt::Display) -> Self {
        Self::new(Exit::Configuration, message)
    }

    /// An end about which nothing is said: nobody reads any more, or everything was said.
    pub(crate) fn quiet(exit: Exit) -> Self {
        Self::new(exit, "")
    }
}

/// Only of writing to stdout: whoever read it has gone, which is no fault of anybody's.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::quiet(Exit::Done);
        }
        Self::new(Exit::Failed, format!("cannot write to standard output: {error}"))
    }
}

impl From<thermidor_teams::Error> for Trouble {
    fn from(error: thermidor_teams::Error) -> Self {
        Self::configuration(error)
    }
}

impl From<thermidor_runs::Error> for Trouble {
    fn from(error: thermidor_runs::Error) -> Self {
        let exit = match error.kind() {
            RunsErrorKind::NotFound | RunsErrorKind::Busy | RunsErrorKind::Done => Exit::Usage,
            RunsErrorKind::Configuration | RunsErrorKind::Newer | RunsErrorKind::Store(_) => {
                Exit::Configuration
            }
            RunsErrorKind::NotDone | RunsErrorKind::Internal => Exit::Failed,
        };
        if error.kind() == RunsErrorKind::Busy {
            return Self::new(exit, format!("{error}; `thermidor runs tail` shows it"));
        }
        Self::new(exit, error)
    }
}

impl From<thermidor_step_engine::JournalError> for Trouble {
    fn from(error: thermidor_step_engine::JournalError) -> Self {
        Self::from(thermidor_runs::Error::from(error))
    }
}

/// The exit code for what made a run or a call fail.
pub(crate) fn of_failure(kind: FailureKind) -> Exit {
    match kind {
        FailureKind::InvalidRequest
        | FailureKind::Credentials
        | FailureKind::Quota
        | FailureKind::RateLimited
        | FailureKind::NotFound
        | FailureKind::ContextTooLong
        | FailureKind::ContentRefused
        | FailureKind::Overloaded
        | FailureKind::Server
        | FailureKind::Network
        | FailureKind::Timeout
        | FailureKind::Malformed => Exit::Provider,
        FailureKind::Configuration => Exit::Configuration,
        FailureKind::Cancelled | FailureKind::Unfit | FailureKind::Internal => Exit::Failed,
    }
}

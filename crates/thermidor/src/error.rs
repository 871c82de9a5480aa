use thermidor_types::FailureKind;

/// Why an agent or a team could not be put together, or did not come to an answer.
///
/// Errors of the crates underneath convert into it, so that `?` works on all of them.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Problem);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{0}")]
    Configuration(String),
    #[error(transparent)]
    Model(#[from] thermidor_model_runtime::Error),
    #[error(transparent)]
    Team(#[from] thermidor_teams::Error),
    #[error(transparent)]
    Run(#[from] thermidor_runs::Error),
}

/// Why, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was put together does not fit together.
    Configuration,
    /// A model cannot be found or called: no key, no such provider.
    Model(FailureKind),
    /// A team file cannot be read or used.
    Team(thermidor_teams::ErrorKind),
    /// A run could not be started, or did not come to its answer.
    Run(thermidor_runs::ErrorKind),
}

impl Error {
    pub(crate) fn configuration(problem: impl Into<String>) -> Self {
        Problem::Configuration(problem.into()).into()
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Problem::Configuration(_) => ErrorKind::Configuration,
            Problem::Model(error) => ErrorKind::Model(error.kind()),
            Problem::Team(error) => ErrorKind::Team(error.kind()),
            Problem::Run(error) => ErrorKind::Run(error.kind()),
        }
    }
}

impl From<thermidor_model_runtime::Error> for Error {
    fn from(error: thermidor_model_runtime::Error) -> Self {
        Problem::from(error).into()
    }
}

impl From<thermidor_teams::Error> for Error {
    fn from(error: thermidor_teams::Error) -> Self {
        Problem::from(error).into()
    }
}

impl From<thermidor_runs::Error> for Error {
    fn from(error: thermidor_runs::Error) -> Self {
        Problem::from(error).into()
    }
}

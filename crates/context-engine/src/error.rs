use std::{error, fmt};

use thermidor_types::{Failure, FailureKind, Text};

/// What went wrong while a prompt was built: a closed kind for programs, a fragment for people.
#[derive(Debug)]
pub struct Error {
    kind: FailureKind,
    message: Text,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind`; `message` is a fragment that reads well after "failed to build the prompt:".
    pub fn new(kind: FailureKind, message: impl Into<Text>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn caused_by(self, source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// The kind. The ones this crate makes itself: `ContextTooLong` (what may not be cut does not fit),
    /// `Configuration` (an unknown step, a template that cannot be read), `Timeout` (a required provider
    /// was late). Providers and processors of others may use any.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The same error, saying which step it came from.
    pub(crate) fn in_step(self, step: &str) -> Self {
        Self { message: format!("{step}: {}", self.message).into(), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn error::Error + 'static))
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self::new(error.kind, error.message.clone())
    }
}

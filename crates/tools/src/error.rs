use std::fmt;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a tool did not do what was asked, or could not be registered.
///
/// The message is written for the model that called: [`Error::words`] adds what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Source>,
}

/// Why a tool did not do what was asked, as a closed set to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The arguments do not fit: another call with better ones may succeed.
    Arguments,
    /// There is no tool of that name.
    UnknownTool,
    /// It was tried and did not work.
    Failed,
    /// It did not work now; the same call may succeed later.
    Retry,
    /// It cannot work in this run, whatever the arguments.
    Fatal,
    /// It did not finish within its deadline.
    Timeout,
    /// It was asked to stop.
    Cancelled,
    /// The tool cannot be registered as it is.
    Registration,
}

impl Error {
    /// An error of `kind`; `message` is a fragment read by the model, without secrets.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// A tool that was tried and did not work, because of `source`.
    pub fn failed(source: impl Into<Source>) -> Self {
        let source = source.into();
        Self::new(ErrorKind::Failed, source.to_string()).with_source(source)
    }

    /// Adds the error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The whole in words for the model: what happened, and what to do next.
    ///
    /// ```
    /// use thermidor_tools::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::Retry, "the index is being rebuilt");
    /// assert_eq!(
    ///     error.words(),
    ///     "The tool could not work now: the index is being rebuilt. The same call may succeed later."
    /// );
    /// ```
    pub fn words(&self) -> String {
        let (what, next) = match self.kind {
            ErrorKind::Arguments => {
                ("The arguments do not fit", "Call again with arguments that fit the tool's schema.")
            }
            ErrorKind::UnknownTool => ("The tool does not exist", "Call one of the tools you were given."),
            ErrorKind::Failed => ("The tool failed", ""),
            ErrorKind::Retry => ("The tool could not work now", "The same call may succeed later."),
            ErrorKind::Fatal => ("The tool cannot work here", "Do not call it again; go on without it."),
            ErrorKind::Timeout => ("The tool did not finish in time", "A smaller request may."),
            ErrorKind::Cancelled => ("The call was stopped", ""),
            ErrorKind::Registration => ("The tool cannot be registered", ""),
        };
        let message = self.message.trim_end_matches('.');
        let stop = if message.is_empty() { "" } else { ": " };
        let end = if message.ends_with(['?', '!']) { "" } else { "." };
        format!("{what}{stop}{message}{end} {next}").trim_end().to_owned()
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arguments => "arguments that do not fit",
            Self::UnknownTool => "unknown tool",
            Self::Failed => "failed",
            Self::Retry => "not possible now",
            Self::Fatal => "not possible",
            Self::Timeout => "timed out",
            Self::Cancelled => "cancelled",
            Self::Registration => "not registrable",
        })
    }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::new(ErrorKind::Failed, message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::new(ErrorKind::Failed, message)
    }
}

impl From<Source> for Error {
    fn from(source: Source) -> Self {
        Self::failed(source)
    }
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::failed(source)
    }
}

impl From<serde_json::Error> for Error {
    fn from(source: serde_json::Error) -> Self {
        Self::failed(source)
    }
}

use std::fmt;

use smol_str::SmolStr;
use thermidor_types::TreeId;

use crate::{JournalError, JournalErrorKind};

/// Why the engine could not go on. The journal is as it was after the last successful append.
///
/// What a journal says of its error stands in the text; its source is what lies under that.
#[derive(Debug)]
pub struct Error {
    tree: TreeId,
    problem: Problem,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {}: {}", self.tree, self.problem)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.problem)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("this program knows no runs of kind {0:?}")]
    UnknownKind(SmolStr),
    #[error("its configuration is unusable: {0}")]
    Configuration(String),
    #[error("record {version} of its journal cannot be read: {reason}")]
    Unreadable { version: u64, reason: String },
    #[error("record {version} of its journal was written by a newer version of this program")]
    Newer { version: u64 },
    #[error("its first command was refused: {0}")]
    Refused(String),
    #[error("a defect in the machine {kind:?}: {reason}")]
    Defect { kind: SmolStr, reason: String },
}

/// Why the engine could not go on, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The journal refused: the reason.
    Journal(JournalErrorKind),
    /// A kind of run or a version of a record that this program does not know: a newer one wrote it.
    Newer,
    /// The frozen configuration of a run, or its first command, cannot be used.
    Configuration,
    /// A record is damaged.
    Corrupt,
    /// A machine broke its contract.
    Defect,
}

impl Error {
    pub(crate) fn new(tree: TreeId, problem: impl Into<Problem>) -> Self {
        Self { tree, problem: problem.into() }
    }

    /// The tree that cannot go on.
    pub fn tree(&self) -> TreeId {
        self.tree
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &self.problem {
            Problem::Journal(error) if error.kind() == JournalErrorKind::Newer => ErrorKind::Newer,
            Problem::Journal(error) => ErrorKind::Journal(error.kind()),
            Problem::UnknownKind(_) | Problem::Newer { .. } => ErrorKind::Newer,
            Problem::Configuration(_) | Problem::Refused(_) => ErrorKind::Configuration,
            Problem::Unreadable { .. } => ErrorKind::Corrupt,
            Problem::Defect { .. } => ErrorKind::Defect,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, io};

    use super::*;

    /// Would fail if a person who prints an error with its sources read the same words twice.
    #[test]
    fn an_error_and_its_source_say_everything_once() {
        let journal = JournalError::new(JournalErrorKind::Full).with_source(io::Error::other("no space"));
        let error = Error::new(TreeId::from(thermidor_types::Uuid::nil()), journal);
        assert_eq!(error.to_string(), "run 00000000-0000-0000-0000-000000000000: the store is full");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("no space"));
    }
}

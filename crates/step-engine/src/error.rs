use smol_str::SmolStr;
use thermidor_types::TreeId;

use crate::{JournalError, JournalErrorKind};

/// Why the engine could not go on. The journal is as it was after the last successful append.
#[derive(Debug, thiserror::Error)]
#[error("run {tree}: {problem}")]
pub struct Error {
    tree: TreeId,
    #[source]
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{0}")]
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

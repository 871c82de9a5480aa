use thermidor_types::CallId;

use crate::{NodeId, ThreadId};

/// Why a command or a question makes no sense here. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Refusal);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no node `{0}`")]
    UnknownNode(NodeId),
    #[error("there is no thread `{0}`")]
    UnknownThread(ThreadId),
    #[error("there is no fold `{0}`")]
    UnknownFold(NodeId),
    #[error("the new node has an empty id")]
    EmptyId,
    #[error("the id `{0}` is taken: ids are never used twice")]
    IdTaken(NodeId),
    #[error("there is a thread `{0}` already: append to its last message")]
    ThreadTaken(ThreadId),
    #[error("node `{0}` was removed: choose one that is still there")]
    Removed(NodeId),
    #[error("a new node cannot be a tombstone: delete a node instead")]
    NewTombstone,
    #[error("node `{0}` is not a group: only groups have lanes")]
    NotAGroup(NodeId),
    #[error("`{0}` cannot be replaced by something of another role: append instead")]
    OtherRole(NodeId),
    #[error("`{0}` is not an answer: edit it instead")]
    NotAnAnswer(NodeId),
    #[error("`{last}` does not follow `{first}` on one path: name two nodes of one branch, the older first")]
    NotAPath { first: NodeId, last: NodeId },
    #[error("`{member}` belongs to fold `{fold}`, which would be cut in two: expand it first")]
    CutsFold { member: NodeId, fold: NodeId },
    #[error("node `{node}` has no open call `{call}`")]
    NoOpenCall { node: NodeId, call: CallId },
    #[error("`{0}` is so already")]
    NothingToDo(NodeId),
}

/// Why, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A node, thread or fold that is named is not there, or was removed.
    Unknown,
    /// A new id is empty or taken.
    BadId,
    /// What is named is of the wrong sort for the command.
    WrongSort,
    /// Two nodes are not on one path, the older first.
    NotAPath,
    /// A fold would be cut in two.
    CutsFold,
    /// The call is not there or has its result.
    NoOpenCall,
    /// The command would change nothing.
    NothingToDo,
}

impl Error {
    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Refusal::UnknownNode(_)
            | Refusal::UnknownThread(_)
            | Refusal::UnknownFold(_)
            | Refusal::Removed(_) => ErrorKind::Unknown,
            Refusal::EmptyId | Refusal::IdTaken(_) | Refusal::ThreadTaken(_) => ErrorKind::BadId,
            Refusal::NewTombstone
            | Refusal::NotAGroup(_)
            | Refusal::OtherRole(_)
            | Refusal::NotAnAnswer(_) => ErrorKind::WrongSort,
            Refusal::NotAPath { .. } => ErrorKind::NotAPath,
            Refusal::CutsFold { .. } => ErrorKind::CutsFold,
            Refusal::NoOpenCall { .. } => ErrorKind::NoOpenCall,
            Refusal::NothingToDo(_) => ErrorKind::NothingToDo,
        }
    }
}

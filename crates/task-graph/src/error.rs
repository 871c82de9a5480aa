use smol_str::SmolStr;

use crate::NodeState;

/// Why a graph cannot be, or why a change of progress makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Problem);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("node {0} has an empty id")]
    EmptyId(usize),
    #[error("two nodes are called {0:?}")]
    Duplicate(SmolStr),
    #[error("{node:?} needs {need:?}, which is no node")]
    UnknownNeed { node: SmolStr, need: SmolStr },
    #[error("nodes need each other in a circle: {}", .0.join(" → "))]
    Cycle(Vec<SmolStr>),
    #[error("there is no node {0:?}")]
    UnknownNode(SmolStr),
    #[error("{node:?} cannot start before {need:?} is done")]
    NotReady { node: SmolStr, need: SmolStr },
    #[error("{node:?} is {is} and cannot become {wanted}")]
    WrongState { node: SmolStr, is: NodeState, wanted: NodeState },
}

/// Why, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A node's id is empty.
    EmptyId,
    /// Two nodes have one id.
    Duplicate,
    /// A node needs one that is not there.
    UnknownNeed,
    /// Nodes need each other in a circle.
    Cycle,
    /// The node asked for is not there.
    UnknownNode,
    /// A node was started before what it needs was done.
    NotReady,
    /// A node cannot go from its state to the one wanted.
    WrongState,
}

impl Error {
    /// The closed kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Problem::EmptyId(_) => ErrorKind::EmptyId,
            Problem::Duplicate(_) => ErrorKind::Duplicate,
            Problem::UnknownNeed { .. } => ErrorKind::UnknownNeed,
            Problem::Cycle(_) => ErrorKind::Cycle,
            Problem::UnknownNode(_) => ErrorKind::UnknownNode,
            Problem::NotReady { .. } => ErrorKind::NotReady,
            Problem::WrongState { .. } => ErrorKind::WrongState,
        }
    }

    /// The circle, when there is one: each node needs the next, the last is the first again.
    pub fn cycle(&self) -> Option<&[SmolStr]> {
        match &self.0 {
            Problem::Cycle(path) => Some(path),
            _ => None,
        }
    }
}

use thiserror::Error;

use crate::{NodeId, Row, ThreadId};

/// What is wrong with one row. Everything else is read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("row {row} (`{id}`): {problem}")]
pub struct Fault {
    /// The place of the row in the input, counted from 0.
    pub row: usize,
    /// The id of the row.
    pub id: NodeId,
    /// What is wrong.
    pub problem: Problem,
    /// The row itself, when the conversation could not take it. Rows without this were taken.
    pub left_out: Option<Row>,
}

/// The ways in which a row does not fit, and what was done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The id is empty. Left out.
    #[error("the id is empty; the row was left out")]
    EmptyId,
    /// An earlier row has the id. Left out.
    #[error("an earlier row has this id; the row was left out")]
    DuplicateId,
    /// The parent is not among the rows. Kept as a stray beginning.
    #[error("its parent {parent} is not there; it was kept as a stray beginning")]
    MissingParent {
        /// The parent it names.
        parent: NodeId,
    },
    /// The row is its own ancestor. Kept as a stray beginning.
    #[error("it is its own ancestor through {parent}; it was kept as a stray beginning")]
    Cycle {
        /// The parent it names.
        parent: NodeId,
    },
    /// The order says that it is older than its parent. Taken after its parent.
    #[error("it claims to be older than its parent {parent}; it was taken after it")]
    BeforeParent {
        /// The parent it names.
        parent: NodeId,
    },
    /// A lane hangs on something that is not a group. Kept as a stray branch.
    #[error("it begins a lane, but {parent} is not a group; it was kept as a stray branch")]
    LaneOutsideGroup {
        /// The parent it names.
        parent: NodeId,
    },
    /// The thread began elsewhere before. Kept where it is; the thread's name leads to the first.
    #[error("thread {thread} began at another message; its name leads there")]
    ThreadElsewhere {
        /// The thread it names.
        thread: ThreadId,
    },
    /// Another row of the same branch point is selected too. The later one holds.
    #[error("a second alternative is selected; this one holds")]
    SecondSelection,
    /// The members of a fold do not follow one another. Left out.
    #[error("its member {member} does not come directly after the one before; the fold was left out")]
    BrokenFold {
        /// The first member that does not fit.
        member: NodeId,
    },
    /// A fold without members. Left out.
    #[error("it has no members; the fold was left out")]
    EmptyFold,
    /// A member belongs to an earlier fold. Left out.
    #[error("its member {member} belongs to fold {fold}; the fold was left out")]
    OverlappingFold {
        /// The member.
        member: NodeId,
        /// The earlier fold.
        fold: NodeId,
    },
}

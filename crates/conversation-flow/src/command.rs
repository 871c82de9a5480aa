use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{CallId, Message, ToolResult};

use crate::{Body, FoldRow, NodeId, NodeRow, Row, ThreadId};

/// What somebody wants done. [`decide`](crate::Conversation::decide) turns it into an [`Event`] or refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A message or a group goes on after a node, or begins the conversation.
    Append {
        /// The new node.
        id: NodeId,
        /// What it comes after.
        after: Option<NodeId>,
        /// What it holds.
        body: Body,
    },
    /// A lane of a group gets its first message.
    AddLane {
        /// The new node.
        id: NodeId,
        /// The group.
        group: NodeId,
        /// The name of the lane. A lane that exists gets an alternative beginning.
        lane: SmolStr,
        /// Its first message.
        message: Message,
    },
    /// A thread is opened about a message.
    OpenThread {
        /// The new node.
        id: NodeId,
        /// What the thread is about.
        on: NodeId,
        /// The new thread.
        thread: ThreadId,
        /// Its first message.
        message: Message,
    },
    /// A message is written anew: a branch beside the old one, selected.
    Edit {
        /// The new node.
        id: NodeId,
        /// The message that was edited.
        of: NodeId,
        /// The new words, of the same role.
        message: Message,
    },
    /// An answer is given anew: a branch beside the old one, selected.
    Regenerate {
        /// The new node.
        id: NodeId,
        /// The answer or group to be replaced.
        of: NodeId,
        /// The new answer or group.
        body: Body,
    },
    /// An open tool call gets its result.
    AnswerCall {
        /// The message with the call.
        node: NodeId,
        /// The call.
        call: CallId,
        /// Its result.
        result: ToolResult,
    },
    /// A node is put on the active path and held there: it and everything above it is selected, up to the
    /// beginning of its thread.
    Select {
        /// The node.
        node: NodeId,
    },
    /// A node is removed.
    Delete {
        /// The node.
        node: NodeId,
        /// What becomes of what comes after it.
        after: After,
    },
    /// A node stays visible to the model when its surroundings are compressed.
    Pin {
        /// The node.
        node: NodeId,
    },
    /// A pin is taken out.
    Unpin {
        /// The node.
        node: NodeId,
    },
    /// A stretch of a path is compressed. Folds inside it are absorbed.
    Compress {
        /// The new fold.
        id: NodeId,
        /// The oldest node of the stretch.
        first: NodeId,
        /// The newest node of the stretch.
        last: NodeId,
        /// What the model reads instead.
        summary: Message,
    },
    /// A fold is undone.
    Expand {
        /// The fold.
        fold: NodeId,
    },
}

/// What becomes of what comes after a removed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It stays in its place, as do threads. The lanes of a removed group go with it.
    Keep,
    /// It is removed too: every branch, lane and thread below.
    Remove,
}

/// What happened. Plain data; [`apply`](crate::Conversation::apply) folds a list of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A conversation began with rows from elsewhere: a fork.
    Begun {
        /// The rows.
        rows: Vec<Row>,
    },
    /// A node was appended.
    Appended {
        /// The node.
        row: NodeRow,
    },
    /// A lane got its first message.
    LaneAdded {
        /// The node.
        row: NodeRow,
    },
    /// A thread was opened.
    ThreadOpened {
        /// The node.
        row: NodeRow,
    },
    /// A message was written anew.
    Edited {
        /// The old node.
        of: NodeId,
        /// The new node.
        row: NodeRow,
    },
    /// An answer was given anew.
    Regenerated {
        /// The old node.
        of: NodeId,
        /// The new node.
        row: NodeRow,
    },
    /// An open call got its result.
    CallAnswered {
        /// The message with the call.
        node: NodeId,
        /// The call.
        call: CallId,
        /// Its result.
        result: ToolResult,
    },
    /// Nodes were chosen, each among its alternatives.
    BranchSelected {
        /// The nodes.
        nodes: Vec<NodeId>,
    },
    /// Nodes were removed.
    Deleted {
        /// The nodes.
        nodes: Vec<NodeId>,
        /// Folds that stood for nothing else.
        folds: Vec<NodeId>,
    },
    /// A node was pinned.
    Pinned {
        /// The node.
        node: NodeId,
    },
    /// A pin was taken out.
    Unpinned {
        /// The node.
        node: NodeId,
    },
    /// A stretch was compressed.
    Compressed {
        /// The fold.
        fold: FoldRow,
        /// Older folds that it takes the place of.
        absorbed: Vec<NodeId>,
    },
    /// A fold was undone.
    Expanded {
        /// The fold.
        fold: NodeId,
    },
}

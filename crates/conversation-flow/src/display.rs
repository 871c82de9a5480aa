use std::{collections::HashMap, sync::Arc};

use serde::Serialize;
use smol_str::SmolStr;
use thermidor_types::{Exchange, MemberId, Message};

use crate::{GroupKind, NodeId, ThreadId};

/// What a person sees of a scope: one flat list in reading order. What stands inside a lane or a fold says so
/// in [`Item::within`], so that depth costs no recursion here, in JSON or in a user interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Display {
    /// The items.
    pub items: Vec<Item>,
    #[serde(skip)]
    pub(crate) by_node: HashMap<NodeId, usize>,
}

impl Display {
    /// The item that shows a node.
    pub fn item_of(&self, node: &NodeId) -> Option<&Item> {
        self.by_node.get(node).map(|&at| &self.items[at])
    }

    /// The items that stand directly inside another, or at the top for `None`. Linear.
    pub fn inside<'a>(&'a self, item: Option<&'a NodeId>) -> impl Iterator<Item = &'a Item> {
        self.items.iter().filter(move |one| one.within.as_ref().map(|within| &within.item) == item)
    }
}

/// One thing that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Its first node, or the fold. Unique in its list.
    pub id: NodeId,
    /// What it stands inside of; `None` at the top.
    pub within: Option<Within>,
    /// What it is.
    pub shown: Shown,
}

impl Item {
    /// The nodes it shows. A fold's nodes are shown by the items inside it.
    pub fn nodes(&self) -> Vec<&NodeId> {
        match &self.shown {
            Shown::System(step) | Shown::User(step) => vec![&step.mark.node],
            Shown::Answer { steps, .. } => steps.iter().map(|step| &step.mark.node).collect(),
            Shown::Group { mark, .. } | Shown::Removed(mark) => vec![&mark.node],
            Shown::Compressed { .. } => Vec::new(),
        }
    }
}

/// The surroundings of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Within {
    /// The group or fold.
    pub item: NodeId,
    /// The lane, when it is a group.
    pub lane: Option<SmolStr>,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Shown {
    /// An operator's message.
    System(Step),
    /// A person's message, or an instruction.
    User(Step),
    /// An answer: the steps one member took in a row, tool calls and results among them.
    Answer {
        /// Who answered.
        member: Option<MemberId>,
        /// The steps, oldest first.
        steps: Vec<Step>,
    },
    /// Members side by side, a council, or tasks. The items of its lanes follow.
    Group {
        /// Which of these.
        kind: GroupKind,
        /// The group's own node.
        mark: Mark,
        /// The lanes in the order of their creation.
        lanes: Vec<Lane>,
    },
    /// A compressed stretch, to be folded open: the items inside follow.
    Compressed {
        /// What the model reads instead.
        summary: Arc<Message>,
        /// The nodes of the stretch.
        nodes: Vec<NodeId>,
    },
    /// A tombstone with something after it.
    Removed(Mark),
}

impl Shown {
    /// The tool calls of an answer with their results, each with the node it is in.
    pub fn exchanges(&self) -> impl Iterator<Item = (&NodeId, &Exchange)> {
        let steps: &[Step] = match self {
            Self::Answer { steps, .. } => steps,
            Self::System(_)
            | Self::User(_)
            | Self::Group { .. }
            | Self::Compressed { .. }
            | Self::Removed(_) => &[],
        };
        steps.iter().flat_map(|step| match &*step.message {
            Message::Assistant(message) => {
                message.exchanges().map(|exchange| (&step.mark.node, exchange)).collect()
            }
            Message::System(_) | Message::User(_) => Vec::new(),
        })
    }
}

/// One message that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its node.
    pub mark: Mark,
    /// The message as it is stored.
    pub message: Arc<Message>,
}

/// What is shown beside a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The node.
    pub node: NodeId,
    /// Its place among its alternatives.
    pub branch: Branch,
    /// The threads about it, in the order of their opening.
    pub threads: Vec<ThreadMark>,
    /// Whether it is pinned.
    pub pinned: bool,
}

/// The data of a branch switcher: `n` of `of`, counted from 1. It is worth showing when `of` is more than 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The place of this one; 0 when nothing of it is left.
    pub n: usize,
    /// How many there are.
    pub of: usize,
    /// The one before, to be selected.
    pub previous: Option<NodeId>,
    /// The one after, to be selected.
    pub next: Option<NodeId>,
}

/// A thread about a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadMark {
    /// The thread.
    pub id: ThreadId,
    /// The messages on its active path.
    pub messages: usize,
}

/// A lane of a group: a column, a vote or a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Its name.
    pub name: SmolStr,
    /// Who answered in it last.
    pub member: Option<MemberId>,
    /// Its first node: the instruction of a task.
    pub first: Option<NodeId>,
    /// Its last answer: the member's word, the vote, the result.
    pub answer: Option<NodeId>,
    /// The messages on its active path: the thread of a task.
    pub messages: usize,
}

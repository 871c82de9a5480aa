use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;
use thermidor_types::Message;

use crate::{Body, FoldRow, Link, NodeId, NodeRow, Row, ThreadId, Version};

/// A stored conversation: a tree of nodes in the order of their creation.
///
/// Nodes with the same parent and the same [`Link`] are alternatives at one branch point. The active one is
/// the selected one, while it or something after it is there; else the newest; strays (rows whose parent is
/// missing) come last. Cloning copies the tree, not the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    pub(crate) nodes: Vec<Node>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) by_id: HashMap<NodeId, usize>,
    pub(crate) by_place: HashMap<(Option<usize>, Link), usize>,
    pub(crate) threads: IndexMap<ThreadId, usize>,
    pub(crate) folds: IndexMap<NodeId, Fold>,
    pub(crate) next_order: u64,
}

/// One node. A parent always stands before its children in the list of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) parent: Option<usize>,
    pub(crate) slot: usize,
    pub(crate) order: u64,
    pub(crate) body: Body,
    pub(crate) pinned: bool,
    /// For strays: what the row said of its place.
    pub(crate) claim: Option<(Option<NodeId>, Link)>,
    pub(crate) fold: Option<NodeId>,
    /// The number of alternatives after this node that are alive.
    pub(crate) living: usize,
    pub(crate) next: Option<usize>,
    /// Lanes and threads in the order of their creation.
    pub(crate) sides: Vec<usize>,
}

/// One branch point: the alternatives at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) parent: Option<usize>,
    pub(crate) link: Link,
    pub(crate) members: Vec<usize>,
    pub(crate) selected: Option<usize>,
}

/// A compressed stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    pub(crate) members: Vec<usize>,
    pub(crate) summary: Arc<Message>,
}

impl Conversation {
    /// A conversation in which nothing was said.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of nodes, tombstones included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a node holds.
    pub fn body(&self, id: &NodeId) -> Option<&Body> {
        self.by_id.get(id).map(|&node| &self.nodes[node].body)
    }

    /// The parent of a node.
    pub fn parent(&self, id: &NodeId) -> Option<&NodeId> {
        let parent = self.nodes[*self.by_id.get(id)?].parent?;
        Some(&self.nodes[parent].id)
    }

    /// The alternatives at the branch point of a node, in the order of their creation, the node itself included.
    /// Those of which nothing is left are left out.
    pub fn alternatives(&self, id: &NodeId) -> Vec<&NodeId> {
        let Some(&node) = self.by_id.get(id) else { return Vec::new() };
        let members = &self.slots[self.nodes[node].slot].members;
        members.iter().filter(|&&one| self.is_alive(one)).map(|&one| &self.nodes[one].id).collect()
    }

    /// The ids of all nodes, parents before their children.
    pub fn ids(&self) -> impl Iterator<Item = &NodeId> {
        self.nodes.iter().map(|node| &node.id)
    }

    /// The threads in the order of their opening, with the message each is about.
    pub fn threads(&self) -> impl Iterator<Item = (&ThreadId, Option<&NodeId>)> {
        self.threads
            .iter()
            .map(|(thread, &slot)| (thread, self.slots[slot].parent.map(|parent| &self.nodes[parent].id)))
    }

    /// The rows to store. Reading them gives an equal conversation. Linear.
    pub fn rows(&self) -> Vec<Row> {
        let nodes = (0..self.nodes.len()).map(|node| Row::Node(self.row(node)));
        let folds = self.folds.iter().map(|(id, fold)| self.fold_row(id, fold));
        nodes.chain(folds).collect()
    }

    pub(crate) fn fold_row(&self, id: &NodeId, fold: &Fold) -> Row {
        Row::Fold(FoldRow {
            version: Version::default(),
            id: id.clone(),
            members: self.names(&fold.members),
            summary: fold.summary.clone(),
        })
    }

    pub(crate) fn row(&self, index: usize) -> NodeRow {
        let node = &self.nodes[index];
        let slot = &self.slots[node.slot];
        let (parent, link) = node
            .claim
            .clone()
            .unwrap_or_else(|| (node.parent.map(|parent| self.nodes[parent].id.clone()), slot.link.clone()));
        NodeRow {
            version: Version::default(),
            id: node.id.clone(),
            parent,
            link,
            order: node.order,
            body: node.body.clone(),
            pinned: node.pinned,
            selected: slot.selected == Some(index),
        }
    }
}

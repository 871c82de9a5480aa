//! How nodes are added and removed, and which of several alternatives is active.

use crate::{
    Body, Conversation, FoldRow, Link, NodeRow,
    conversation::{Fold, Node, Slot},
};

/// Where a row ends up.
pub(crate) enum Place {
    /// Where it says.
    Claimed(Option<usize>),
    /// Elsewhere, since it says nonsense: never active while there is another.
    Stray(Option<usize>, Link),
}

impl Conversation {
    /// Adds a node whose id is new. Amortised O(1) unless it revives tombstones.
    pub(crate) fn insert(&mut self, row: NodeRow, place: Place) -> usize {
        let index = self.nodes.len();
        let (parent, link, claim) = match place {
            Place::Claimed(parent) => (parent, row.link, None),
            Place::Stray(parent, link) => (parent, link, Some((row.parent, row.link))),
        };
        let slot = self.slot_for(parent, link);
        self.slots[slot].members.push(index);
        if row.selected {
            self.slots[slot].selected = Some(index);
        }
        // Orders never fall, so that rows are read again in the order of the nodes.
        let order = self.nodes.last().map_or(row.order, |last| last.order.max(row.order));
        self.next_order = order.saturating_add(1);
        self.by_id.insert(row.id.clone(), index);
        self.nodes.push(Node {
            id: row.id,
            parent,
            slot,
            order,
            body: row.body,
            pinned: row.pinned,
            claim,
            fold: None,
            living: 0,
            next: None,
            sides: Vec::new(),
        });
        if self.is_alive(index) {
            self.rise(index);
        }
        index
    }

    fn slot_for(&mut self, parent: Option<usize>, link: Link) -> usize {
        let key = (parent, link);
        if let Some(&slot) = self.by_place.get(&key) {
            return slot;
        }
        let slot = self.slots.len();
        self.slots.push(Slot { parent, link: key.1.clone(), members: Vec::new(), selected: None });
        match (&key.1, parent) {
            (Link::Next, Some(parent)) => self.nodes[parent].next = Some(slot),
            (Link::Lane(_) | Link::Thread(_), Some(parent)) => self.nodes[parent].sides.push(slot),
            (_, None) => {}
        }
        if let Link::Thread(thread) = &key.1 {
            self.threads.entry(thread.clone()).or_insert(slot);
        }
        self.by_place.insert(key, slot);
        slot
    }

    /// Leaves a tombstone. Selections are kept: they hold while something after the tombstone is there.
    pub(crate) fn bury(&mut self, index: usize) {
        let was = self.is_alive(index);
        self.nodes[index].body = Body::Removed;
        self.nodes[index].pinned = false;
        if self.nodes[index].parent.is_some() {
            // A tombstone claims no lane: its place is where it was put.
            self.nodes[index].claim = None;
        }
        if was && !self.is_alive(index) {
            self.sink(index);
        }
    }

    /// Whether the node is there, or something that comes after it.
    pub(crate) fn is_alive(&self, index: usize) -> bool {
        !self.is_removed(index) || self.nodes[index].living > 0
    }

    pub(crate) fn is_removed(&self, index: usize) -> bool {
        matches!(self.nodes[index].body, Body::Removed)
    }

    pub(crate) fn link(&self, index: usize) -> &Link {
        &self.slots[self.nodes[index].slot].link
    }

    fn rise(&mut self, mut index: usize) {
        while let (Link::Next, Some(parent)) = (self.link(index), self.nodes[index].parent) {
            let was = self.is_alive(parent);
            self.nodes[parent].living += 1;
            if was {
                break;
            }
            index = parent;
        }
    }

    fn sink(&mut self, mut index: usize) {
        while let (Link::Next, Some(parent)) = (self.link(index), self.nodes[index].parent) {
            self.nodes[parent].living -= 1;
            if self.is_alive(parent) {
                break;
            }
            index = parent;
        }
    }

    /// The active alternative. Linear in the number of alternatives.
    pub(crate) fn active(&self, slot: usize) -> Option<usize> {
        let slot = &self.slots[slot];
        if let Some(selected) = slot.selected.filter(|&node| self.is_alive(node)) {
            return Some(selected);
        }
        let newest = |stray: bool| {
            let fits = |&&node: &&usize| self.is_alive(node) && self.nodes[node].claim.is_some() == stray;
            slot.members.iter().rev().find(fits).copied()
        };
        newest(false).or_else(|| newest(true))
    }

    /// Adds a fold that was checked.
    pub(crate) fn fold(&mut self, row: FoldRow, members: Vec<usize>) {
        for &member in &members {
            self.nodes[member].fold = Some(row.id.clone());
        }
        self.folds.insert(row.id, Fold { members, summary: row.summary });
    }

    /// Takes a fold away.
    pub(crate) fn unfold(&mut self, id: &crate::NodeId) {
        if let Some(fold) = self.folds.swap_remove(id) {
            for member in fold.members {
                self.nodes[member].fold = None;
            }
        }
    }
}

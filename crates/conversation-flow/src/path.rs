//! Paths through the tree, and two of them compared.

use crate::{Conversation, Error, Link, NodeId, ThreadId, error::Refusal};

/// Which part of a conversation is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The active path from the beginning.
    #[default]
    Main,
    /// A thread: its own active path, and for the model before it everything up to the message it is about.
    Thread(ThreadId),
    /// From the beginning to this node, whether or not it is active.
    UpTo(NodeId),
}

/// Where two branches part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The last node that both have, if they have one.
    pub common: Option<NodeId>,
    /// What the first has after it, oldest first.
    pub left: Vec<NodeId>,
    /// What the second has after it, oldest first.
    pub right: Vec<NodeId>,
}

impl Conversation {
    /// The nodes of a scope in order, without the lanes of groups and what a thread is about. Tombstones
    /// are among them where something comes after them.
    ///
    /// # Errors
    /// When the thread or node is not there.
    pub fn path(&self, scope: &Scope) -> Result<Vec<NodeId>, Error> {
        Ok(self.names(&self.own_path(scope)?))
    }

    /// The node after which the next message of a scope belongs; `None` when the conversation has not begun.
    ///
    /// # Errors
    /// When the thread or node is not there.
    pub fn tip(&self, scope: &Scope) -> Result<Option<NodeId>, Error> {
        Ok(self.own_path(scope)?.last().map(|&node| self.nodes[node].id.clone()))
    }

    /// Compares the paths to two nodes. Linear in their length.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn compare(&self, left: &NodeId, right: &NodeId) -> Result<Comparison, Error> {
        let (left, right) = (self.up(self.known(left)?), self.up(self.known(right)?));
        let shared = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
        Ok(Comparison {
            common: shared.checked_sub(1).map(|last| self.nodes[left[last]].id.clone()),
            left: self.names(&left[shared..]),
            right: self.names(&right[shared..]),
        })
    }

    pub(crate) fn own_path(&self, scope: &Scope) -> Result<Vec<usize>, Error> {
        match scope {
            Scope::Main => Ok(self.down(self.by_place.get(&(None, Link::Next)).copied())),
            Scope::Thread(thread) => Ok(self.down(Some(self.thread_slot(thread)?))),
            Scope::UpTo(id) => Ok(self.up(self.known(id)?)),
        }
    }

    /// What the model reads: for a thread with what it is about.
    pub(crate) fn whole_path(&self, scope: &Scope) -> Result<Vec<usize>, Error> {
        let own = self.own_path(scope)?;
        let Scope::Thread(thread) = scope else { return Ok(own) };
        let anchor = self.slots[self.thread_slot(thread)?].parent;
        let mut path = anchor.map(|anchor| self.up(anchor)).unwrap_or_default();
        path.extend(own);
        Ok(path)
    }

    fn thread_slot(&self, thread: &ThreadId) -> Result<usize, Error> {
        self.threads.get(thread).copied().ok_or_else(|| Refusal::UnknownThread(thread.clone()).into())
    }

    /// The active path from a branch point on.
    pub(crate) fn down(&self, mut slot: Option<usize>) -> Vec<usize> {
        let mut path = Vec::new();
        while let Some(node) = slot.and_then(|slot| self.active(slot)) {
            path.push(node);
            slot = self.nodes[node].next;
        }
        path
    }

    /// The ancestors, oldest first, and the node itself.
    pub(crate) fn up(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(Some(node), |&node| self.nodes[node].parent).collect();
        path.reverse();
        path
    }
}

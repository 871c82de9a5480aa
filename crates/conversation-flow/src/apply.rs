//! From an event to the next state. Total: what does not fit the state changes nothing.

use std::sync::Arc;

use thermidor_types::{CallId, Message, ToolResult};

use crate::{Body, Command, Conversation, Error, Event, Link, NodeId, NodeRow, tree::Place};

impl Conversation {
    /// Decides and applies. The event is what to store.
    ///
    /// # Errors
    /// As [`decide`](Self::decide); nothing has changed then.
    pub fn execute(&mut self, command: Command) -> Result<Event, Error> {
        let event = self.decide(command)?;
        self.apply(&event);
        Ok(event)
    }

    /// Takes an event that happened. Folding a conversation's events gives an equal conversation.
    ///
    /// An event that does not fit (of another conversation, or a second time) changes nothing where it does
    /// not fit. O(1) for what adds one node.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Begun { rows } => {
                if self.is_empty() {
                    *self = Self::from_rows(rows.iter().cloned()).0;
                }
            }
            Event::Appended { row }
            | Event::LaneAdded { row }
            | Event::ThreadOpened { row }
            | Event::Edited { row, .. }
            | Event::Regenerated { row, .. } => self.adopt(row),
            Event::CallAnswered { node, call, result } => self.answer_call(node, call, result),
            Event::BranchSelected { nodes } => {
                for node in self.indices(nodes) {
                    let slot = self.nodes[node].slot;
                    self.slots[slot].selected = Some(node);
                }
            }
            Event::Deleted { nodes, folds } => {
                for fold in folds {
                    self.unfold(fold);
                }
                for node in self.indices(nodes).into_iter().rev() {
                    self.bury_lanes(node);
                    self.bury(node);
                }
            }
            Event::Pinned { node } => self.set_pinned(node, true),
            Event::Unpinned { node } => self.set_pinned(node, false),
            Event::Compressed { fold, absorbed } => {
                for old in absorbed {
                    self.unfold(old);
                }
                if !self.by_id.contains_key(&fold.id) && !self.folds.contains_key(&fold.id) {
                    // A fold that does not fit is no fold: the messages are shown as they are.
                    let _ = self.adopt_fold(fold);
                }
            }
            Event::Expanded { fold } => self.unfold(fold),
        }
    }

    fn adopt(&mut self, row: &NodeRow) {
        let known = self.by_id.contains_key(&row.id) || self.folds.contains_key(&row.id);
        let parent = row.parent.as_ref().map(|parent| self.by_id.get(parent).copied());
        let place = match parent {
            Some(None) => return,
            Some(Some(parent)) => Some(parent),
            None => None,
        };
        let fits = match (&row.link, place) {
            (Link::Next, _) | (Link::Thread(_), Some(_)) => true,
            (Link::Lane(_), Some(parent)) => self.takes_lane(parent, &row.body),
            // A new beginning of a thread whose anchor is missing.
            (Link::Thread(_), None) => self.by_place.contains_key(&(None, row.link.clone())),
            (Link::Lane(_), None) => false,
        };
        if fits && !known && !row.id.as_str().is_empty() {
            let place = match (place, &row.link) {
                (None, Link::Thread(_)) => Place::Stray(None, row.link.clone()),
                (place, _) => Place::Claimed(place),
            };
            self.insert(row.clone(), place);
        }
    }

    fn answer_call(&mut self, node: &NodeId, call: &CallId, result: &ToolResult) {
        let Some(&node) = self.by_id.get(node) else { return };
        if let Body::Message(message) = &mut self.nodes[node].body
            && let Message::Assistant(message) = Arc::make_mut(message)
            && let Some(open) =
                message.exchanges_mut().find(|one| one.call.id == *call && one.result.is_none())
        {
            open.result = Some(result.clone());
        }
    }

    /// A group's lanes go with it, also those that the event did not know of.
    fn bury_lanes(&mut self, group: usize) {
        if !matches!(self.nodes[group].body, Body::Group(_)) {
            return;
        }
        let mut slots: Vec<usize> = self.lanes(group).collect();
        let mut doomed = Vec::new();
        while let Some(slot) = slots.pop() {
            for &node in self.slots[slot].members.iter().filter(|&&node| self.is_alive(node)) {
                doomed.push(node);
                slots.extend(self.nodes[node].next);
                slots.extend(self.lanes(node));
            }
        }
        for node in doomed.into_iter().rev() {
            self.bury(node);
        }
    }

    fn set_pinned(&mut self, id: &NodeId, pinned: bool) {
        if let Some(&node) = self.by_id.get(id)
            && !self.is_removed(node)
        {
            self.nodes[node].pinned = pinned;
        }
    }

    fn indices(&self, ids: &[NodeId]) -> Vec<usize> {
        ids.iter().filter_map(|id| self.by_id.get(id).copied()).collect()
    }
}

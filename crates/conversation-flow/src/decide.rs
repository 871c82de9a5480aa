//! From a command to an event, or a refusal. Nothing changes here.

use std::collections::{HashMap, HashSet};

use thermidor_types::{CallId, Message};

use crate::{
    After, Body, Command, Conversation, Error, Event, FoldRow, Link, NodeId, NodeRow, ThreadId, Version,
    error::Refusal,
};

impl Conversation {
    /// Says what a command would do, without doing it.
    ///
    /// # Errors
    /// By [`ErrorKind`](crate::ErrorKind), when the command names what is not there, uses an id twice, or
    /// would cut a fold in two. The text says what to do instead.
    pub fn decide(&self, command: Command) -> Result<Event, Error> {
        Ok(match command {
            Command::Append { id, after, body } => {
                after.as_ref().map(|after| self.present(after)).transpose()?;
                Event::Appended { row: self.new_row(id, after, Link::Next, body)? }
            }
            Command::AddLane { id, group, lane, message } => {
                if !matches!(self.nodes[self.present(&group)?].body, Body::Group(_)) {
                    return Err(Refusal::NotAGroup(group).into());
                }
                Event::LaneAdded { row: self.new_row(id, Some(group), Link::Lane(lane), message.into())? }
            }
            Command::OpenThread { id, on, thread, message } => {
                self.present(&on)?;
                self.check_thread(&thread)?;
                Event::ThreadOpened { row: self.new_row(id, Some(on), Link::Thread(thread), message.into())? }
            }
            Command::Edit { id, of, message } => {
                let node = self.present(&of)?;
                match &self.nodes[node].body {
                    Body::Message(old) if old.role() == message.role() => {}
                    Body::Message(_) | Body::Group(_) | Body::Removed => {
                        return Err(Refusal::OtherRole(of).into());
                    }
                }
                let row = self.new_alternative(id, node, message.into())?;
                Event::Edited { of, row }
            }
            Command::Regenerate { id, of, body } => {
                let node = self.present(&of)?;
                if !is_answer(&self.nodes[node].body) {
                    return Err(Refusal::NotAnAnswer(of).into());
                }
                if !is_answer(&body) {
                    return Err(Refusal::OtherRole(of).into());
                }
                let row = self.new_alternative(id, node, body)?;
                Event::Regenerated { of, row }
            }
            Command::AnswerCall { node, call, result } => {
                self.check_open_call(&node, &call)?;
                Event::CallAnswered { node, call, result }
            }
            Command::Select { node } => self.select(&node)?,
            Command::Delete { node, after } => self.delete(&node, after)?,
            Command::Pin { node } if self.nodes[self.present(&node)?].pinned => {
                return Err(Refusal::NothingToDo(node).into());
            }
            Command::Pin { node } => Event::Pinned { node },
            Command::Unpin { node } if !self.nodes[self.present(&node)?].pinned => {
                return Err(Refusal::NothingToDo(node).into());
            }
            Command::Unpin { node } => Event::Unpinned { node },
            Command::Compress { id, first, last, summary } => self.compress(id, first, last, summary)?,
            Command::Expand { fold } if !self.folds.contains_key(&fold) => {
                return Err(Refusal::UnknownFold(fold).into());
            }
            Command::Expand { fold } => Event::Expanded { fold },
        })
    }

    pub(crate) fn known(&self, id: &NodeId) -> Result<usize, Error> {
        self.by_id.get(id).copied().ok_or_else(|| Refusal::UnknownNode(id.clone()).into())
    }

    fn present(&self, id: &NodeId) -> Result<usize, Error> {
        let node = self.known(id)?;
        if self.is_removed(node) { Err(Refusal::Removed(id.clone()).into()) } else { Ok(node) }
    }

    fn check_id(&self, id: &NodeId) -> Result<(), Error> {
        if id.as_str().is_empty() {
            return Err(Refusal::EmptyId.into());
        }
        if self.by_id.contains_key(id) || self.folds.contains_key(id) {
            return Err(Refusal::IdTaken(id.clone()).into());
        }
        Ok(())
    }

    fn check_thread(&self, thread: &ThreadId) -> Result<(), Error> {
        if thread.as_str().is_empty() {
            return Err(Refusal::EmptyId.into());
        }
        if self.threads.contains_key(thread) {
            return Err(Refusal::ThreadTaken(thread.clone()).into());
        }
        Ok(())
    }

    fn check_open_call(&self, node: &NodeId, call: &CallId) -> Result<(), Error> {
        let open = match &self.nodes[self.present(node)?].body {
            Body::Message(message) => match &**message {
                Message::Assistant(message) => {
                    message.exchanges().any(|one| one.call.id == *call && one.result.is_none())
                }
                Message::System(_) | Message::User(_) => false,
            },
            Body::Group(_) | Body::Removed => false,
        };
        if open { Ok(()) } else { Err(Refusal::NoOpenCall { node: node.clone(), call: call.clone() }.into()) }
    }

    fn new_row(&self, id: NodeId, parent: Option<NodeId>, link: Link, body: Body) -> Result<NodeRow, Error> {
        self.check_id(&id)?;
        if matches!(body, Body::Removed) {
            return Err(Refusal::NewTombstone.into());
        }
        Ok(NodeRow { link, ..NodeRow::new(id, parent, self.next_order, body) })
    }

    /// A selected sibling. Beside a stray it hangs where the stray was put.
    fn new_alternative(&self, id: NodeId, of: usize, body: Body) -> Result<NodeRow, Error> {
        let slot = &self.slots[self.nodes[of].slot];
        let parent = slot.parent.map(|parent| self.nodes[parent].id.clone());
        Ok(NodeRow { selected: true, ..self.new_row(id, parent, slot.link.clone(), body)? })
    }

    /// The node and everything above it, up to the beginning or the thread, each among its alternatives:
    /// what is appended beside any of them later moves nobody away.
    fn select(&self, id: &NodeId) -> Result<Event, Error> {
        let node = self.known(id)?;
        if !self.is_alive(node) {
            return Err(Refusal::Removed(id.clone()).into());
        }
        let (mut nodes, mut on) = (Vec::new(), Some(node));
        while let Some(node) = on {
            if self.slots[self.nodes[node].slot].selected != Some(node) {
                nodes.push(self.nodes[node].id.clone());
            }
            on = self.nodes[node].parent.filter(|_| !matches!(self.link(node), Link::Thread(_)));
        }
        if nodes.is_empty() {
            return Err(Refusal::NothingToDo(id.clone()).into());
        }
        Ok(Event::BranchSelected { nodes })
    }

    fn delete(&self, id: &NodeId, after: After) -> Result<Event, Error> {
        let node = self.known(id)?;
        let mut stack = vec![node];
        let mut doomed = Vec::new();
        while let Some(on) = stack.pop() {
            doomed.push(on);
            let below = &self.nodes[on];
            let lanes_only = after == After::Keep && on == node;
            let sides = below
                .sides
                .iter()
                .copied()
                .filter(|&side| !lanes_only || matches!(self.slots[side].link, Link::Lane(_)));
            let next = below.next.filter(|_| !lanes_only);
            stack.extend(next.into_iter().chain(sides).flat_map(|slot| &self.slots[slot].members));
        }
        doomed.retain(|&node| !self.is_removed(node));
        if doomed.is_empty() {
            return Err(Refusal::Removed(id.clone()).into());
        }
        doomed.sort_unstable();
        let folds = self.folds_within(&doomed)?;
        Ok(Event::Deleted { nodes: self.names(&doomed), folds })
    }

    /// The folds that stand for nothing but these nodes. One that stands for more would be cut.
    fn folds_within(&self, nodes: &[usize]) -> Result<Vec<NodeId>, Error> {
        let mut touched: Vec<(&NodeId, usize)> = Vec::new();
        let mut counts: HashMap<&NodeId, usize> = HashMap::new();
        for &node in nodes {
            if let Some(fold) = &self.nodes[node].fold {
                let count = counts.entry(fold).or_insert(0);
                if *count == 0 {
                    touched.push((fold, node));
                }
                *count += 1;
            }
        }
        for &(fold, node) in &touched {
            let there = self.folds[fold].members.iter().filter(|&&node| !self.is_removed(node)).count();
            if counts[fold] < there {
                let member = self.nodes[node].id.clone();
                return Err(Refusal::CutsFold { member, fold: fold.clone() }.into());
            }
        }
        Ok(touched.into_iter().map(|(fold, _)| fold.clone()).collect())
    }

    fn compress(&self, id: NodeId, first: NodeId, last: NodeId, summary: Message) -> Result<Event, Error> {
        self.check_id(&id)?;
        let (from, to) = (self.present(&first)?, self.present(&last)?);
        let mut members = vec![to];
        let mut on = to;
        while on != from {
            match (self.link(on), self.nodes[on].parent) {
                (Link::Next, Some(parent)) => on = parent,
                _ => return Err(Refusal::NotAPath { first, last }.into()),
            }
            members.push(on);
        }
        members.reverse();
        let absorbed = self.absorbed(&members)?;
        let members = self.names(&members);
        let fold = FoldRow { version: Version::default(), id, members, summary: summary.into() };
        Ok(Event::Compressed { fold, absorbed })
    }

    fn absorbed(&self, members: &[usize]) -> Result<Vec<NodeId>, Error> {
        let inside: HashSet<usize> = members.iter().copied().collect();
        let mut absorbed: Vec<NodeId> = Vec::new();
        for fold in members.iter().filter_map(|&node| self.nodes[node].fold.as_ref()) {
            if absorbed.last() == Some(fold) {
                continue;
            }
            if let Some(&outside) = self.folds[fold].members.iter().find(|node| !inside.contains(node)) {
                let member = self.nodes[outside].id.clone();
                return Err(Refusal::CutsFold { member, fold: fold.clone() }.into());
            }
            absorbed.push(fold.clone());
        }
        Ok(absorbed)
    }

    pub(crate) fn names(&self, nodes: &[usize]) -> Vec<NodeId> {
        nodes.iter().map(|&node| self.nodes[node].id.clone()).collect()
    }
}

fn is_answer(body: &Body) -> bool {
    match body {
        Body::Message(message) => matches!(**message, Message::Assistant(_)),
        Body::Group(_) => true,
        Body::Removed => false,
    }
}

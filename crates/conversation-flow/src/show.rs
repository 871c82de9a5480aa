//! How a [`Display`] is made.

use thermidor_types::{Message, Origin};

use crate::{
    Body, Branch, Conversation, Display, Error, Item, Lane, Link, Mark, NodeId, Scope, Shown, Step,
    ThreadMark, Within, walk::Visit,
};

impl Conversation {
    /// What a person sees of a scope; of a thread its own messages alone. Linear.
    ///
    /// Messages of one member and turn that follow one another directly are one answer. Groups and folds
    /// are followed by the items inside them.
    ///
    /// # Errors
    /// When the thread or node is not there.
    pub fn for_display(&self, scope: &Scope) -> Result<Display, Error> {
        let mut display = Display::default();
        let mut before: Option<Visit> = None;
        for visit in self.walk(self.own_path(scope)?) {
            let fold_before = before.as_ref().and_then(|before| before.fold.as_ref());
            if let Some(fold) = &visit.fold
                && fold_before != Some(fold)
            {
                self.show_fold(&mut display, fold, visit.lane);
            }
            let at = display.items.len();
            match (
                before.as_ref().and_then(|before| self.continued(before, &visit)),
                display.items.last_mut(),
            ) {
                (Some(step), Some(Item { shown: Shown::Answer { steps, .. }, .. })) => {
                    steps.push(step);
                    display.by_node.insert(self.nodes[visit.node].id.clone(), at - 1);
                }
                _ => self.show_node(&mut display, &visit),
            }
            before = Some(visit);
        }
        Ok(display)
    }

    /// The next step of the answer that was shown just before.
    fn continued(&self, before: &Visit, visit: &Visit) -> Option<Step> {
        let step = self.nodes[visit.node].parent == Some(before.node)
            && *self.link(visit.node) == Link::Next
            && before.fold == visit.fold;
        let (old, _) = self.answer(before.node)?;
        let (new, message) = self.answer(visit.node)?;
        (step && old.member == new.member && old.turn == new.turn)
            .then(|| Step { mark: self.mark(visit.node), message: message.clone() })
    }

    fn answer(&self, node: usize) -> Option<(&Origin, &std::sync::Arc<Message>)> {
        match &self.nodes[node].body {
            Body::Message(message) => match &**message {
                Message::Assistant(answer) => Some((&answer.origin, message)),
                Message::System(_) | Message::User(_) => None,
            },
            Body::Group(_) | Body::Removed => None,
        }
    }

    fn show_fold(&self, display: &mut Display, id: &NodeId, lane: Option<usize>) {
        let fold = &self.folds[id];
        let nodes = self.names(&fold.members);
        let shown = Shown::Compressed { summary: fold.summary.clone(), nodes };
        display.items.push(Item { id: id.clone(), within: self.within_lane(lane), shown });
    }

    fn show_node(&self, display: &mut Display, visit: &Visit) {
        let node = &self.nodes[visit.node];
        let mark = self.mark(visit.node);
        let shown = match &node.body {
            Body::Removed => Shown::Removed(mark),
            Body::Group(kind) => {
                let lanes = self.lanes(visit.node);
                Shown::Group { kind: *kind, mark, lanes: lanes.map(|lane| self.lane(lane)).collect() }
            }
            Body::Message(message) => {
                let step = Step { mark, message: message.clone() };
                match &**message {
                    Message::System(_) => Shown::System(step),
                    Message::User(_) => Shown::User(step),
                    Message::Assistant(answer) => {
                        Shown::Answer { member: answer.origin.member.clone(), steps: vec![step] }
                    }
                }
            }
        };
        // In a lane of a folded group it is the lane that counts.
        let within = match (&visit.fold, &node.fold) {
            (Some(fold), Some(own)) if fold == own => Some(Within { item: fold.clone(), lane: None }),
            _ => self.within_lane(visit.lane),
        };
        display.by_node.insert(node.id.clone(), display.items.len());
        display.items.push(Item { id: node.id.clone(), within, shown });
    }

    fn within_lane(&self, lane: Option<usize>) -> Option<Within> {
        let slot = &self.slots[lane?];
        let item = self.nodes[slot.parent?].id.clone();
        let lane = match &slot.link {
            Link::Lane(name) => Some(name.clone()),
            Link::Next | Link::Thread(_) => None,
        };
        Some(Within { item, lane })
    }

    fn lane(&self, slot: usize) -> Lane {
        let path = self.down(Some(slot));
        let answer = self.answer_of(&path);
        let name = match &self.slots[slot].link {
            Link::Lane(name) => name.clone(),
            Link::Next | Link::Thread(_) => smol_str::SmolStr::default(),
        };
        Lane {
            name,
            member: answer.and_then(|node| self.answer(node)?.0.member.clone()),
            first: path.first().map(|&node| self.nodes[node].id.clone()),
            answer: answer.map(|node| self.nodes[node].id.clone()),
            messages: self.messages(&path),
        }
    }

    fn messages(&self, path: &[usize]) -> usize {
        path.iter().filter(|&&node| matches!(self.nodes[node].body, Body::Message(_))).count()
    }

    fn mark(&self, index: usize) -> Mark {
        let node = &self.nodes[index];
        let threads = node.sides.iter().filter_map(|&slot| match &self.slots[slot].link {
            Link::Thread(id) => {
                Some(ThreadMark { id: id.clone(), messages: self.messages(&self.down(Some(slot))) })
            }
            Link::Next | Link::Lane(_) => None,
        });
        let threads = threads.filter(|thread| thread.messages > 0).collect();
        Mark { node: node.id.clone(), branch: self.branch(index), threads, pinned: node.pinned }
    }

    fn branch(&self, index: usize) -> Branch {
        let members = &self.slots[self.nodes[index].slot].members;
        let (mut n, mut of) = (0, 0);
        let (mut previous, mut next, mut last) = (None, None, None);
        for &member in members.iter().filter(|&&member| self.is_alive(member)) {
            of += 1;
            if member == index {
                (n, previous) = (of, last);
            } else if last == Some(index) {
                next = Some(member);
            }
            last = Some(member);
        }
        let name = |node: usize| self.nodes[node].id.clone();
        Branch { n, of, previous: previous.map(name), next: next.map(name) }
    }
}

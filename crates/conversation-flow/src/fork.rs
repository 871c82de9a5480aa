use crate::{Body, Conversation, Error, Event, Link, NodeId, NodeRow, Row};

impl Conversation {
    /// The event that begins a new conversation with everything up to a node: the path to it, the lanes of
    /// its groups, the folds that lie wholly on it. Other branches and threads stay behind. Messages are
    /// shared with this conversation, ids are the same: they are names inside one conversation.
    ///
    /// # Errors
    /// When the node is not there.
    pub fn fork(&self, at: &NodeId) -> Result<Event, Error> {
        let path = self.up(self.known(at)?);
        let mut taken = vec![false; self.nodes.len()];
        for (place, &node) in path.iter().enumerate() {
            taken[node] = true;
            let inside = path.get(place + 1).is_some_and(|&next| matches!(self.link(next), Link::Lane(_)));
            if matches!(self.nodes[node].body, Body::Group(_)) && !inside {
                self.take_lanes(node, &mut taken);
            }
        }
        let rows = (0..self.nodes.len()).filter(|&node| taken[node]).map(|node| {
            // What was a stray, or leads into a thread, is in its ordinary place in the fork.
            let link = match self.link(node) {
                Link::Next | Link::Thread(_) => Link::Next,
                Link::Lane(name) => Link::Lane(name.clone()),
            };
            let parent = self.nodes[node].parent.map(|parent| self.nodes[parent].id.clone());
            Row::Node(NodeRow { parent, link, ..self.row(node) })
        });
        let folds = self.folds.iter().filter(|(_, fold)| fold.members.iter().all(|&member| taken[member]));
        let folds = folds.map(|(id, fold)| self.fold_row(id, fold));
        Ok(Event::Begun { rows: rows.chain(folds).collect() })
    }

    /// Marks everything in the lanes of a group, threads left out.
    fn take_lanes(&self, group: usize, taken: &mut [bool]) {
        let mut slots: Vec<usize> = self.lanes(group).collect();
        while let Some(slot) = slots.pop() {
            for &node in &self.slots[slot].members {
                taken[node] = true;
                slots.extend(self.nodes[node].next);
                slots.extend(self.lanes(node));
            }
        }
    }
}

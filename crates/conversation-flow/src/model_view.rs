use std::{collections::HashMap, sync::Arc};

use thermidor_types::Message;

use crate::{Body, Conversation, Error, NodeId, Scope};

/// What the model reads of a scope, with the way back to the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelView {
    /// The messages in order.
    pub entries: Vec<Entry>,
    by_node: HashMap<NodeId, usize>,
}

/// One message for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The node, or the fold when this is a summary. Unique in its view.
    pub id: NodeId,
    /// The message, as it is stored.
    pub message: Arc<Message>,
    /// The nodes it stands for: one, or all that a summary replaces.
    pub nodes: Vec<NodeId>,
}

impl ModelView {
    /// The messages alone.
    pub fn messages(&self) -> Vec<Message> {
        self.entries.iter().map(|entry| Message::clone(&entry.message)).collect()
    }

    /// The entry that holds a node or stands for it.
    pub fn entry_of(&self, node: &NodeId) -> Option<&Entry> {
        self.by_node.get(node).map(|&at| &self.entries[at])
    }
}

impl Conversation {
    /// The messages of a scope for a model: the active path; for a thread everything up to the message it is
    /// about, and the thread.
    ///
    /// A group stands as the messages of its lanes, lane by lane; of a task only instruction and result. A
    /// fold stands as its summary, followed by what is pinned inside it. Tombstones are left out. Messages
    /// are whole: a tool call and its result are one value, so none is without the other. Linear.
    ///
    /// # Errors
    /// When the thread or node is not there.
    pub fn for_model(&self, scope: &Scope) -> Result<ModelView, Error> {
        let mut view = ModelView::default();
        let mut summary: Option<(NodeId, usize)> = None;
        for visit in self.walk(self.whole_path(scope)?) {
            let node = &self.nodes[visit.node];
            if summary.as_ref().map(|(fold, _)| fold) != visit.summed.as_ref() {
                summary = visit.summed.map(|fold| (fold.clone(), view.push_summary(fold, &self.folds)));
            }
            match (&node.body, &summary) {
                (Body::Message(message), _) if node.pinned => view.push(&node.id, message),
                (Body::Message(_) | Body::Group(_), Some((_, at))) => view.attach(*at, &node.id),
                (Body::Message(message), None) if !visit.work => view.push(&node.id, message),
                (Body::Message(_) | Body::Group(_) | Body::Removed, _) => {}
            }
        }
        Ok(view)
    }
}

impl ModelView {
    fn push(&mut self, node: &NodeId, message: &Arc<Message>) {
        self.by_node.insert(node.clone(), self.entries.len());
        self.entries.push(Entry { id: node.clone(), message: message.clone(), nodes: vec![node.clone()] });
    }

    fn push_summary(
        &mut self,
        fold: NodeId,
        folds: &indexmap::IndexMap<NodeId, crate::conversation::Fold>,
    ) -> usize {
        let message = folds[&fold].summary.clone();
        self.entries.push(Entry { id: fold, message, nodes: Vec::new() });
        self.entries.len() - 1
    }

    fn attach(&mut self, entry: usize, node: &NodeId) {
        self.by_node.insert(node.clone(), entry);
        self.entries[entry].nodes.push(node.clone());
    }
}

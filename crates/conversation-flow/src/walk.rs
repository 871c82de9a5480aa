//! One walk over a path in reading order, into the lanes of groups; both projections are made from it.

use thermidor_types::Message;

use crate::{Body, Conversation, GroupKind, Link, NodeId};

/// One node met on the way.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) node: usize,
    /// The fold that stands for it here: of the node itself, or of the group it is inside of.
    pub(crate) fold: Option<NodeId>,
    /// The same for the model, which reads of a task only instruction and result, folded or not.
    pub(crate) summed: Option<NodeId>,
    /// The innermost lane it is in.
    pub(crate) lane: Option<usize>,
    /// Whether it is the work inside a task: neither its instruction nor its result.
    pub(crate) work: bool,
}

/// What of a frame is work inside a task.
#[derive(Clone, Copy)]
enum Work {
    Nothing,
    /// All but the first and this one.
    Between(Option<usize>),
    All,
}

struct Frame {
    path: Vec<usize>,
    at: usize,
    /// Of the group that this is a lane of.
    outer: Option<NodeId>,
    outer_summed: Option<NodeId>,
    /// The fold that has begun, and where it ends.
    own: Option<(NodeId, usize)>,
    lane: Option<usize>,
    work: Work,
}

impl Conversation {
    /// Visits a path and the active paths of the lanes of its groups. A group whose lane the path itself
    /// goes into is not opened further. Linear, without recursion however deep groups stand in groups.
    pub(crate) fn walk(&self, path: Vec<usize>) -> Vec<Visit> {
        let mut visits = Vec::with_capacity(path.len());
        let mut frames = vec![Frame {
            path,
            at: 0,
            outer: None,
            outer_summed: None,
            own: None,
            lane: None,
            work: Work::Nothing,
        }];
        while let Some(frame) = frames.last_mut() {
            let Some(&node) = frame.path.get(frame.at) else {
                frames.pop();
                continue;
            };
            self.enter_fold(frame, node);
            let own = frame.own.as_ref().map(|(fold, _)| fold);
            let fold = frame.outer.as_ref().or(own).cloned();
            let own_summed = own.filter(|_| matches!(frame.work, Work::Nothing));
            let summed = frame.outer_summed.as_ref().or(own_summed).cloned();
            let work = match frame.work {
                Work::Nothing => false,
                Work::Between(result) => frame.at != 0 && Some(node) != result,
                Work::All => true,
            };
            visits.push(Visit { node, fold: fold.clone(), summed: summed.clone(), lane: frame.lane, work });
            frame.at += 1;
            let inside = frame.path.get(frame.at).is_some_and(|&next| {
                self.nodes[next].parent == Some(node) && matches!(self.link(next), Link::Lane(_))
            });
            if let (Body::Group(kind), false) = (&self.nodes[node].body, inside) {
                for lane in self.lanes(node).rev() {
                    let path = self.down(Some(lane));
                    let work = match (work, kind) {
                        (true, _) => Work::All,
                        (false, GroupKind::Tasks) => Work::Between(self.answer_of(&path)),
                        (false, GroupKind::Agents | GroupKind::Council) => Work::Nothing,
                    };
                    let (outer, outer_summed) = (fold.clone(), summed.clone());
                    frames.push(Frame {
                        path,
                        at: 0,
                        outer,
                        outer_summed,
                        own: None,
                        lane: Some(lane),
                        work,
                    });
                }
            }
        }
        visits
    }

    fn enter_fold(&self, frame: &mut Frame, node: usize) {
        if frame.own.as_ref().is_some_and(|(_, end)| frame.at >= *end) {
            frame.own = None;
        }
        let Some(id) = &self.nodes[node].fold else { return };
        let members = &self.folds[id].members;
        let last = frame.at + members.len() - 1;
        // A path that leaves the stretch is not what was summed up: its messages are read as they are.
        if members.first() == Some(&node) && frame.path.get(last) == members.last() {
            frame.own = Some((id.clone(), last + 1));
        }
    }

    /// The lanes of a group in the order of their creation.
    pub(crate) fn lanes(&self, node: usize) -> impl DoubleEndedIterator<Item = usize> {
        let sides = self.nodes[node].sides.iter().copied();
        sides.filter(|&side| matches!(self.slots[side].link, Link::Lane(_)))
    }

    /// The last answer on a path.
    pub(crate) fn answer_of(&self, path: &[usize]) -> Option<usize> {
        path.iter().copied().rev().find(|&node| match &self.nodes[node].body {
            Body::Message(message) => matches!(**message, Message::Assistant(_)),
            Body::Group(_) | Body::Removed => false,
        })
    }
}

//! From rows to a conversation: every row that makes sense is taken, every other is reported.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::{Body, Conversation, Fault, FoldRow, Link, NodeId, NodeRow, Problem, Row, tree::Place};

impl Conversation {
    /// Reads stored rows, in any order: their place in time is their `order`.
    ///
    /// What does not fit is reported row by row, and nothing else is lost by it. A row whose parent is
    /// missing, or that is its own ancestor, is kept as a stray beginning: it is never active while there is
    /// another beginning. A row that claims to be older than its parent gets the parent's time. Linear, apart from sorting rows that do not come in order.
    pub fn from_rows(rows: impl IntoIterator<Item = Row>) -> (Self, Vec<Fault>) {
        let mut load = Load::default();
        let mut folds = Vec::new();
        let mut seen = HashSet::new();
        for (row, content) in rows.into_iter().enumerate() {
            let id = content.id().clone();
            let problem = if id.as_str().is_empty() {
                Some(Problem::EmptyId)
            } else if seen.contains(&id) {
                Some(Problem::DuplicateId)
            } else {
                None
            };
            if let Some(problem) = problem {
                load.faults.push(Fault { row, id, problem, left_out: Some(content) });
                continue;
            }
            seen.insert(id);
            match content {
                Row::Node(content) => load.rows.push((row, content)),
                Row::Fold(content) => folds.push((row, content)),
            }
        }
        load.insert_all();
        for (row, fold) in folds {
            if let Err(problem) = load.conversation.adopt_fold(&fold) {
                load.faults.push(Fault {
                    row,
                    id: fold.id.clone(),
                    problem,
                    left_out: Some(Row::Fold(fold)),
                });
            }
        }
        load.faults.sort_by_key(|fault| fault.row);
        (load.conversation, load.faults)
    }

    /// Adds a fold if its members follow one another and are free.
    pub(crate) fn adopt_fold(&mut self, fold: &FoldRow) -> Result<(), Problem> {
        let mut members: Vec<usize> = Vec::with_capacity(fold.members.len());
        for id in &fold.members {
            let broken = || Problem::BrokenFold { member: id.clone() };
            let &node = self.by_id.get(id).ok_or_else(broken)?;
            let follows = members
                .last()
                .is_none_or(|&last| self.nodes[node].parent == Some(last) && *self.link(node) == Link::Next);
            if !follows {
                return Err(broken());
            }
            if let Some(other) = &self.nodes[node].fold {
                return Err(Problem::OverlappingFold { member: id.clone(), fold: other.clone() });
            }
            members.push(node);
        }
        if members.is_empty() {
            return Err(Problem::EmptyFold);
        }
        self.fold(fold.clone(), members);
        Ok(())
    }

    /// Whether a lane may hang on this node: on a group, or, once both are tombstones, on what was one.
    pub(crate) fn takes_lane(&self, parent: usize, body: &Body) -> bool {
        match self.nodes[parent].body {
            Body::Group(_) => true,
            Body::Removed => matches!(body, Body::Removed),
            Body::Message(_) => false,
        }
    }
}

#[derive(Default)]
struct Load {
    conversation: Conversation,
    faults: Vec<Fault>,
    /// In the order of creation, with the place in the input.
    rows: Vec<(usize, NodeRow)>,
    /// For each row the row that is its parent.
    parents: Vec<Option<usize>>,
    /// For each row the node that was made of it.
    made: Vec<Option<usize>>,
    /// For each row the rows that wait for it.
    waiting: Vec<Vec<usize>>,
}

impl Load {
    fn insert_all(&mut self) {
        self.rows.sort_by_key(|(_, row)| row.order);
        let index: HashMap<NodeId, usize> =
            self.rows.iter().enumerate().map(|(at, (_, row))| (row.id.clone(), at)).collect();
        self.parents = self.rows.iter().map(|(_, row)| index.get(row.parent.as_ref()?).copied()).collect();
        self.made = vec![None; self.rows.len()];
        self.waiting = vec![Vec::new(); self.rows.len()];
        let opened = self.open_circles();
        for (at, opened) in opened.into_iter().enumerate() {
            match self.parents[at] {
                Some(parent) if !opened && self.made[parent].is_none() => self.waiting[parent].push(at),
                _ => self.insert_with_waiting(at, opened),
            }
        }
    }

    /// For each row whether it is the oldest of a circle.
    fn open_circles(&self) -> Vec<bool> {
        let mut opened = vec![false; self.rows.len()];
        let mut met_by = vec![usize::MAX; self.rows.len()];
        for from in 0..self.rows.len() {
            let mut on = Some(from);
            while let Some(at) = on.filter(|&at| met_by[at] == usize::MAX) {
                met_by[at] = from;
                on = self.parents[at];
            }
            if let Some(start) = on.filter(|&at| met_by[at] == from) {
                let circle = std::iter::successors(self.parents[start], |&at| {
                    self.parents[at].filter(|_| at != start)
                });
                opened[circle.min().unwrap_or(start)] = true;
            }
        }
        opened
    }

    fn insert_with_waiting(&mut self, at: usize, opened: bool) {
        let parent = self.rows[at].1.parent.clone().filter(|_| opened);
        self.insert(at, parent.map(|parent| Problem::Cycle { parent }));
        let mut queue = VecDeque::from(std::mem::take(&mut self.waiting[at]));
        while let Some(next) = queue.pop_front() {
            // It waited, so its parent is younger.
            let parent = self.rows[next].1.parent.clone();
            self.insert(next, parent.map(|parent| Problem::BeforeParent { parent }));
            queue.extend(std::mem::take(&mut self.waiting[next]));
        }
    }

    fn insert(&mut self, at: usize, problem: Option<Problem>) {
        let (row, mut content) = (self.rows[at].0, self.rows[at].1.clone());
        let mut problems: Vec<Problem> = problem.into_iter().collect();
        let circle = matches!(problems.first(), Some(Problem::Cycle { .. }));
        let parent = self.parents[at].and_then(|parent| self.made[parent]).filter(|_| !circle);
        let place = match (&content.parent, parent) {
            (Some(claimed), None) => {
                if !circle {
                    problems.push(Problem::MissingParent { parent: claimed.clone() });
                }
                let link = match &content.link {
                    Link::Next | Link::Lane(_) => Link::Next,
                    Link::Thread(_) => content.link.clone(),
                };
                Place::Stray(None, link)
            }
            (_, Some(parent))
                if matches!(content.link, Link::Lane(_))
                    && !self.conversation.takes_lane(parent, &content.body) =>
            {
                problems
                    .push(Problem::LaneOutsideGroup { parent: self.conversation.nodes[parent].id.clone() });
                if matches!(content.body, Body::Removed) {
                    content.link = Link::Next;
                    Place::Claimed(Some(parent))
                } else {
                    Place::Stray(Some(parent), Link::Next)
                }
            }
            (None, None) if content.link != Link::Next => {
                problems.push(Problem::MissingParent { parent: NodeId::default() });
                let thread = matches!(content.link, Link::Thread(_));
                Place::Stray(None, if thread { content.link.clone() } else { Link::Next })
            }
            (_, parent) => Place::Claimed(parent),
        };
        let (id, selected) = (content.id.clone(), content.selected);
        let thread = match &content.link {
            Link::Thread(thread) => Some(thread.clone()),
            Link::Next | Link::Lane(_) => None,
        };
        let before = self.conversation.selected_at(&place, &content.link);
        let node = self.conversation.insert(content, place);
        self.made[at] = Some(node);
        if selected && before {
            problems.push(Problem::SecondSelection);
        }
        if let Some(thread) = thread
            && self.conversation.threads.get(&thread) != Some(&self.conversation.nodes[node].slot)
        {
            problems.push(Problem::ThreadElsewhere { thread });
        }
        let faults = problems.into_iter();
        self.faults.extend(faults.map(|problem| Fault { row, id: id.clone(), problem, left_out: None }));
    }
}

impl Conversation {
    fn selected_at(&self, place: &Place, claimed: &Link) -> bool {
        let key = match place {
            Place::Claimed(parent) => (*parent, claimed.clone()),
            Place::Stray(parent, link) => (*parent, link.clone()),
        };
        self.by_place.get(&key).is_some_and(|&slot| self.slots[slot].selected.is_some())
    }
}

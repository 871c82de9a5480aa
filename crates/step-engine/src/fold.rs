use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thermidor_types::{Json, Timestamp, Tokens, TreeId};

use crate::{
    EffectKey, Fact, Kinds, NodeId, Open, Record, Spent, TreeState, TreeStatus,
    error::Problem,
    key::Finished,
    node::Node,
    run::{Book, InFlight, Run},
};

/// A tree of runs as folded from its journal. The live path and the load path end in the same fold.
pub(crate) struct Tree {
    pub(crate) id: TreeId,
    /// The runs that have not ended, and the root. A child that ended folds away to its parent's events.
    pub(crate) runs: BTreeMap<NodeId, Run>,
    pub(crate) clock: DrivenTime,
    pub(crate) next_node: u32,
    pub(crate) version: u64,
    pub(crate) epoch: u64,
    /// Runs whose state or open work changed since their machine was last asked.
    pub(crate) dirty: BTreeSet<NodeId>,
    /// The machine of the run that opens next, made already to see whether it can be made.
    pub(crate) prepared: Option<Box<dyn Node>>,
}

/// Time during which somebody drove the tree: from driver to release, across crashes, without parking.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DrivenTime {
    millis: u64,
    last: Option<Timestamp>,
}

impl DrivenTime {
    pub(crate) fn tick(&mut self, at: Timestamp) {
        self.millis = self.at(at);
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    /// Milliseconds driven up to `now`.
    pub(crate) fn at(&self, now: Timestamp) -> u64 {
        let passed = self.last.map_or(0, |last| now.since(last).as_millis());
        self.millis.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

#[derive(Serialize, Deserialize)]
struct Image {
    version: u64,
    epoch: u64,
    next_node: u32,
    clock: DrivenTime,
    runs: Vec<(NodeId, Book, Json)>,
}

impl Tree {
    pub(crate) fn new(id: TreeId) -> Self {
        Self {
            id,
            runs: BTreeMap::new(),
            clock: DrivenTime::default(),
            next_node: 0,
            version: 0,
            epoch: 0,
            dirty: BTreeSet::new(),
            prepared: None,
        }
    }

    /// Folds a record that was read from the journal.
    pub(crate) fn replay(&mut self, kinds: &Kinds, record: &Record) -> Result<(), Problem> {
        self.version += 1;
        let Record { at, node, fact } = record;
        if let Fact::Happened { version, event } = fact {
            self.clock.tick(*at);
            let number = self.version;
            let unreadable = |reason| Problem::Unreadable { version: number, reason };
            let run = self.runs.get_mut(node).ok_or_else(|| unreadable(format!("there is no run {node}")))?;
            if *version > run.machine.version() {
                return Err(Problem::Newer { version: number });
            }
            run.machine.replay(*version, event).map_err(unreadable)?;
            self.dirty.insert(*node);
            return Ok(());
        }
        self.fold(kinds, *at, *node, fact)
    }

    /// Folds a fact of the engine's own; machines fold theirs themselves.
    pub(crate) fn fold(
        &mut self,
        kinds: &Kinds,
        at: Timestamp,
        node: NodeId,
        fact: &Fact,
    ) -> Result<(), Problem> {
        if let Fact::Driver { epoch, .. } = fact {
            // Time before a driver came is nobody's.
            self.clock.last = None;
            self.epoch = *epoch;
        }
        self.clock.tick(at);
        self.dirty.insert(node);
        match fact {
            Fact::Opened(opened) => {
                let depth = opened.parent.as_ref().and_then(|parent| self.runs.get(&parent.0));
                let book = Book {
                    kind: opened.kind.clone(),
                    spec: opened.spec.clone(),
                    parent: opened.parent.clone(),
                    depth: depth.map_or(0, |parent| parent.book.depth.saturating_add(1)),
                    limits: opened.limits,
                    open: Open::default(),
                    in_flight: BTreeMap::new(),
                    finished: Finished::default(),
                    spent: Spent::default(),
                    reserved: Tokens(0),
                    allowance: None,
                    signalled: false,
                    opened_after: self.clock.at(at),
                    command: Some(opened.command.clone()),
                    title: opened.title.clone(),
                };
                let run = match self.prepared.take() {
                    Some(machine) => Run::new(machine, book),
                    None => Run::open(kinds, book)?,
                };
                self.runs.insert(node, run);
                self.next_node = self.next_node.max(node.0.saturating_add(1));
                if let Some((parent, key)) = &opened.parent {
                    self.dirty.insert(*parent);
                    self.on(*parent, |book| {
                        book.open.insert(key.clone(), 1);
                        book.in_flight.insert(key.clone(), InFlight::Child(node));
                    });
                    self.on_ancestors(*parent, |book| book.spent += Spent { turns: 1, ..Spent::default() });
                }
            }
            Fact::Began => self.on(node, |book| book.command = None),
            Fact::Started { key, attempt, recovery, reserve } => {
                let first = *attempt == 1;
                self.on(node, |book| {
                    book.open.insert(key.clone(), *attempt);
                    let effect = InFlight::Effect { recovery: *recovery, reserve: *reserve };
                    book.in_flight.insert(key.clone(), effect);
                });
                self.on_ancestors(node, |book| {
                    book.spent += Spent { steps: 1, ..Spent::default() };
                    if first {
                        book.reserved += *reserve;
                    }
                    book.allowance = book.allowance.map(|left| left.saturating_sub(1));
                });
            }
            Fact::Ended { key, spent, .. } => self.fold_end(node, key, *spent),
            Fact::Limited { .. } => self.on(node, |book| book.allowance = Some(book.limits.reserve)),
            Fact::Relimited(limits) => self.on(node, |book| {
                book.limits = **limits;
                book.allowance = None;
            }),
            Fact::Signalled(_) => self.on(node, |book| book.signalled = true),
            Fact::Reopened => self.on(node, |book| {
                book.signalled = false;
                book.allowance = None;
            }),
            Fact::Driver { .. }
            | Fact::Happened { .. }
            | Fact::Handled { .. }
            | Fact::Forked { .. }
            | Fact::Released { .. } => {}
        }
        Ok(())
    }

    fn fold_end(&mut self, node: NodeId, key: &EffectKey, spent: Spent) {
        let mut ended = None;
        self.on(node, |book| {
            book.open.remove(key);
            book.finished.insert(key);
            ended = book.in_flight.remove(key);
        });
        match ended {
            Some(InFlight::Child(child)) => {
                self.runs.remove(&child);
                self.dirty.remove(&child);
            }
            Some(InFlight::Effect { reserve, .. }) => self.on_ancestors(node, |book| {
                book.reserved = book.reserved.saturating_sub(reserve);
                book.spent += spent;
            }),
            None => {}
        }
        if let Some(run) = self.runs.get_mut(&node) {
            run.live.remove(key);
        }
    }

    fn on(&mut self, node: NodeId, change: impl FnOnce(&mut Book)) {
        if let Some(run) = self.runs.get_mut(&node) {
            change(&mut run.book);
        }
    }

    fn on_ancestors(&mut self, node: NodeId, mut change: impl FnMut(&mut Book)) {
        let mut at = Some(node);
        while let Some(run) = at.and_then(|node| self.runs.get_mut(&node)) {
            change(&mut run.book);
            at = run.book.parent.as_ref().map(|parent| parent.0);
        }
    }

    /// The runs from `node` up to the root.
    pub(crate) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = (NodeId, &Run)> {
        let up = |(_, run): &(NodeId, &Run)| {
            let parent = run.book.parent.as_ref()?.0;
            Some((parent, self.runs.get(&parent)?))
        };
        std::iter::successors(self.runs.get(&node).map(|run| (node, run)), up)
    }

    /// The tokens that the limits of `node` and its ancestors leave to its effect `key`, which is in flight:
    /// its own reservation is part of them.
    pub(crate) fn tokens_left(&self, node: NodeId, key: &EffectKey) -> Option<Tokens> {
        let own = match self.runs.get(&node).and_then(|run| run.book.in_flight.get(key)) {
            Some(InFlight::Effect { reserve, .. }) => *reserve,
            Some(InFlight::Child(_)) | None => Tokens(0),
        };
        let left = |book: &Book| {
            let others = book.reserved.saturating_sub(own);
            Some(book.limits.tokens?.saturating_sub(book.spent.tokens).saturating_sub(others))
        };
        self.ancestors(node).filter_map(|(_, run)| left(&run.book)).min()
    }

    /// What lists show of the tree.
    pub(crate) fn status(&self, state: TreeState) -> TreeStatus {
        let root = self.runs.get(&NodeId::ROOT).map(|root| &root.book);
        TreeStatus {
            title: root.and_then(|book| book.title.clone()).unwrap_or_default(),
            kind: root.map(|book| book.kind.clone()).unwrap_or_default(),
            state,
            spent: root.map(|book| book.spent).unwrap_or_default(),
        }
    }

    /// The states of all runs that have not folded away, for snapshots and comparisons.
    pub(crate) fn image(&self) -> Result<Vec<u8>, serde_json::Error> {
        let run = |(node, run): (&NodeId, &Run)| Ok((*node, run.book.clone(), run.machine.dump()?));
        let runs = self.runs.iter().map(run).collect::<Result<_, serde_json::Error>>()?;
        let Self { version, epoch, next_node, clock, .. } = *self;
        serde_json::to_vec(&Image { version, epoch, next_node, clock, runs })
    }

    pub(crate) fn from_image(id: TreeId, kinds: &Kinds, image: &[u8]) -> Result<Self, Problem> {
        let damaged = |error: serde_json::Error| Problem::Configuration(format!("snapshot: {error}"));
        let Image { version, epoch, next_node, clock, runs } =
            serde_json::from_slice(image).map_err(damaged)?;
        let mut tree = Self { clock, next_node, version, epoch, ..Self::new(id) };
        for (node, book, state) in runs {
            let mut run = Run::open(kinds, book)?;
            run.machine.restore(&state).map_err(damaged)?;
            tree.runs.insert(node, run);
            tree.dirty.insert(node);
        }
        Ok(tree)
    }
}

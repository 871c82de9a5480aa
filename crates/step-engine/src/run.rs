use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Json, Text, Timestamp, Tokens};
use tokio_util::sync::CancellationToken;

use crate::{
    EffectKey, Kinds, Limits, NodeId, Open, Question, Recovery, Spent, error::Problem, key::Finished,
    node::Node,
};

/// One run of a tree: its machine, and what the engine knows of it.
pub(crate) struct Run {
    pub(crate) machine: Box<dyn Node>,
    pub(crate) book: Book,
    /// Tokens that stop the effects this process has in flight.
    pub(crate) live: BTreeMap<EffectKey, CancellationToken>,
    pub(crate) waits: Vec<(EffectKey, Question)>,
    pub(crate) timers: Vec<(EffectKey, Timestamp)>,
}

/// What the engine knows of a run, folded from the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Book {
    pub(crate) kind: SmolStr,
    pub(crate) spec: Json,
    pub(crate) parent: Option<(NodeId, EffectKey)>,
    pub(crate) depth: u32,
    pub(crate) limits: Limits,
    pub(crate) open: Open,
    pub(crate) in_flight: BTreeMap<EffectKey, InFlight>,
    pub(crate) finished: Finished,
    pub(crate) spent: Spent,
    pub(crate) reserved: Tokens,
    /// Once a limit was crossed: the effects that may still start.
    pub(crate) allowance: Option<u32>,
    pub(crate) signalled: bool,
    /// The tree's driven time when the run opened, in milliseconds.
    pub(crate) opened_after: u64,
    /// The first command, until it was handled.
    pub(crate) command: Option<Json>,
    pub(crate) title: Option<Text>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum InFlight {
    Effect { recovery: Recovery, reserve: Tokens },
    Child(NodeId),
}

impl Run {
    pub(crate) fn open(kinds: &Kinds, book: Book) -> Result<Self, Problem> {
        Ok(Self::new(kinds.open(&book.kind, &book.spec)?, book))
    }

    pub(crate) fn new(machine: Box<dyn Node>, book: Book) -> Self {
        Self { machine, book, live: BTreeMap::new(), waits: Vec::new(), timers: Vec::new() }
    }
}

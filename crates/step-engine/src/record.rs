use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{CommandId, Json, Text, Timestamp, Tokens, TreeId};

use crate::{EffectKey, HowKind, LimitKind, Limits, Recovery, Signal, Spent};

/// Names a run inside its tree. The root is 0; children are numbered in the order they were opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root run of a tree.
    pub const ROOT: Self = Self(0);
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The version of [`Fact`]'s stored form. A program refuses records of a newer one.
pub const RECORD_VERSION: u32 = 1;

/// One entry of a journal: something that happened in a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When the append was made that holds it.
    pub at: Timestamp,
    /// In which run; the root for what concerns the whole tree.
    pub node: NodeId,
    /// What.
    pub fact: Fact,
}

/// What a [`Record`] says. Externally tagged: machine events inside keep their exact bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fact {
    /// A driver took the tree over. Whoever drove it before can no longer append.
    Driver {
        /// Counted from 1.
        epoch: u64,
        /// The program and its version.
        program: Text,
    },
    /// A run opened.
    Opened(Box<Opened>),
    /// The run's first command was handled.
    Began,
    /// A machine recorded an event.
    Happened {
        /// The version of the machine's events.
        version: u32,
        /// The event in the machine's own form.
        event: Json,
    },
    /// An effect started.
    Started {
        /// Which one.
        key: EffectKey,
        /// Counted from 1; higher ones follow a crash and void what earlier ones streamed.
        attempt: u32,
        /// What to do about it after a crash.
        recovery: Recovery,
        /// Tokens reserved while it runs.
        reserve: Tokens,
    },
    /// An effect, a child or a timer came to its end.
    Ended {
        /// Which one.
        key: EffectKey,
        /// How.
        how: HowKind,
        /// What it consumed; a child's own records already say what it consumed.
        #[serde(default, skip_serializing_if = "nothing_spent")]
        spent: Spent,
    },
    /// A limit of this run was crossed, and the run was told.
    Limited {
        /// Which limit.
        limit: LimitKind,
    },
    /// The run's limits were changed, and what was crossed is forgotten.
    Relimited(Box<Limits>),
    /// The run was asked to come to its end.
    Signalled(Signal),
    /// A command undid the run's end.
    Reopened,
    /// A command from the inbox was handled.
    Handled {
        /// Which one.
        command: CommandId,
        /// Why it was refused, when it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<Text>,
    },
    /// The tree was forked from another one: everything before this record is shared with it.
    Forked {
        /// The tree it was forked from.
        from: TreeId,
        /// The number of records shared.
        at: u64,
    },
    /// The driver let go of the tree in order.
    Released {
        /// Why.
        why: Release,
    },
}

fn nothing_spent(spent: &Spent) -> bool {
    *spent == Spent::default()
}

/// A run opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The run that wanted it, and the key it has there; `None` for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(NodeId, EffectKey)>,
    /// The kind of its machine.
    pub kind: SmolStr,
    /// Its configuration, frozen from here on.
    pub spec: Json,
    /// Its first command.
    pub command: Json,
    /// Its limits.
    pub limits: Limits,
    /// A title for lists; the root's only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
}

/// Why a driver let go of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Release {
    /// The root run ended.
    Ended,
    /// Nothing is in flight and something is awaited.
    Parked,
    /// It was told to pause; what was in flight was cut short.
    Suspended,
}

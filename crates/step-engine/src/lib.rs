//! Durable state machines: one driver and one journal per tree of runs.
//!
#![doc = include_str!("../README.md")]

mod codec;
mod driver;
mod engine;
mod error;
mod executor;
mod fold;
mod journal;
mod key;
mod limits;
mod live;
mod machine;
mod memory;
mod node;
mod record;
mod run;
mod spill;
mod step;

pub use driver::{Driven, Wait};
pub use engine::{Engine, Start};
pub use error::{Error, ErrorKind};
pub use executor::{BoxFuture, EffectContext, Executor};
pub use journal::{
    Append, Journal, JournalError, JournalErrorKind, Loaded, Posted, Request, Snapshot, StoredRecord,
    TreeRow, TreeState, TreeStatus,
};
pub use key::{EffectKey, Open, ParseKeyError};
pub use limits::{LimitKind, Limits, Spent};
pub use live::{Delta, LiveEvent, Subscription};
pub use machine::{
    ChildEnd, ChildSpec, Effect, End, EndStatus, How, HowKind, Input, Machine, Moment, Next, Question,
    Recovery, Refusal, Signal, Work,
};
pub use memory::MemoryJournal;
pub use node::Kinds;
pub use record::{Fact, NodeId, Opened, RECORD_VERSION, Record, Release};
pub use spill::{Cut, SPILL_BYTES};
use thermidor_types::Timestamp;

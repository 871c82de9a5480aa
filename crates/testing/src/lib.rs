//! Scripted models, a mock provider, failing journals and the explorer: for tests and benches.

mod client_case;
mod explore;
mod faulty;
mod heard;
pub mod mock;
mod scripted;

pub use client_case::ClientCase;
pub use explore::{Answer, Explored, Script, Twice, World, explore};
pub use faulty::{Crash, CrashingJournal, TokioClock};
pub use heard::{Heard, HeardCall, HeardError, HeardUsage};
pub use scripted::{Reply, ScriptedModel};

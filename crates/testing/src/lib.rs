//! Scripted models, a mock provider, failing journals and the explorer: for tests and benches.

mod explore;
mod faulty;
pub mod mock;
mod scripted;

pub use explore::{Answer, Explored, Script, Twice, World, explore};
pub use faulty::{Crash, CrashingJournal, TokioClock};
pub use scripted::{Reply, ScriptedModel};

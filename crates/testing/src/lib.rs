//! Scripted models, a mock provider, failing journals and the explorer: for tests and benches.

mod explore;
mod faulty;

pub use explore::{Explored, Script, Twice, World, explore};
pub use faulty::{Crash, CrashingJournal, TokioClock};

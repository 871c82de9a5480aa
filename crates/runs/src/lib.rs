//! Puts the house together: starts, resumes, watches and lists runs.
//!
//! The one invariant: everything outside reads [`RunEvent`], a stable form made from the journal's records
//! alone; what the machines store is their own business.

pub mod delivery;
mod error;
mod event;
mod events;
mod house;
mod outcome;
mod projector;
mod request;
mod run;
mod runs;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use error::{Error, ErrorKind};
pub use event::{EVENT_VERSION, RunEvent, RunEventKind};
pub use events::{Events, History};
pub use outcome::Output;
pub use request::RunRequest;
pub use run::{Ended, Outcome, Run};
pub use runs::{Leases, RunSummary, Runs, RunsBuilder};
#[cfg(feature = "sqlite")]
pub use sqlite::DATABASE;

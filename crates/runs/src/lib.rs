//! Puts the house together: starts, resumes, watches and lists runs.
//!
//! The one invariant: everything outside reads [`RunEvent`], a stable form made from the journal's records
//! alone; what the machines store is their own business.
//!
//! ```
//! use thermidor_agent_runtime::AgentSpec;
//! use thermidor_model_runtime::{ModelRuntime, Rehearsal};
//! use thermidor_runs::{RunRequest, Runs};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let models = ModelRuntime::builder().register(Rehearsal::instant()).build()?;
//! let runs = Runs::builder(models).build()?;
//! let ada: AgentSpec = serde_json::from_str(r#"{"member":"ada","name":"Ada","model":"rehearsal/extractive"}"#)?;
//! let run = runs.start(RunRequest::agent(ada, "Plan a tea timer")).await?;
//! let id = run.id();
//! assert!(run.answer().await?.contains("tea timer"));
//! assert!(!runs.show(id).await?.events.is_empty());
//! # Ok(()) }
//! ```

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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

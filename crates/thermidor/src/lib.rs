//! Teams of language-model agents that work in the open and survive a crash.
//!
//! This crate is the short way in: [`Agent`], [`Team`] and [`Models`], put on top of the crates that do the
//! work, which are here under their own names. Nothing is done here that they could not do without it.
//!
//! ```
//! use thermidor::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let agent = Agent::new("planner", "You plan small projects.");
//! let answer = agent.ask("A tea timer for forgetful readers").await?;
//! # assert!(answer.contains("forgetful readers"));
//! println!("{answer}");
//! # Ok(()) }
//! ```
//!
//! Nobody handed in a key here, so the built-in rehearsal model answers, and everything can be seen without a
//! network. `.models(Models::from_env()?)` takes the keys that the environment has. What happens while a team
//! works is a stream of events:
//!
//! ```
//! use thermidor::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let team = Team::new("debate")
//!     .member(Agent::new("for", "You argue for the motion."))
//!     .member(Agent::new("against", "You answer what was said for it."))
//!     .member(Agent::new("judge", "You weigh both sides and decide."));
//! let run = team.start("Tea is better than coffee").await?;
//! let mut events = run.events().await?;
//! while let Some(event) = events.next().await {
//!     if let RunEventKind::TurnEnded { member, text, .. } = event?.kind {
//!         println!("{member}: {text}");
//!     }
//! }
//! # assert!(!run.answer().await?.is_empty());
//! # Ok(()) }
//! ```

mod agent;
mod environment;
mod error;
mod frozen;
mod house;
mod models;
mod own_steps;
pub mod prelude;
mod team;

pub use agent::Agent;
pub use error::{Error, ErrorKind};
pub use models::{Models, ModelsBuilder};
pub use team::Team;

pub use thermidor_agent_runtime as agent_runtime;
pub use thermidor_context_engine as context_engine;
pub use thermidor_group_orchestration as group_orchestration;
pub use thermidor_model_runtime as model_runtime;
pub use thermidor_runs as runs;
pub use thermidor_skills as skills;
pub use thermidor_step_engine as step_engine;
#[cfg(feature = "sqlite")]
pub use thermidor_storage as storage;
pub use thermidor_task_graph as task_graph;
pub use thermidor_teams as teams;
pub use thermidor_tools as tools;
pub use thermidor_types as types;

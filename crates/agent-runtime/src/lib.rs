//! Agents as durable runs: model turns and tool calls, decided purely and recorded before they happen.
//!
//! An [`Agent`] decides ([`ChatAgent`], or a closure of yours), the [`AgentMachine`] keeps what must hold
//! whatever is decided, the [`AgentExecutor`] builds prompts, calls models and runs tools. A run of kind
//! `agent` is opened with an [`AgentSpec`], begins with an [`Assignment`] and ends with an [`AgentOutput`].
//!
//! Invariant: every tool call has exactly one result on every path; what did not end properly is no finished answer.
//!
//! ```
//! use std::sync::Arc;
//! use thermidor_agent_runtime::{AgentCommand, AgentOutput, AgentSetup, AgentSpec, Assignment, agent_kind};
//! use thermidor_model_runtime::{ChatModel, Rehearsal};
//! use thermidor_step_engine::{Driven, Engine, Kinds, Limits, MemoryJournal, Start};
//! use thermidor_types::{Json, RandomIds, Timestamp, TreeId};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = || Timestamp::from_millis(1_780_000_000_000);
//! let model: Arc<dyn ChatModel> = Arc::new(Rehearsal::new());
//! let kinds = Kinds::new().with(agent_kind(AgentSetup::new(model, clock)));
//! let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds, clock);
//!
//! let spec: AgentSpec = serde_json::from_str(r#"{"member": "ada", "name": "Ada", "model": "rehearsal/extract"}"#)?;
//! let assignment = Assignment { request: "Plan a tea timer".into(), ..Assignment::default() };
//! let start = Start {
//!     kind: "agent".into(),
//!     spec: Json::of(&spec)?,
//!     command: Json::of(&AgentCommand::Start(Box::new(assignment)))?,
//!     limits: Limits::default(),
//!     title: "A tea timer".into(),
//! };
//! let run = TreeId::fresh(&RandomIds);
//! engine.start(run, start).await?;
//! let Driven::Ended(end) = engine.drive(run, &Default::default()).await? else { unreachable!() };
//! assert!(end.output.read::<AgentOutput>()?.text.contains("tea timer"));
//! # Ok(()) }
//! ```

mod chat_agent;
mod contract;
mod decide;
mod due;
mod event;
mod executor;
mod facts;
mod kind;
mod machine;
mod model_call;
mod models;
mod outcome;
mod partial;
mod policy;
mod prompt;
mod settle;
mod spec;
mod state;
#[cfg(test)]
mod tests;

pub use chat_agent::ChatAgent;
pub use contract::{ProjectFile, count_words, parse_files};
pub use decide::{Agent, AgentView, Decision, FinishReason, Instruction, Offer, Phase};
pub use executor::AgentExecutor;
pub use facts::{AgentFact, Latency, facts};
pub use kind::{AgentSetup, OpenAgent, agent_kind};
pub use machine::{AgentMachine, UNKNOWN_OUTCOME};
pub use models::{Models, Tries};
pub use outcome::{AgentEffect, AgentOutcome, CallReport, Cut, ModelReply, Reply, ToolReply};
pub use partial::CallFragment;
pub use policy::{ToolPolicies, ToolPolicy};
pub use spec::{
    AgentCommand, AgentOutput, AgentSpec, Assignment, Contract, FrozenSkill, Resolution, UpstreamOutput,
};
pub use state::AgentState;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

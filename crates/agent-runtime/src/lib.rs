//! The agent machine: model turns and tool calls as durable steps.

mod chat_agent;
mod contract;
mod decide;
mod due;
mod event;
mod facts;
mod machine;
mod outcome;
mod policy;
mod settle;
mod spec;
mod state;
#[cfg(test)]
mod tests;

pub use chat_agent::ChatAgent;
pub use contract::{ProjectFile, count_words, parse_files};
pub use decide::{Agent, AgentView, Decision, FinishReason, Instruction, Offer, Phase};
pub use facts::{AgentFact, Latency, facts};
pub use machine::{AgentMachine, UNKNOWN_OUTCOME};
pub use outcome::{AgentEffect, AgentOutcome, CallReport, Cut, ModelReply, Reply, ToolReply};
pub use policy::{ToolPolicies, ToolPolicy};
pub use spec::{
    AgentCommand, AgentOutput, AgentSpec, Assignment, Contract, FrozenSkill, Resolution, UpstreamOutput,
};
pub use state::AgentState;

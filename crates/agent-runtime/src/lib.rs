//! The agent machine: model turns and tool calls as durable steps.

mod spec;

pub use spec::{
    AgentCommand, AgentOutput, AgentSpec, Assignment, Contract, FrozenSkill, UpstreamOutput,
};

//! What programs use most: `use thermidor::prelude::*;`.

pub use crate::{
    Agent, Error, ErrorKind, Models, Team,
    agent_runtime::Contract,
    context_engine::{
        ContextProvider, Contribution, Draft, MessageProcessor, View, processor_fn, provider_fn,
    },
    group_orchestration::{Call, ContextView, Decide, Decision, GroupView, StageSpec, Supervisor},
    model_runtime::ChatModel,
    runs::{Events, Outcome, Run, RunEvent, RunEventKind, Runs},
    step_engine::Limits,
    tools::{
        Arguments, Calculator, JsonSchema, Tool, ToolContext, ToolOutput, ToolSpec, async_trait, tool_fn,
    },
    types::{Message, Text, Tokens},
};

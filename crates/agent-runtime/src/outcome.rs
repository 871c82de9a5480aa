use serde::{Deserialize, Serialize};
use thermidor_types::{AssistantMessage, Failure, Json, ToolCall, ToolResult, Usage};

use crate::Offer;

/// What an executor of agents is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEffect {
    /// Call the model.
    CallModel {
        /// Whether it gets tools.
        tools: Offer,
    },
    /// Run a tool call.
    CallTool(ToolCall),
}

/// What an executor of agents found out.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentOutcome {
    /// Of a model call.
    Model(Box<ModelReply>),
    /// Of a tool call.
    Tool(ToolReply),
}

/// What came of a model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// The answer, or why there is none.
    pub reply: Reply,
    /// What is to be kept of how it went.
    pub call: CallReport,
}

/// The answer, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The model answered to its end, or to the length allowed. Calls carry registered names.
    Said(AssistantMessage),
    /// Part of an answer.
    CutOff(AssistantMessage, Cut),
    /// No answer, after all tries; and what they consumed.
    Failed(Failure, Usage),
}

/// Why an answer broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The call was no longer wanted.
    Cancelled,
    /// The connection or the provider failed.
    Broken(Failure),
}

/// How a model call went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// Requests sent, failed ones included; 0 when it did not come to one.
    #[serde(default)]
    pub attempts: u32,
    /// Milliseconds until the first fragment, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<u64>,
    /// Milliseconds in all.
    #[serde(default)]
    pub total_ms: u64,
    /// What the prompt was made of: a [`Report`](thermidor_context_engine::Report) as JSON, `null` without a prompt.
    #[serde(default)]
    pub context: Json,
}

/// What came of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolReply {
    /// The tool was done, in whatever way.
    Answered(ToolResult),
    /// It was told to stop before it was done; what can be said of it.
    CutOff(ToolResult),
    /// It was told to stop before anything happened.
    NotBegun,
}

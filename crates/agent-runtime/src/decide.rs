use std::fmt;

use thermidor_types::{AssistantMessage, CallId, Chunked, Failure, Message, Text, ToolCall};

use crate::{AgentSpec, AgentState, Assignment, state::Due};

/// Decides what an agent does next. Pure: no I/O, clock or chance; the same view gives the same decision.
///
/// A decision is recorded before it runs, so another version of an agent never changes the past. It is asked
/// when something is due: when the run begins, when the model has answered, when all calls of an answer have
/// their results, when a model call has failed.
///
/// A closure is an agent too:
///
/// ```
/// use thermidor_agent_runtime::{Agent, AgentView, ChatAgent, Decision, Instruction, Phase};
///
/// /// Runs no more than the first tool call of an answer.
/// let careful = |agent: &AgentView<'_>| match (agent.phase(), agent.open_calls().next()) {
///     (Phase::Answered(_), Some(first)) => Decision::of(Instruction::CallTool { call: first.id.clone() }),
///     _ => ChatAgent.decide(agent),
/// };
/// # fn check(_: impl Agent) {}
/// # check(careful);
/// ```
pub trait Agent: Send + Sync + 'static {
    /// Says what is newly wanted.
    fn decide(&self, agent: &AgentView<'_>) -> Decision<Instruction>;
}

impl<F: Fn(&AgentView<'_>) -> Decision<Instruction> + Send + Sync + 'static> Agent for F {
    fn decide(&self, agent: &AgentView<'_>) -> Decision<Instruction> {
        self(agent)
    }
}

/// What is newly wanted, and why.
///
/// Tool calls may stand beside each other; a model call or the end stands alone. Open calls that a decision
/// passes over are answered as refused, so that none is left without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<I> {
    /// What, in order.
    pub instructions: Vec<I>,
    /// Why, for people.
    pub reason: Option<Text>,
}

impl<I> Decision<I> {
    /// One instruction, without a reason.
    pub fn of(instruction: I) -> Self {
        Self { instructions: vec![instruction], reason: None }
    }

    /// The same decision with its reason.
    #[must_use]
    pub fn because(self, reason: impl Into<Text>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// One thing an agent can decide to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Call the model. The last call a run is allowed gets no tools, whatever is offered.
    CallLlm {
        /// Whether the agent's tools are offered to it.
        tools: Offer,
    },
    /// Run an open tool call.
    CallTool {
        /// Which one.
        call: CallId,
    },
    /// Run open tool calls beside each other.
    CallToolsBatch {
        /// Which ones.
        calls: Vec<CallId>,
    },
    /// End the run.
    Finish {
        /// Why.
        reason: FinishReason,
    },
}

/// Whether tools are offered to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Offer {
    /// The agent's tools.
    #[default]
    Tools,
    /// None: an answer in words is wanted. Calls that come nevertheless are refused.
    Nothing,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The agent has answered. The answer is checked against the contract.
    Completed,
    /// As `Completed`, but the answer was forced: it was the last model call allowed, without tools.
    MaxCallsCompleted,
    /// It cannot go on.
    Failed(Failure),
}

/// What an [`Agent`] decides by.
#[derive(Clone, Copy)]
pub struct AgentView<'a> {
    spec: &'a AgentSpec,
    assignment: &'a Assignment,
    state: &'a AgentState,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase<'a> {
    /// The run has begun.
    Begun,
    /// The model has answered; its calls are [open](AgentView::open_calls).
    Answered(&'a AssistantMessage),
    /// Every call of this answer has its result.
    CallsSettled(&'a AssistantMessage),
    /// The model call failed, after all tries.
    ModelFailed(&'a Failure),
}

impl<'a> AgentView<'a> {
    pub(crate) fn new(spec: &'a AgentSpec, assignment: &'a Assignment, state: &'a AgentState) -> Self {
        Self { spec, assignment, state }
    }

    /// The agent's frozen configuration.
    pub fn spec(&self) -> &'a AgentSpec {
        self.spec
    }

    /// What the agent is to do; its history is in [`AgentView::history`].
    pub fn assignment(&self) -> &'a Assignment {
        self.assignment
    }

    /// The conversation so far, this run's part included.
    pub fn history(&self) -> &'a Chunked<std::sync::Arc<Message>> {
        &self.state.history
    }

    /// What is due.
    pub fn phase(&self) -> Phase<'a> {
        let answer = match self.state.history.last().map(std::convert::AsRef::as_ref) {
            Some(Message::Assistant(answer)) => Some(answer),
            Some(Message::User(_) | Message::System(_)) | None => None,
        };
        match (self.state.due, answer, &self.state.failure) {
            (Some(Due::Answered), Some(answer), _) => Phase::Answered(answer),
            (Some(Due::CallsSettled), Some(answer), _) => Phase::CallsSettled(answer),
            (Some(Due::Failed), _, Some(failure)) => Phase::ModelFailed(failure),
            _ => Phase::Begun,
        }
    }

    /// The calls of the last answer that have no result yet, in its order.
    pub fn open_calls(&self) -> impl Iterator<Item = &'a ToolCall> + use<'a> {
        self.state.open.iter().map(|open| &open.call)
    }

    /// Model calls made so far; one that broke off and was made again counts once.
    pub fn calls_made(&self) -> u32 {
        self.state.turns
    }

    /// Model calls still allowed.
    pub fn calls_left(&self) -> u32 {
        self.spec.max_calls.max(1).saturating_sub(self.state.turns)
    }
}

impl fmt::Debug for AgentView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentView")
            .field("member", &self.spec.member)
            .field("phase", &self.phase())
            .field("calls_made", &self.calls_made())
            .finish_non_exhaustive()
    }
}

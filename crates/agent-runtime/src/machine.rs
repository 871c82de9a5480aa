use std::sync::Arc;

use thermidor_context_engine::Language;
use thermidor_step_engine::{
    Effect, EffectKey, End, How, Input, Machine, Moment, Next, Open, Question, Recovery, Refusal, Signal,
    Work,
};
use thermidor_types::{Json, Text, Tokens, ToolResult};

use crate::{
    Agent, AgentCommand, AgentEffect, AgentOutcome, AgentSpec, AgentState, ChatAgent, Resolution,
    ToolPolicies,
    event::AgentEvent,
    state::{OpenCall, Stage},
};

/// The kind of the question what became of a tool call whose outcome is unknown. Its detail is the call; the
/// answer is [`AgentCommand::ResolveUnknown`].
pub const UNKNOWN_OUTCOME: &str = "unknown_outcome";

/// The keys of model calls are `model:N`, of tool runs `tool:N`, of questions `unknown:N`, of the wait after model
/// call N broke off `wait:N`.
pub(crate) const MODEL: &str = "model";
pub(crate) const TOOL: &str = "tool";
const UNKNOWN: &str = "unknown";
const WAIT: &str = "wait";

/// The tokens reserved while a model call runs.
const RESERVE: Tokens = Tokens(2_000);

/// One agent's run as a pure machine: model turns and tool calls until there is an answer.
///
/// What to do next an [`Agent`] decides ([`ChatAgent`] unless another is given); everything that must hold
/// whatever it decides is kept here: every call has exactly one result on every path, an answer that did not
/// end properly never counts as finished, no more model calls than allowed, an orderly stop.
pub struct AgentMachine {
    pub(crate) spec: Arc<AgentSpec>,
    pub(crate) tools: ToolPolicies,
    pub(crate) agent: Arc<dyn Agent>,
}

impl AgentMachine {
    /// The machine of an agent whose tools have these policies.
    pub fn new(spec: impl Into<Arc<AgentSpec>>, tools: ToolPolicies) -> Self {
        Self { spec: spec.into(), tools, agent: Arc::new(ChatAgent) }
    }

    /// Has `agent` decide.
    #[must_use]
    pub fn deciding(self, agent: Arc<dyn Agent>) -> Self {
        Self { agent, ..self }
    }

    fn resolve(state: &AgentState, call: &OpenCall, resolution: Resolution) -> Result<AgentEvent, Refusal> {
        let id = call.call.id.clone();
        match (call.stage, resolution) {
            _ if state.stopping.is_some() => Err(Refusal::new("the run is stopping")),
            (Stage::Asked | Stage::Running(_), _) => {
                Err(Refusal::new(format!("nobody asks about the call {id}")))
            }
            (Stage::Lost(_), Resolution::Retry) => Ok(AgentEvent::CallRetried { id }),
            (Stage::Lost(_), Resolution::Done(text)) => {
                Ok(AgentEvent::CallSettled { id, result: ToolResult::text(text) })
            }
        }
    }

    /// The work that a call wants now.
    fn tool_work(&self, open: &OpenCall, language: Language) -> Option<(EffectKey, Work<AgentEffect>)> {
        match open.stage {
            Stage::Asked => None,
            Stage::Running(number) => {
                let policy = self.tools.get(&open.call.name);
                let call = AgentEffect::CallTool(open.call.clone());
                let effect = match policy.recovery {
                    Recovery::Repeat => Effect::repeatable(call),
                    Recovery::Ask => Effect::once(call),
                };
                Some((EffectKey::new(TOOL, number), Work::Effect(effect.within(policy.deadline))))
            }
            Stage::Lost(number) => {
                let name = &open.call.name;
                let text: Text = language
                    .pick(
                        format!(
                            "The tool `{name}` was cut off: it may or may not have taken effect. Did it?"
                        ),
                        format!("工具 `{name}` 中途被打断，可能已经生效，也可能没有。它生效了吗？"),
                    )
                    .into();
                // A call is plain data with text keys and always has a JSON form.
                let detail = Json::of(&open.call).unwrap_or_default();
                let question = Question { kind: UNKNOWN_OUTCOME.into(), text, detail };
                Some((EffectKey::new(UNKNOWN, number), Work::Person(question)))
            }
        }
    }
}

impl Machine for AgentMachine {
    type State = AgentState;
    type Command = AgentCommand;
    type Instruction = AgentEffect;
    type Outcome = AgentOutcome;
    type Event = AgentEvent;

    const KIND: &'static str = "agent";
    const VERSION: u32 = 1;

    fn handle(
        &self,
        state: &AgentState,
        input: Input<Self>,
        at: &Moment<'_>,
    ) -> Result<Vec<AgentEvent>, Refusal> {
        match input {
            Input::Command(AgentCommand::Start(assignment)) => match state.assignment {
                None => Ok(vec![AgentEvent::Assigned(assignment)]),
                Some(_) => Err(Refusal::new("the agent has its assignment already")),
            },
            Input::Command(AgentCommand::ResolveUnknown { call, resolution }) => match state.call(&call) {
                Some(open) => Self::resolve(state, open, resolution).map(|event| vec![event]),
                None => Err(Refusal::new(format!("there is no open call {call}"))),
            },
            Input::Signal(_) if state.end.is_some() || state.stopping.is_some() => Ok(Vec::new()),
            Input::Signal(Signal::Stop) => Ok(vec![AgentEvent::StopAsked]),
            Input::Signal(Signal::Limit) => Ok(vec![AgentEvent::LimitReached]),
            Input::Settled { key, how } => Ok(match key.name() {
                MODEL if state.thinking && key.number() == state.calls => {
                    self.model_settled(state, how, at.now)
                }
                TOOL => self.tool_settled(state, key.number(), how),
                WAIT if state.wait_until.is_some() && key.number() == state.calls => vec![Self::again(state)],
                // Nothing else was ever wanted.
                _ => Vec::new(),
            }),
        }
    }

    fn apply(state: &mut AgentState, event: &AgentEvent) {
        state.apply(event);
    }

    fn next(&self, state: &AgentState, open: &Open) -> Next<Self> {
        let Some(assignment) = &state.assignment else { return Next::Want(Vec::new()) };
        if let Some(signal) = state.stopping {
            return if open.is_empty() {
                Next::Record(Self::closing(state, signal))
            } else {
                Next::Want(Vec::new())
            };
        }
        if state.thinking {
            let effect = Effect::repeatable(AgentEffect::CallModel { tools: state.offer }).reserving(RESERVE);
            return Next::Want(vec![(EffectKey::new(MODEL, state.calls), Work::Effect(effect))]);
        }
        if let Some(moment) = state.wait_until {
            return Next::Want(vec![(EffectKey::new(WAIT, state.calls), Work::Timer(moment))]);
        }
        if let Some(due) = state.due {
            return Next::Record(self.due(state, assignment, due));
        }
        let language = Language::of(&assignment.request);
        Next::Want(state.open.iter().filter_map(|open| self.tool_work(open, language)).collect())
    }

    fn end(state: &AgentState) -> Option<End> {
        state.end.clone()
    }
}

impl std::fmt::Debug for AgentMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentMachine").field("member", &self.spec.member).finish_non_exhaustive()
    }
}

/// What happened to a settlement that no effect of this machine can have.
pub(crate) fn foreign<O>(how: &How<O>) -> String {
    format!("a defect: this work cannot end as {:?}", how.kind())
}

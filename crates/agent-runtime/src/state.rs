use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use thermidor_step_engine::{End, EndStatus, Signal};
use thermidor_types::{
    AssistantMessage, CallId, Chunked, Ending, Failure, Json, Message, ModelId, Text, Timestamp, ToolCall,
    ToolResult, Usage,
};

use crate::{
    AgentOutput, Assignment, Offer,
    event::{AgentEvent, Attempt, Spoke},
};

/// What is known of an agent's run, folded from its events.
///
/// The calls that are open and all counters stand here, so nothing is searched for in the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// Without its history, which begins `history`.
    pub(crate) assignment: Option<Arc<Assignment>>,
    pub(crate) history: Chunked<Arc<Message>>,
    /// The highest number among call ids of our form in the history that was handed in.
    pub(crate) used_ids: u32,
    /// The number of the last model call.
    pub(crate) calls: u32,
    /// The model calls that count.
    pub(crate) turns: u32,
    /// Whether the call `calls` is wanted.
    pub(crate) thinking: bool,
    pub(crate) offer: Offer,
    pub(crate) due: Option<Due>,
    /// Answers in a row that broke off.
    pub(crate) breaks: u32,
    /// The call is made again at this moment, and not before.
    pub(crate) wait_until: Option<Timestamp>,
    /// The calls of the last answer that have no result, in its order.
    pub(crate) open: Vec<OpenCall>,
    /// The number of the last run of a tool.
    pub(crate) tool_runs: u32,
    pub(crate) usage: Usage,
    pub(crate) said: Option<Said>,
    pub(crate) repair: Option<Repair>,
    pub(crate) unfit: Vec<Text>,
    pub(crate) failure: Option<Failure>,
    pub(crate) stopping: Option<Signal>,
    pub(crate) end: Option<End>,
}

/// What has to be decided next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Due {
    Begun,
    Answered,
    CallsSettled,
    Failed,
    /// The same model call once more.
    Again,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) call: ToolCall,
    pub(crate) stage: Stage,
}

/// How far an open call has come. The number is that of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    Asked,
    Running(u32),
    Lost(u32),
}

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) text: Text,
    pub(crate) model: Option<ModelId>,
    pub(crate) ending: Ending,
}

/// A repair that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repair {
    pub(crate) words: Text,
    pub(crate) first: Said,
    pub(crate) faults: Vec<Text>,
}

impl AgentState {
    /// What the agent is to do, once it knows; without the history.
    pub fn assignment(&self) -> Option<&Arc<Assignment>> {
        self.assignment.as_ref()
    }

    /// The conversation so far, this run's part included.
    pub fn history(&self) -> &Chunked<Arc<Message>> {
        &self.history
    }

    /// How the model is asked to repair its answer, while it is.
    pub fn repair_words(&self) -> Option<&Text> {
        self.repair.as_ref().map(|repair| &repair.words)
    }

    /// What the ids of the tool calls in model call `call` begin with: not used by any other call that the
    /// model sees, also none of an earlier run.
    pub(crate) fn id_prefix(&self, call: u32) -> SmolStr {
        format_smolstr!("c{}", self.used_ids.saturating_add(call))
    }

    pub(crate) fn call(&self, id: &CallId) -> Option<&OpenCall> {
        self.open.iter().find(|open| open.call.id == *id)
    }

    pub(crate) fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Assigned(assignment) => self.assign(assignment),
            AgentEvent::TurnBegan(turn) => {
                (self.calls, self.turns, self.offer) = (turn.call, turn.turn, turn.tools);
                (self.thinking, self.due, self.wait_until) = (true, None, None);
            }
            AgentEvent::Spoke(spoke) => self.speak(spoke),
            AgentEvent::BrokeOff { spoke, counts, wait_until } => {
                self.usage += spoke.message.usage;
                self.breaks += u32::from(*counts);
                self.wait_until = *wait_until;
                (self.thinking, self.due) = (false, Some(Due::Again));
            }
            AgentEvent::TurnStopped { usage, .. } => {
                self.usage += *usage;
                (self.thinking, self.due) = (false, Some(Due::Again));
            }
            AgentEvent::ModelFailed(failed) => {
                self.usage += failed.usage;
                self.failure = Some(failed.failure.clone());
                (self.thinking, self.due, self.wait_until) = (false, Some(Due::Failed), None);
            }
            AgentEvent::GaveUp { failure } => self.failure = Some(failure.clone()),
            AgentEvent::CallsBegan { calls, .. } => {
                self.due = None;
                for id in calls {
                    self.run(id);
                }
            }
            AgentEvent::CallSettled { id, result } => self.settle(&[(id.clone(), result.clone())]),
            AgentEvent::CallsSettled { settled } => self.settle(settled),
            AgentEvent::CallLost { id } => {
                if let Some(open) = self.open.iter_mut().find(|open| open.call.id == *id)
                    && let Stage::Running(number) = open.stage
                {
                    open.stage = Stage::Lost(number);
                }
            }
            AgentEvent::CallRetried { id } => self.run(id),
            AgentEvent::Unfit { faults } => self.unfit.clone_from(faults),
            AgentEvent::RepairAsked { words } => {
                let first = self.said.clone().unwrap_or(Said {
                    text: Text::default(),
                    model: None,
                    ending: Ending::Finished,
                });
                self.repair = Some(Repair { words: words.clone(), first, faults: self.unfit.clone() });
            }
            AgentEvent::RepairJudged { kept, faults } => {
                self.unfit.clone_from(faults);
                if let (Some(repair), Attempt::First) = (self.repair.take(), kept) {
                    self.said = Some(repair.first);
                }
            }
            AgentEvent::StopAsked => self.stopping = Some(Signal::Stop),
            AgentEvent::LimitReached => self.stopping = Some(Signal::Limit),
            AgentEvent::Ended { status, reason } => self.finish(*status, reason.clone()),
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        self.used_ids =
            assignment.history.iter().flat_map(exchange_ids).filter_map(our_number).max().unwrap_or(0);
        self.history = assignment.history.iter().cloned().map(Arc::new).collect();
        // Behind an earlier conversation the request is what the user says now. Without one it stands in the
        // prompt as a block of its own.
        let answered = self.history.last().is_some_and(|last| matches!(**last, Message::Assistant(_)));
        if answered && !assignment.request.trim().is_empty() {
            self.history.push(Arc::new(Message::user(assignment.request.clone())));
        }
        self.assignment = Some(Arc::new(Assignment { history: Vec::new(), ..assignment.clone() }));
        self.due = Some(Due::Begun);
    }

    fn speak(&mut self, spoke: &Spoke) {
        let message = &spoke.message;
        self.usage += message.usage;
        (self.thinking, self.breaks) = (false, 0);
        let text = message.text();
        if !text.is_empty() {
            self.said =
                Some(Said { text: text.into(), model: message.model.clone(), ending: message.ending });
        }
        let open = message.exchanges().filter(|exchange| exchange.result.is_none());
        self.open =
            open.map(|exchange| OpenCall { call: exchange.call.clone(), stage: Stage::Asked }).collect();
        let settled = self.open.is_empty() && message.exchanges().next().is_some();
        self.due = Some(if settled { Due::CallsSettled } else { Due::Answered });
        self.history.push(Arc::new(Message::Assistant(message.clone())));
    }

    fn run(&mut self, id: &CallId) {
        if let Some(open) = self.open.iter_mut().find(|open| open.call.id == *id) {
            self.tool_runs += 1;
            open.stage = Stage::Running(self.tool_runs);
        }
    }

    /// Puts results into the answer that asked for them: the last message, as long as calls are open.
    fn settle(&mut self, settled: &[(CallId, ToolResult)]) {
        let Some(Message::Assistant(answer)) = self.history.last().map(AsRef::as_ref) else { return };
        let mut answer: AssistantMessage = answer.clone();
        for exchange in answer.exchanges_mut().filter(|exchange| exchange.result.is_none()) {
            let result = settled.iter().find(|(id, _)| *id == exchange.call.id);
            exchange.result = result.map(|(_, result)| result.clone());
        }
        self.history.replace(self.history.len() - 1, Arc::new(Message::Assistant(answer)));
        self.open.retain(|open| settled.iter().all(|(id, _)| *id != open.call.id));
        if self.open.is_empty() {
            self.due = Some(Due::CallsSettled);
        }
    }

    fn finish(&mut self, status: EndStatus, reason: Option<Text>) {
        let failure = if status == EndStatus::Failed { self.failure.clone() } else { None };
        let said = self.said.clone();
        let output = AgentOutput {
            model: said.as_ref().and_then(|said| said.model.clone()),
            text: said.map(|said| said.text).unwrap_or_default(),
            usage: self.usage,
            unfit: self.unfit.clone(),
            failure,
        };
        // Plain data with text keys always has a JSON form.
        let output = Json::of(&output).unwrap_or_default();
        (self.thinking, self.due) = (false, None);
        self.end = Some(End { status, output, reason });
    }
}

fn exchange_ids(message: &Message) -> impl Iterator<Item = &CallId> {
    let answer = match message {
        Message::Assistant(answer) => Some(answer),
        Message::System(_) | Message::User(_) => None,
    };
    answer.into_iter().flat_map(|answer| answer.exchanges().map(|exchange| &exchange.call.id))
}

/// The number of the model call in an id of our form, `c7.0`.
fn our_number(id: &CallId) -> Option<u32> {
    id.as_str().strip_prefix('c')?.split_once('.')?.0.parse().ok()
}

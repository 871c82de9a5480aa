//! What the end of a piece of work means, as events.

use std::time::Duration;

use thermidor_context_engine::Language;
use thermidor_step_engine::{How, Recovery};
use thermidor_types::{
    AssistantMessage, CallId, Ending, Failure, FailureKind, Origin, OriginKind, Part, Timestamp, ToolOutcome,
    ToolResult, Usage,
};

use crate::{
    AgentMachine, AgentOutcome, AgentState, CallReport, Cut, ModelReply, Offer, Reply, ToolReply,
    event::{AgentEvent, ModelFailed, Spoke},
    machine::foreign,
    state::{OpenCall, Stage},
};

/// How long a call waits before it is made again: after the first answer in a row that broke off, after the
/// second. When the one after these breaks off too, the run fails.
///
/// A stream that ends in its middle mostly means that the other side is overloaded or restarts: half a second is
/// enough for another server to take over, and two more for a short overload to pass; longer ones end the run,
/// which can be resumed, rather than keep people waiting.
const WAITS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

impl AgentMachine {
    pub(crate) fn model_settled(
        &self,
        state: &AgentState,
        how: How<AgentOutcome>,
        now: Timestamp,
    ) -> Vec<AgentEvent> {
        let failed = |kind, words: String| {
            let failure = Failure::new(kind, words);
            let report = CallReport::default();
            vec![AgentEvent::ModelFailed(Box::new(ModelFailed {
                call: state.calls,
                failure,
                usage: Usage::default(),
                report,
            }))]
        };
        match how {
            How::Done(AgentOutcome::Model(reply)) => self.replied(state, *reply, now),
            How::Abandoned => vec![AgentEvent::TurnStopped { call: state.calls, usage: Usage::default() }],
            How::TimedOut => failed(FailureKind::Timeout, "the model did not answer in time".into()),
            How::Unknown => failed(FailureKind::Internal, "the model call crashed too often".into()),
            How::Done(AgentOutcome::Tool(_)) | How::Child(_) | How::Fired => {
                failed(FailureKind::Internal, foreign(&how))
            }
        }
    }

    fn replied(&self, state: &AgentState, reply: ModelReply, now: Timestamp) -> Vec<AgentEvent> {
        let ModelReply { reply, call: report } = reply;
        let (message, cut) = match reply {
            Reply::Failed(failure, usage) => {
                let failed = ModelFailed { call: state.calls, failure, usage, report };
                return vec![AgentEvent::ModelFailed(Box::new(failed))];
            }
            Reply::CutOff(message, cut) => (message, Some(cut)),
            Reply::Said(message) if message.ending == Ending::CutOff => {
                (message, Some(Cut::Broken(Failure::new(FailureKind::Network, "the answer broke off"))))
            }
            Reply::Said(message) if !says_something(&message) => (
                message,
                Some(Cut::Broken(Failure::new(FailureKind::Malformed, "the model answered nothing"))),
            ),
            Reply::Said(message) => (message, None),
        };
        let usage = message.usage;
        let spoke =
            Box::new(Spoke { call: state.calls, message: self.own(state, message, cut.is_some()), report });
        match cut {
            None => vec![AgentEvent::Spoke(spoke)],
            Some(_) if state.stopping.is_some() && says_something(&spoke.message) => {
                vec![AgentEvent::Spoke(spoke)]
            }
            Some(_) if state.stopping.is_some() => vec![AgentEvent::TurnStopped { call: state.calls, usage }],
            Some(Cut::Cancelled) => {
                vec![AgentEvent::BrokeOff { spoke, counts: false, wait_until: None }]
            }
            Some(Cut::Broken(failure)) => {
                let wait = WAITS.get(state.breaks as usize);
                let wait_until = wait.map(|wait| now.after(*wait));
                let broke = AgentEvent::BrokeOff { spoke, counts: true, wait_until };
                if wait.is_some() {
                    return vec![broke];
                }
                // What it consumed and how it went stands in the break already.
                let (usage, report) = (Usage::default(), CallReport::default());
                let failed = ModelFailed { call: state.calls, failure, usage, report };
                vec![broke, AgentEvent::ModelFailed(Box::new(failed))]
            }
        }
    }

    /// Makes a model's message ours: its author, ids of its calls that are unique in the run, and a result for
    /// every call that may not run.
    fn own(&self, state: &AgentState, mut message: AssistantMessage, cut: bool) -> AssistantMessage {
        let assignment = state.assignment.as_deref();
        let turn = assignment.map(|assignment| assignment.turn).filter(|turn| *turn > 0);
        message.origin = Origin { kind: OriginKind::Member, member: Some(self.spec.member.clone()), turn };
        if cut {
            message.ending = Ending::CutOff;
        }
        let language = Language::of(assignment.map_or("", |assignment| &assignment.request));
        let refused = match (message.ending, state.offer) {
            (Ending::Length | Ending::CutOff, _) => Some(ToolResult::failed(
                ToolOutcome::Interrupted,
                language.pick(
                    "The call did not run: the answer it stands in was not complete.",
                    "该调用没有执行：它所在的回答不完整。",
                ),
            )),
            (Ending::Finished, Offer::Nothing) => Some(ToolResult::failed(
                ToolOutcome::Refused,
                language.pick(
                    "The call did not run: no tools were offered. Answer in words.",
                    "该调用没有执行：此时没有可用的工具。请直接用文字回答。",
                ),
            )),
            (Ending::Finished, Offer::Tools) => None,
        };
        let prefix = state.id_prefix(state.calls);
        for (place, exchange) in message.exchanges_mut().enumerate() {
            exchange.call.id = CallId::from(format!("{prefix}.{place}"));
            exchange.result.clone_from(&refused);
        }
        message
    }

    pub(crate) fn tool_settled(
        &self,
        state: &AgentState,
        number: u32,
        how: How<AgentOutcome>,
    ) -> Vec<AgentEvent> {
        let running = state.open.iter().find(|open| open.stage == Stage::Running(number));
        let Some(OpenCall { call, .. }) = running else { return Vec::new() };
        let (id, recovery) = (call.id.clone(), self.tools.get(&call.name).recovery);
        let language = Language::of(state.assignment.as_deref().map_or("", |assignment| &assignment.request));
        let settled = |result| vec![AgentEvent::CallSettled { id: id.clone(), result }];
        let again = || vec![AgentEvent::CallRetried { id: id.clone() }];
        let lost = || vec![AgentEvent::CallLost { id: id.clone() }];
        let stopping = state.stopping.is_some();
        match how {
            How::Done(AgentOutcome::Tool(ToolReply::Answered(result))) => settled(result),
            How::Done(AgentOutcome::Tool(ToolReply::CutOff(result))) if stopping => settled(result),
            How::Done(AgentOutcome::Tool(ToolReply::CutOff(result))) => match (result.outcome, recovery) {
                (ToolOutcome::Interrupted | ToolOutcome::Unknown, Recovery::Repeat) => again(),
                // A tool with consequences that says it was interrupted knows what it did.
                (ToolOutcome::Interrupted, Recovery::Ask)
                | (ToolOutcome::Success | ToolOutcome::Error | ToolOutcome::Refused, _) => settled(result),
                (ToolOutcome::Unknown, Recovery::Ask) => lost(),
            },
            How::Done(AgentOutcome::Tool(ToolReply::NotBegun)) | How::Abandoned if stopping => {
                settled(interrupted(language))
            }
            How::Done(AgentOutcome::Tool(ToolReply::NotBegun)) | How::Abandoned => again(),
            How::TimedOut | How::Unknown if recovery == Recovery::Ask && stopping => {
                settled(unknown(language))
            }
            How::TimedOut | How::Unknown if recovery == Recovery::Ask => lost(),
            How::TimedOut => settled(ToolResult::failed(
                ToolOutcome::Error,
                language.pick("The tool did not finish in time.", "工具没有在限定时间内完成。"),
            )),
            How::Unknown => settled(ToolResult::failed(
                ToolOutcome::Error,
                language.pick("The tool crashed.", "工具崩溃了。"),
            )),
            How::Done(AgentOutcome::Model(_)) | How::Child(_) | How::Fired => {
                settled(ToolResult::failed(ToolOutcome::Error, foreign(&how)))
            }
        }
    }
}

/// The result of a call that never came to its end.
pub(crate) fn interrupted(language: Language) -> ToolResult {
    let words = language.pick("The call was stopped before it was done.", "该调用在完成前被停止。");
    ToolResult::failed(ToolOutcome::Interrupted, words)
}

/// The result of a call that may or may not have happened.
pub(crate) fn unknown(language: Language) -> ToolResult {
    let words = language.pick(
        "The call was cut off. It may or may not have taken effect: check before calling it again.",
        "该调用中途被打断，可能已经生效，也可能没有：再次调用之前请先核实。",
    );
    ToolResult::failed(ToolOutcome::Unknown, words)
}

fn says_something(message: &AssistantMessage) -> bool {
    message.parts.iter().any(|part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Exchange(_) | Part::Media(_) | Part::Native(_) => true,
        Part::Reasoning(_) => false,
    })
}

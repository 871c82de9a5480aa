use thermidor_step_engine::{EndStatus, Machine, Refusal};
use thermidor_types::{
    CallId, Content, Ending, Failure, Json, ModelId, Text, ToolCall, ToolOutcome, ToolResult, Usage,
};

use crate::{
    AgentMachine,
    event::{AgentEvent, Attempt, Spoke},
};

/// Something that happened in an agent's run, for front ends. Machine events stay private; this is what may
/// be relied on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AgentFact {
    /// The model is called. What was streamed by an earlier call that broke off is void.
    TurnBegan {
        /// The number of the call in the run, from 1: `model:N` is its effect key.
        call: u32,
    },
    /// The model said something. A tool call in it follows as a fact of its own.
    Said {
        /// In which call.
        call: u32,
        /// The words.
        text: Text,
        /// How it ended. [`Ending::CutOff`] is never a finished answer.
        ending: Ending,
        /// What it consumed.
        usage: Usage,
        /// The model that answered.
        model: Option<ModelId>,
        /// How long it took.
        latency: Latency,
        /// Requests sent, failed ones included.
        attempts: u32,
    },
    /// What the prompt of a call was made of.
    ContextReport {
        /// Which call.
        call: u32,
        /// A [`Report`](thermidor_context_engine::Report) as JSON.
        report: Json,
    },
    /// The model called a tool. Whether it runs is another question.
    ToolCalled {
        /// The call.
        call: ToolCall,
    },
    /// A call got its result.
    ToolFinished {
        /// Which call.
        id: CallId,
        /// How it went.
        outcome: ToolOutcome,
        /// The words of its result.
        text: Text,
    },
    /// A call may or may not have happened. A person is asked, unless the run stops.
    ToolLost {
        /// Which call.
        id: CallId,
    },
    /// The answer does not have the form asked for.
    Unfit {
        /// Where not.
        faults: Vec<Text>,
    },
    /// The model was asked to repair its answer.
    RepairAsked {
        /// In these words.
        words: Text,
    },
    /// Of the answer and its repair one was kept.
    Repaired {
        /// Whether the repair is the one.
        better: bool,
        /// What is wrong with the one kept still.
        faults: Vec<Text>,
    },
    /// A model call failed after all tries, or the agent gave up.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The run ended.
    Ended {
        /// Which way.
        status: EndStatus,
        /// Why, where it is not simply done.
        reason: Option<Text>,
    },
}

/// How long a model call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Milliseconds until the first fragment, when there was one.
    pub first_ms: Option<u64>,
    /// Milliseconds in all.
    pub total_ms: u64,
}

/// What an event of a run of kind `agent` says to the outside, in order; often nothing.
///
/// `version` is that of the event in its record.
///
/// # Errors
/// When this program does not know the version, or the event cannot be read.
pub fn facts(event: &Json, version: u32) -> Result<Vec<AgentFact>, Refusal> {
    let event = AgentMachine::upgrade(version, event.clone())?;
    let event = event.read().map_err(|error| Refusal::new(format!("not an event of an agent: {error}")))?;
    Ok(match event {
        AgentEvent::TurnBegan(turn) => vec![AgentFact::TurnBegan { call: turn.call }],
        AgentEvent::Spoke(spoke) | AgentEvent::BrokeOff { spoke, .. } => said(*spoke),
        AgentEvent::ModelFailed(failed) => {
            let report = AgentFact::ContextReport { call: failed.call, report: failed.report.context };
            let known =
                matches!(&report, AgentFact::ContextReport { report, .. } if *report != Json::default());
            let failed = AgentFact::Failed { failure: failed.failure };
            known.then_some(report).into_iter().chain([failed]).collect()
        }
        AgentEvent::GaveUp { failure } => vec![AgentFact::Failed { failure }],
        AgentEvent::CallSettled { id, result } => vec![finished(id, &result)],
        AgentEvent::CallsSettled { settled } => {
            settled.into_iter().map(|(id, result)| finished(id, &result)).collect()
        }
        AgentEvent::CallLost { id } => vec![AgentFact::ToolLost { id }],
        AgentEvent::Unfit { faults } => vec![AgentFact::Unfit { faults }],
        AgentEvent::RepairAsked { words } => vec![AgentFact::RepairAsked { words }],
        AgentEvent::RepairJudged { kept, faults } => {
            vec![AgentFact::Repaired { better: kept == Attempt::Second, faults }]
        }
        AgentEvent::Ended { status, reason } => vec![AgentFact::Ended { status, reason }],
        AgentEvent::Assigned(_)
        | AgentEvent::TurnStopped { .. }
        | AgentEvent::CallsBegan { .. }
        | AgentEvent::CallRetried { .. }
        | AgentEvent::StopAsked
        | AgentEvent::LimitReached => Vec::new(),
    })
}

fn said(spoke: Spoke) -> Vec<AgentFact> {
    let Spoke { call, message, report } = spoke;
    let mut facts = vec![
        AgentFact::ContextReport { call, report: report.context },
        AgentFact::Said {
            call,
            text: message.text().into(),
            ending: message.ending,
            usage: message.usage,
            model: message.model.clone(),
            latency: Latency { first_ms: report.first_ms, total_ms: report.total_ms },
            attempts: report.attempts,
        },
    ];
    for exchange in message.exchanges() {
        facts.push(AgentFact::ToolCalled { call: exchange.call.clone() });
        facts.extend(exchange.result.as_ref().map(|result| finished(exchange.call.id.clone(), result)));
    }
    facts
}

fn finished(id: CallId, result: &ToolResult) -> AgentFact {
    let words = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Media(_) => None,
    });
    AgentFact::ToolFinished { id, outcome: result.outcome, text: words.collect::<Vec<_>>().join("\n").into() }
}

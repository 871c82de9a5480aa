use serde::{Deserialize, Serialize};
use thermidor_step_engine::EndStatus;
use thermidor_types::{AssistantMessage, CallId, Failure, Text, Timestamp, ToolResult, Usage};

use crate::{Assignment, CallReport, Offer};

/// What happened in an agent's run. Private to this crate, which may change it with an upgrade: everybody
/// else reads [`facts`](crate::facts).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentEvent {
    /// The agent got something to do.
    Assigned(Box<Assignment>),
    /// It was decided to call the model.
    TurnBegan(TurnBegan),
    /// The model answered: to its end, to the length allowed, or until it was stopped.
    Spoke(Box<Spoke>),
    /// An answer broke off though nobody stopped it. The part that came is kept here and nowhere else: the
    /// call is made again from the same prompt.
    BrokeOff {
        /// The part that came.
        spoke: Box<Spoke>,
        /// Whether it counts against the bound of breaks in a row; a suspension does not.
        counts: bool,
        /// The moment before which the call is not made again; at once without one, as runs of earlier programs
        /// did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_until: Option<Timestamp>,
    },
    /// The model call was given up before anything came.
    TurnStopped {
        /// Which call.
        call: u32,
        /// What it consumed.
        #[serde(default, skip_serializing_if = "none")]
        usage: Usage,
    },
    /// The model call failed, after all tries.
    ModelFailed(Box<ModelFailed>),
    /// The agent gave up.
    GaveUp {
        /// Why.
        failure: Failure,
    },
    /// It was decided to run these calls.
    CallsBegan {
        /// Which ones.
        calls: Vec<CallId>,
        /// Why, when the decision said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// A call got its result.
    CallSettled {
        /// Which call.
        id: CallId,
        /// Its result.
        result: ToolResult,
    },
    /// All calls still open got their results.
    CallsSettled {
        /// Each call with its result.
        settled: Vec<(CallId, ToolResult)>,
    },
    /// A call may or may not have happened: a person is asked.
    CallLost {
        /// Which call.
        id: CallId,
    },
    /// A call that did not come to its end runs again, under a new key.
    CallRetried {
        /// Which call.
        id: CallId,
    },
    /// The answer does not have the form asked for.
    Unfit {
        /// Where not, in the language of the request.
        faults: Vec<Text>,
    },
    /// The model was asked to repair its answer.
    RepairAsked {
        /// In these words.
        words: Text,
    },
    /// Of the answer and its repair one was kept.
    RepairJudged {
        /// Which one.
        kept: Attempt,
        /// What is wrong with it still.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        faults: Vec<Text>,
    },
    /// Somebody asked the run to stop.
    StopAsked,
    /// A limit of the run was reached.
    LimitReached,
    /// The run ended.
    Ended {
        /// Which way.
        status: EndStatus,
        /// Why, where it is not simply done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
}

/// It was decided to call the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnBegan {
    /// The number of the call in this run, from 1.
    pub(crate) call: u32,
    /// The number that counts against the calls allowed: a call made again has its first one's.
    pub(crate) turn: u32,
    /// Whether it gets tools.
    pub(crate) tools: Offer,
    /// Why, when the decision said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Text>,
}

/// What the model said in one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spoke {
    /// Which call.
    pub(crate) call: u32,
    /// The message.
    pub(crate) message: AssistantMessage,
    /// How the call went.
    pub(crate) report: CallReport,
}

/// Why a model call gave nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// Which call.
    pub(crate) call: u32,
    /// Why.
    pub(crate) failure: Failure,
    /// What it consumed.
    #[serde(default, skip_serializing_if = "none")]
    pub(crate) usage: Usage,
    /// How the call went.
    #[serde(default)]
    pub(crate) report: CallReport,
}

/// The answer, or its repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attempt {
    /// The answer as it was first.
    First,
    /// The answer as it was repaired.
    Second,
}

fn none(usage: &Usage) -> bool {
    *usage == Usage::default()
}

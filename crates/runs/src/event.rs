use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_context_engine::Report;
use thermidor_step_engine::{EndStatus, LimitKind, NodeId, Spent};
use thermidor_types::{Ending, Failure, MemberId, ModelId, Text, Timestamp, ToolOutcome, TreeId, Usage};

/// The version of [`RunEvent`]'s form. Fields and types are added without raising it; readers pass over
/// what they do not know.
pub const EVENT_VERSION: u32 = 1;

/// Something that happened in a run: what every front end reads.
///
/// Serialised as one flat JSON object: `{"v":1,"run":"…","seq":7,"at":…,"node":1,"type":"turn_started",…}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// [`EVENT_VERSION`].
    pub v: u32,
    /// The run.
    pub run: TreeId,
    /// The number of the record it was made from, counted from 1. Several events may share one; a
    /// [`RunEventKind::Delta`] has the number of the last record before it.
    pub seq: u64,
    /// When it happened, in milliseconds since the Unix epoch.
    pub at: Timestamp,
    /// The run inside the tree: 0 is the root.
    pub node: NodeId,
    /// What happened.
    #[serde(flatten)]
    pub kind: RunEventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEventKind {
    /// The run opened.
    RunStarted {
        /// Its title.
        title: Text,
        /// The team's or agent's name.
        team: Text,
        /// The sentence it was given.
        request: Text,
    },
    /// A process took the run up: the first one, or one that goes on after a pause or a crash.
    RunResumed {
        /// How often that has happened, counted from 1.
        epoch: u64,
    },
    /// The supervisor decided something.
    Decided {
        /// What, in words of the architecture: `call_agent`, `parallel_call_agents`, `finish`.
        instruction: SmolStr,
        /// Why.
        because: Text,
    },
    /// A member's turn began.
    TurnStarted {
        /// Its number, counted from 1 in the group that the member belongs to.
        turn: u32,
        /// Who.
        member: MemberId,
        /// The member's name for people.
        name: Text,
        /// The stage it is for: `turn_N` where the supervisor named none.
        stage: SmolStr,
        /// The stage's title.
        title: Text,
    },
    /// A fragment of an answer on its way. Live only: it is in no journal.
    Delta {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// `text`, `reasoning` or `call`.
        channel: SmolStr,
        /// The attempt; a higher one voids the fragments of lower ones.
        attempt: u32,
        /// The fragment.
        text: Text,
    },
    /// A model was called and answered, wholly or in part.
    Said {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// The number of the model call in this turn, counted from 1.
        call: u32,
        /// The words.
        text: Text,
        /// How the answer ended.
        ending: Ending,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelId>,
        /// What it consumed.
        usage: Usage,
        /// Milliseconds until the first fragment, when there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_millis: Option<u64>,
        /// Milliseconds until the end.
        total_millis: u64,
        /// Requests sent to the provider, failed ones included.
        attempts: u32,
        /// How the prompt was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Box<Report>>,
    },
    /// A model call failed after all tries.
    ModelFailed {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// Why.
        failure: Failure,
        /// How the prompt was made, when it came to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Box<Report>>,
    },
    /// A model wants a tool called.
    ToolCalled {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// The call.
        call: SmolStr,
        /// The tool.
        tool: SmolStr,
        /// The arguments, byte for byte as the model wrote them.
        arguments: Text,
    },
    /// A tool call got its result.
    ToolFinished {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// The call.
        call: SmolStr,
        /// How it went.
        outcome: ToolOutcome,
        /// What the model gets to read.
        text: Text,
    },
    /// An answer does not have the form asked for.
    AnswerUnfit {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// Where not.
        faults: Vec<Text>,
    },
    /// A member was asked to repair its answer.
    RepairAsked {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// In these words.
        words: Text,
    },
    /// Of an answer and its repair one was kept.
    AnswerRepaired {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// Whether the repair is the one that was kept.
        better: bool,
        /// What is wrong with the one that was kept still.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        faults: Vec<Text>,
    },
    /// A member's turn ended.
    TurnEnded {
        /// The turn.
        turn: u32,
        /// Who.
        member: MemberId,
        /// The stage it was for.
        stage: SmolStr,
        /// How.
        status: EndStatus,
        /// What it made.
        text: Text,
        /// What it consumed.
        usage: Usage,
        /// What made it fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Where what it made does not meet its contract.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unfit: Vec<Text>,
    },
    /// A limit was crossed.
    LimitReached {
        /// Which one.
        limit: LimitKind,
    },
    /// The run was asked to stop.
    StopAsked,
    /// A person is asked something.
    Question {
        /// What sort of question it is.
        kind: SmolStr,
        /// The question.
        text: Text,
        /// What it is about, as JSON text.
        detail: Text,
    },
    /// Something stands in the journal that this program cannot read as an event. The run itself may be fine.
    Unreadable {
        /// Why.
        reason: Text,
    },
    /// Nothing goes on until somebody answers, or a time comes.
    RunParked,
    /// The run was let go before its end. It goes on when it is resumed.
    RunSuspended,
    /// The run ended.
    RunEnded {
        /// How.
        status: EndStatus,
        /// The final answer; empty unless it is done.
        text: Text,
        /// Why, where it is not simply done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
        /// What made it fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// What the whole run consumed.
        spent: Spent,
    },
}

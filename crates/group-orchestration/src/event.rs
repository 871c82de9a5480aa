use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_agent_runtime::UpstreamOutput;
use thermidor_step_engine::{EndStatus, NodeId, Spent};
use thermidor_types::{Failure, Json, MemberId, ModelId, Text, Usage};

use crate::{Call, GroupInstruction, StageOutput};

/// What happened in a group. Private to this crate: others read [`facts`](crate::facts).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GroupEvent {
    /// The run began.
    Began {
        /// The sentence everything began with.
        request: Text,
        /// Who takes part, with their names for people.
        roster: Vec<(MemberId, Text)>,
        /// What the group is given to work from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        upstream: Vec<UpstreamOutput>,
        /// What an earlier run of the same group finished, as its first turns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        finished: Vec<StageOutput>,
    },
    /// The supervisor was asked and said what it wants.
    SupervisorDecided {
        /// How many times it was asked by now.
        round: u32,
        /// What it wants, members resolved to turns.
        instructions: Vec<GroupInstruction>,
        /// Why.
        because: Text,
        /// What it wants to remember.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        notes: BTreeMap<SmolStr, Json>,
    },
    /// The supervisor wants what cannot be.
    DecisionUnfit {
        /// What.
        failure: Failure,
    },
    /// A member got a turn.
    TurnBegan {
        /// Its number, counted from 1.
        turn: u32,
        /// Whose turn and for what; stage and title are filled in.
        call: Call,
        /// The turns whose outputs it sees.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sees: Vec<u32>,
        /// The unfinished turn that it takes again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<u32>,
    },
    /// A turn ended, whichever way.
    AgentSpoke {
        /// Which turn.
        turn: u32,
        /// Whose.
        member: MemberId,
        /// Of which stage.
        stage: SmolStr,
        /// Which way.
        status: EndStatus,
        /// What was said.
        said: Box<Said>,
        /// The run it was, the reference to its transcript; `None` when it never opened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<NodeId>,
        /// What it and the runs below it consumed.
        #[serde(default)]
        spent: Spent,
    },
    /// Somebody asked the run to stop.
    StopAsked,
    /// The run crossed a limit.
    LimitReached,
    /// The end was undone.
    Resumed,
    /// The run ended.
    Ended {
        /// Which way.
        status: EndStatus,
        /// Why, where it is not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
        /// The failure, where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// The supervisor's reason to finish, where it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish_reason: Option<Text>,
        /// The finished turns, in the order of the stages. The last one gave the answer.
        outputs: Vec<u32>,
    },
}

/// What a member said in a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The words; of a turn that did not finish, as far as they came.
    pub text: Text,
    /// Where they do not meet their contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<Text>,
    /// What it consumed.
    #[serde(default)]
    pub usage: Usage,
    /// The model that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// Why it failed, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What a nested group that did not come to its end had finished: it need not be done again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<StageOutput>,
}

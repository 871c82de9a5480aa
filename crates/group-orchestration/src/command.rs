use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_agent_runtime::UpstreamOutput;
use thermidor_types::{Failure, MemberId, Text, Usage};

/// What a group may be asked, in its stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GroupCommand {
    /// The first command of every run.
    Start {
        /// The sentence everything begins with.
        request: Text,
        /// What the group is given to work from. Every member sees it with the request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        upstream: Vec<UpstreamOutput>,
        /// Stages that an earlier run of the same group finished: they are not done again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        finished: Vec<StageOutput>,
    },
    /// Undoes an end that was not `Done`: turns that did not finish are taken again, finished ones stay.
    Resume,
}

impl GroupCommand {
    /// Starts with nothing but a sentence.
    pub fn start(request: impl Into<Text>) -> Self {
        Self::Start { request: request.into(), upstream: Vec::new(), finished: Vec::new() }
    }
}

/// What a run of kind `group` ends with, whichever way: the form of its
/// [`End::output`](thermidor_step_engine::End::output).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupOutput {
    /// The final answer: what the last stage said. Empty unless the run is done.
    pub text: Text,
    /// The turn that gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The member who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// What each finished stage made: in the order of the stages, else of the turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<StageOutput>,
    /// What all turns consumed, those that did not finish included.
    #[serde(default)]
    pub usage: Usage,
    /// Why it failed, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The supervisor's reason to finish, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<Text>,
}

/// What one finished stage made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageOutput {
    /// The stage; `turn_N` where the supervisor named none.
    pub stage: SmolStr,
    /// Its title.
    pub title: Text,
    /// Who made it.
    pub member: MemberId,
    /// In which turn, counted from 1.
    pub turn: u32,
    /// The output itself.
    pub text: Text,
    /// Where it does not meet its contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<Text>,
}

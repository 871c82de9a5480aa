use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{AssistantMessage, CallId, Failure, Json, MemberId, Message, ModelId, Text, Usage};

/// An agent's frozen configuration: what a run of kind `agent` is opened with.
///
/// It holds texts, not names of files: changing a skill or a team file does not change a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// Who it is, stable.
    pub member: MemberId,
    /// Its name for people.
    pub name: Text,
    /// The model it thinks with.
    pub model: ModelId,
    /// Who it is and how it behaves, in the operator's words.
    #[serde(default)]
    pub persona: Text,
    /// The skill it works by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<FrozenSkill>,
    /// The names of the tools it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<SmolStr>,
    /// The form its answer must have.
    #[serde(default)]
    pub contract: Contract,
    /// Sampling temperature, 0 to 2; the provider's default when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// Model calls in one run at the most; the last one gets no tools. At least 1.
    #[serde(default = "default_calls")]
    pub max_calls: u32,
    /// The time zone in which it knows the date, an IANA name.
    #[serde(default = "default_zone")]
    pub zone: SmolStr,
}

fn default_calls() -> u32 {
    25
}

fn default_zone() -> SmolStr {
    SmolStr::new_static("UTC")
}

/// A skill's text as it was when the run opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenSkill {
    /// Its name.
    pub name: SmolStr,
    /// Its instructions, in the run's language.
    pub instructions: Text,
}

/// The form an answer must have. Checked when the agent has answered: what does not fit is an event, and
/// the agent gets one turn to repair it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// The most words (characters, in Chinese) wanted; up to 1.3 times as many are accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<u32>,
    /// The headings wanted, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Text>,
    /// Whether the last section holds the project's files.
    #[serde(default)]
    pub files: bool,
}

/// What an agent may be asked, in its stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentCommand {
    /// The first command of every run.
    Start(Box<Assignment>),
    /// Says what became of a tool call whose outcome is unknown: the answer to a question of kind
    /// [`UNKNOWN_OUTCOME`](crate::UNKNOWN_OUTCOME).
    ResolveUnknown {
        /// Which call.
        call: CallId,
        /// What to do about it.
        resolution: Resolution,
    },
}

/// What to do about a tool call whose outcome is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// Call again: it did not happen, or twice is fine.
    Retry,
    /// It happened, or it shall count as settled: this is the result the model reads.
    Done(Text),
}

/// What an agent is to do in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The sentence everything began with.
    pub request: Text,
    /// What this turn is for: the operator's template over `request`, `outputs.*`, `params.*`, `date`, `member`.
    #[serde(default)]
    pub instruction: Text,
    /// What the agent may see of what others did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upstream: Vec<UpstreamOutput>,
    /// Values for the template. Data: never expanded themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<SmolStr, Json>,
    /// The conversation so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// The group's turn this run is, counted from 1; 0 for an agent on its own.
    #[serde(default)]
    pub turn: u32,
}

/// What another member produced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamOutput {
    /// The stage or turn it comes from.
    pub id: SmolStr,
    /// A title for people and models.
    pub title: Text,
    /// The name of the member who made it.
    pub member: Text,
    /// The output itself.
    pub text: Text,
}

/// What a run of kind `agent` ends with: the form of its [`End::output`](thermidor_step_engine::End::output).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentOutput {
    /// The last answer's words.
    pub text: Text,
    /// What all its model calls consumed.
    #[serde(default)]
    pub usage: Usage,
    /// The model that gave the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// Where the answer does not meet its contract, after the repair turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<Text>,
    /// Why it failed, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl AgentOutput {
    /// The output that one message amounts to.
    pub fn of(message: &AssistantMessage) -> Self {
        Self {
            text: message.text().into(),
            usage: message.usage,
            model: message.model.clone(),
            ..Self::default()
        }
    }
}

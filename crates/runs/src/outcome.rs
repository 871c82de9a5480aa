use thermidor_agent_runtime::AgentOutput;
use thermidor_group_orchestration::{GroupMachine, GroupOutput, StageOutput};
use thermidor_step_engine::{End, Machine as _};
use thermidor_types::{Failure, Json, Text, Usage};

/// What a run made.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A group.
    Group(Box<GroupOutput>),
    /// An agent on its own.
    Agent(Box<AgentOutput>),
    /// Nothing: it ended before it could.
    Nothing,
}

impl Output {
    /// Reads the result of a root run of this kind.
    pub(crate) fn read(kind: &str, end: &End) -> Result<Self, serde_json::Error> {
        match kind {
            _ if end.output == Json::default() => Ok(Self::Nothing),
            GroupMachine::KIND => end.output.read().map(|output| Self::Group(Box::new(output))),
            _ => end.output.read().map(|output| Self::Agent(Box::new(output))),
        }
    }

    /// The final answer.
    pub fn text(&self) -> &Text {
        static EMPTY: std::sync::LazyLock<Text> = std::sync::LazyLock::new(Text::default);
        match self {
            Self::Group(output) => &output.text,
            Self::Agent(output) => &output.text,
            Self::Nothing => &EMPTY,
        }
    }

    /// What each finished stage made; empty for an agent on its own.
    pub fn stages(&self) -> &[StageOutput] {
        match self {
            Self::Group(output) => &output.outputs,
            Self::Agent(_) | Self::Nothing => &[],
        }
    }

    /// What all model calls consumed.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Group(output) => output.usage,
            Self::Agent(output) => output.usage,
            Self::Nothing => Usage::default(),
        }
    }

    /// Why it failed, when it did.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Group(output) => output.failure.as_ref(),
            Self::Agent(output) => output.failure.as_ref(),
            Self::Nothing => None,
        }
    }
}

use thermidor_agent_runtime::AgentOutput;
use thermidor_group_orchestration::{GroupOutput, StageOutput};
use thermidor_step_engine::End;
use thermidor_types::{Failure, Text, Usage};

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
    /// Reads the result of a root run's end. A group's output is told from an agent's by its fields.
    pub(crate) fn read(end: &End) -> Result<Self, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Probe {
            model: Option<serde::de::IgnoredAny>,
            unfit: Option<serde::de::IgnoredAny>,
            outputs: Option<serde::de::IgnoredAny>,
            turn: Option<serde::de::IgnoredAny>,
        }
        if end.output.as_str() == "null" {
            return Ok(Self::Nothing);
        }
        let probe: Probe = end.output.read()?;
        if probe.outputs.is_some() || probe.turn.is_some() {
            end.output.read().map(|output| Self::Group(Box::new(output)))
        } else if probe.model.is_some() || probe.unfit.is_some() {
            end.output.read().map(|output| Self::Agent(Box::new(output)))
        } else {
            end.output.read().map(|output| Self::Group(Box::new(output)))
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

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_agent_runtime::Contract;
use thermidor_types::{Json, MemberId, Text};

use crate::ContextView;

/// What a supervisor newly wants. Recorded before any of it runs, so that another answer to the same
/// question, after a crash or an upgrade, cannot change the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// What to do now, beside what is under way. Nothing while others speak means to wait for them; nothing
    /// while nobody speaks fails the run.
    pub now: Vec<Decide>,
    /// The reason in words.
    pub because: Text,
    /// What the supervisor wants to remember: merged into [`GroupView::notes`](crate::GroupView::notes).
    pub notes: BTreeMap<SmolStr, Json>,
}

impl Decision {
    /// A decision with its reason.
    pub fn new(now: impl IntoIterator<Item = Decide>, because: impl Into<Text>) -> Self {
        Self { now: now.into_iter().collect(), because: because.into(), notes: BTreeMap::new() }
    }

    /// Waits for those who speak.
    pub fn wait() -> Self {
        Self::default()
    }
}

impl From<Vec<Decide>> for Decision {
    fn from(now: Vec<Decide>) -> Self {
        Self::new(now, "")
    }
}

impl From<Decide> for Decision {
    fn from(now: Decide) -> Self {
        Self::new([now], "")
    }
}

/// One thing a supervisor wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Decide {
    /// Gives one member a turn. The supervisor is asked again when it has spoken.
    Call(Call),
    /// Gives several members a turn at once. The supervisor is asked again when all of them have spoken. For
    /// turns that are to be followed up one by one, decide several [`Decide::Call`]s.
    CallParallel(Vec<Call>),
    /// Ends the run as done. Calls in the same decision do not take place; whoever still speaks is stopped.
    Finish {
        /// Why, for people.
        reason: Text,
    },
}

impl Decide {
    /// See [`Decide::Finish`].
    pub fn finish(reason: impl Into<Text>) -> Self {
        Self::Finish { reason: reason.into() }
    }
}

impl From<Call> for Decide {
    fn from(call: Call) -> Self {
        Self::Call(call)
    }
}

/// A turn for a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Whose turn it is.
    pub member: MemberId,
    /// The name of its output; empty for `turn_N`.
    pub stage: SmolStr,
    /// The title of its output; empty for the member's name.
    pub title: Text,
    /// What to do: the operator's template over `request`, `outputs.*`, `params.*`, `date`, `member`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub instruction: Text,
    /// What the member may see of the others' work.
    pub view: ContextView,
    /// The form the answer must have.
    #[serde(default)]
    pub contract: Contract,
}

impl Call {
    /// A turn that sees every output there is.
    pub fn new(member: impl Into<MemberId>) -> Self {
        Self {
            member: member.into(),
            stage: SmolStr::default(),
            title: Text::default(),
            instruction: Text::default(),
            view: ContextView::All,
            contract: Contract::default(),
        }
    }

    /// Names and titles its output.
    #[must_use]
    pub fn stage(mut self, id: impl Into<SmolStr>, title: impl Into<Text>) -> Self {
        (self.stage, self.title) = (id.into(), title.into());
        self
    }

    /// Tells the member what to do.
    #[must_use]
    pub fn saying(mut self, instruction: impl Into<Text>) -> Self {
        self.instruction = instruction.into();
        self
    }

    /// Shows the member this much.
    #[must_use]
    pub fn seeing(mut self, view: ContextView) -> Self {
        self.view = view;
        self
    }

    /// Asks for an answer of this form.
    #[must_use]
    pub fn under(mut self, contract: Contract) -> Self {
        self.contract = contract;
        self
    }
}

/// What a decision came to: the group's instructions as they are recorded, members resolved to turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupInstruction {
    /// One member speaks.
    CallAgent {
        /// The turn it got.
        turn: u32,
    },
    /// Several members speak at once; the supervisor waits for all of them.
    ParallelCallAgents {
        /// The turns they got.
        turns: Vec<u32>,
    },
    /// The run ends as done.
    Finish {
        /// Why.
        reason: Text,
    },
}

impl GroupInstruction {
    /// Its stable name, as other orchestrators call it: `call_agent`, `parallel_call_agents`, `finish`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::CallAgent { .. } => "call_agent",
            Self::ParallelCallAgents { .. } => "parallel_call_agents",
            Self::Finish { .. } => "finish",
        }
    }
}

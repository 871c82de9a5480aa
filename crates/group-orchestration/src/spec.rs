use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_agent_runtime::{AgentSpec, Contract};
use thermidor_types::{Json, MemberId, Text};

/// A group's frozen configuration: what a run of kind `group` is opened with.
///
/// It holds texts, not names of files: changing a team file does not change a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupSpec {
    /// Its name, stable.
    pub name: SmolStr,
    /// Its name for people.
    pub title: Text,
    /// Who may take a turn, in the order in which people see them.
    pub members: IndexMap<MemberId, MemberSpec>,
    /// Who decides who acts next.
    pub supervisor: SupervisorSpec,
    /// Values for the instructions' templates. Data: never expanded themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<SmolStr, Json>,
}

/// Somebody who can take a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MemberSpec {
    /// An agent. The contract of its turns is the stage's, not this one's.
    Agent(Box<AgentSpec>),
    /// A group of its own: its turn is a whole run of that group, and its final answer is what it says.
    Group(Box<GroupSpec>),
}

impl MemberSpec {
    /// Its name for people.
    pub fn name(&self) -> &Text {
        match self {
            Self::Agent(agent) => &agent.name,
            Self::Group(group) => &group.title,
        }
    }
}

impl From<AgentSpec> for MemberSpec {
    fn from(agent: AgentSpec) -> Self {
        Self::Agent(Box::new(agent))
    }
}

impl From<GroupSpec> for MemberSpec {
    fn from(group: GroupSpec) -> Self {
        Self::Group(Box::new(group))
    }
}

/// Who decides who acts next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SupervisorSpec {
    /// A task graph: a pipeline, a strict relay, parallel stages.
    Graph(GraphSpec),
    /// A supervisor that the program registered under a name, see [`Supervisors`](crate::Supervisors).
    Custom {
        /// Its name.
        name: SmolStr,
        /// What it is made from.
        #[serde(default)]
        config: Json,
    },
}

/// A task graph whose nodes are turns of members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphSpec {
    /// The stages. Their order is the order of outputs for people and models; the last one gives the answer.
    pub stages: Vec<StageSpec>,
}

/// One turn of one member in a task graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageSpec {
    /// Its id, unique among the stages. Templates read its output as `outputs.ID`.
    pub id: SmolStr,
    /// A title for people and models.
    pub title: Text,
    /// Whose turn it is.
    pub member: MemberId,
    /// The ids of the stages that must be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<SmolStr>,
    /// What it may see of the others' work.
    #[serde(default)]
    pub view: ContextView,
    /// What to do: the operator's template over `request`, `outputs.*`, `params.*`, `date`, `member`.
    /// Empty for a stage of a nested group, which has instructions of its own.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub instruction: Text,
    /// The form the answer must have. Empty for a stage of a nested group.
    #[serde(default)]
    pub contract: Contract,
}

impl StageSpec {
    /// A stage of `member` that needs nothing and sees the request; `id` is its title too.
    pub fn new(id: impl Into<SmolStr>, member: impl Into<MemberId>, instruction: impl Into<Text>) -> Self {
        let id = id.into();
        Self {
            title: id.as_str().into(),
            id,
            member: member.into(),
            needs: Vec::new(),
            view: ContextView::default(),
            instruction: instruction.into(),
            contract: Contract::default(),
        }
    }

    /// Starts it only when `stages` are done, and shows it their outputs.
    #[must_use]
    pub fn after<I: Into<SmolStr>>(mut self, stages: impl IntoIterator<Item = I>) -> Self {
        self.needs.extend(stages.into_iter().map(Into::into));
        self
    }
}

/// What a member may see of a run. The request, and what a nested group was given with it, it always sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContextView {
    /// The outputs of the stages it needs.
    #[default]
    Needs,
    /// Every output there is when its turn begins.
    All,
    /// No outputs.
    Request,
    /// The outputs of these stages, as far as there are any when its turn begins.
    Named(Vec<SmolStr>),
}

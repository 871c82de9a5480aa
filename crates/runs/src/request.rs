use thermidor_agent_runtime::{AgentCommand, AgentMachine, AgentSpec, Assignment};
use thermidor_group_orchestration::{GroupCommand, GroupMachine, GroupSpec, MemberSpec};
use thermidor_step_engine::{Limits, Machine as _, Start};
use thermidor_tools::Registry;
use thermidor_types::{Json, Text};

use crate::Error;

/// A run to start: who works, on what, within which limits.
#[derive(Clone, Debug)]
pub struct RunRequest {
    work: Work,
    request: Text,
    limits: Limits,
    title: Option<Text>,
}

#[derive(Clone, Debug)]
enum Work {
    Group(Box<GroupSpec>),
    Agent(Box<AgentSpec>),
}

impl RunRequest {
    /// A group works on one sentence.
    pub fn group(group: GroupSpec, request: impl Into<Text>) -> Self {
        Self::new(Work::Group(Box::new(group)), request.into())
    }

    /// An agent works on one sentence, on its own.
    pub fn agent(agent: AgentSpec, request: impl Into<Text>) -> Self {
        Self::new(Work::Agent(Box::new(agent)), request.into())
    }

    fn new(work: Work, request: Text) -> Self {
        Self { work, request, limits: Limits::default(), title: None }
    }

    /// Bounds the whole run. Without this, the engine's default limits bound it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A title for lists; without one, the request's first line.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Refuses agents that may call what is not there: their turns could not be opened in the middle of the run.
    pub(crate) fn check(&self, tools: &Registry) -> Result<(), Error> {
        match &self.work {
            Work::Group(group) => check_group(group, tools),
            Work::Agent(agent) => check_agent(agent, tools),
        }
    }

    pub(crate) fn into_start(self) -> Result<Start, Error> {
        let Self { work, request, limits, title } = self;
        let title = title.unwrap_or_else(|| first_line(&request));
        let json = |value: Result<Json, serde_json::Error>| value.map_err(Error::configuration);
        Ok(match work {
            Work::Group(group) => Start {
                kind: GroupMachine::KIND.into(),
                spec: json(Json::of(&group))?,
                command: json(Json::of(&GroupCommand::start(request)))?,
                limits,
                title,
            },
            Work::Agent(agent) => {
                let assignment = Assignment { request, ..Assignment::default() };
                Start {
                    kind: AgentMachine::KIND.into(),
                    spec: json(Json::of(&agent))?,
                    command: json(Json::of(&AgentCommand::Start(Box::new(assignment))))?,
                    limits,
                    title,
                }
            }
        })
    }
}

fn check_group(group: &GroupSpec, tools: &Registry) -> Result<(), Error> {
    group.members.values().try_for_each(|member| match member {
        MemberSpec::Agent(agent) => check_agent(agent, tools),
        MemberSpec::Group(group) => check_group(group, tools),
    })
}

fn check_agent(agent: &AgentSpec, tools: &Registry) -> Result<(), Error> {
    let known = tools.subset(&agent.tools).map(drop);
    known.map_err(|error| Error::configuration(format!("the agent {}: {error}", agent.member)))
}

/// The first line, at most 80 characters of it.
fn first_line(text: &str) -> Text {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(80) {
        Some((cut, _)) => format!("{}…", &line[..cut]).into(),
        None => line.into(),
    }
}

//! From a team and what its members bring to the frozen form that a run is opened with.

use thermidor_group_orchestration::{
    ContextView, GraphSpec, GroupSpec, GroupView, MemberSpec, StageSpec, SupervisorSpec, Supervisors,
};
use thermidor_step_engine::Limits;
use thermidor_teams::{Choices, Language};
use thermidor_types::{Json, MemberId};

use crate::{
    Error, Team,
    house::{House, Resolver},
    team::Base,
};

/// The name under which a team's own supervisor is registered.
const OWN: &str = "own";

impl Team {
    pub(crate) fn run_limits(&self) -> Limits {
        let of_base = || match &self.base {
            Base::Name(_) => Limits::default(),
            Base::File { team, .. } => team.limits(),
        };
        self.limits.unwrap_or_else(of_base)
    }

    /// What the team has and what its members bring.
    pub(crate) fn whole_house(&self) -> Result<House, Error> {
        let mut house = self.house.clone();
        for member in &self.members {
            if member.limits.is_some() {
                let problem =
                    format!("{} brings limits to a team: give them to the team, `Team::limits`", member.name);
                return Err(Error::configuration(problem));
            }
            house.take_in(member.name.as_str(), &member.house)?;
        }
        Ok(house)
    }

    pub(crate) fn frozen(&self, resolver: &Resolver, language: Language) -> Result<GroupSpec, Error> {
        let mut group = match &self.base {
            Base::Name(name) => self.unfilled(name)?,
            Base::File { team, skills } => {
                let choices = self.choices(resolver, language)?;
                let group = team.to_group(&choices, skills)?;
                for member in group.members.values() {
                    if let MemberSpec::Agent(agent) = member {
                        resolver.id(Some(&agent.model.to_string()))?;
                    }
                }
                group
            }
        };
        for member in &self.members {
            let agent = member.frozen(resolver, self.model.as_deref())?;
            if group.members.insert(member.name.clone(), agent.into()).is_some() {
                return Err(Error::configuration(format!(
                    "two members are called {}: rename one of them",
                    member.name
                )));
            }
        }
        if self.supervisor.is_some() {
            group.supervisor = SupervisorSpec::Custom { name: OWN.into(), config: Json::default() };
        } else if let SupervisorSpec::Graph(graph) = &mut group.supervisor {
            graph.stages.extend(self.stages.iter().cloned());
            if graph.stages.is_empty() {
                graph.stages = relay(group.members.keys());
            }
        }
        Ok(group)
    }

    fn unfilled(&self, name: &str) -> Result<GroupSpec, Error> {
        let params = self.params.iter().map(|(name, value)| Ok((name.into(), Json::of(value)?)));
        let params = params.collect::<Result<_, serde_json::Error>>();
        Ok(GroupSpec {
            name: name.into(),
            title: name.into(),
            members: std::iter::empty::<(MemberId, MemberSpec)>().collect(),
            supervisor: SupervisorSpec::Graph(GraphSpec::default()),
            params: params.map_err(|error| Error::configuration(error.to_string()))?,
        })
    }

    fn choices(&self, resolver: &Resolver, language: Language) -> Result<Choices, Error> {
        let mut choices = Choices::new(language, resolver.id(None)?);
        choices.model = self.model.as_deref().map(|name| resolver.id(Some(name))).transpose()?;
        for (name, value) in &self.params {
            let value = Json::of(value).map_err(|error| Error::configuration(error.to_string()))?;
            choices.params.insert(name.clone(), value);
        }
        Ok(choices)
    }

    pub(crate) fn supervisors(&self) -> Supervisors {
        let Some(supervisor) = &self.supervisor else { return Supervisors::new() };
        let supervisor = supervisor.clone();
        Supervisors::new().with(OWN, move |_| {
            let supervisor = supervisor.clone();
            Ok(move |group: &GroupView<'_>| supervisor.decide(group))
        })
    }
}

/// Everybody speaks once, in order, and sees what was said before.
fn relay<'a>(members: impl Iterator<Item = &'a MemberId>) -> Vec<StageSpec> {
    let mut stages: Vec<StageSpec> = Vec::new();
    for member in members {
        let before: Vec<_> = stages.last().map(|stage| stage.id.clone()).into_iter().collect();
        let stage = StageSpec::new(member.as_str(), member.clone(), "").after(before);
        stages.push(StageSpec { view: ContextView::All, ..stage });
    }
    stages
}

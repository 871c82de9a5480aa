use std::collections::BTreeMap;

use smol_str::SmolStr;
use thermidor_agent_runtime::{AgentSpec, Contract, FrozenSkill};
use thermidor_context_engine::Language;
use thermidor_group_orchestration::{
    ContextView, GraphSpec, GroupSpec, MemberSpec, StageSpec, SupervisorSpec,
};
use thermidor_skills::Library as Skills;
use thermidor_step_engine::Limits;
use thermidor_types::{Json, MemberId, ModelId, Text, Tokens};

use crate::{AgentFile, Error, ErrorKind, Localised, Place, Problem, StageFile, Team, near};

/// Model calls in one turn of a member at the most.
const CALLS: u32 = 25;

/// What one run adds to a team: the language, the models, the values of its params.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The language of prompts, skills and headings.
    pub language: Language,
    /// The model of agents for which neither the user nor the file names one.
    pub fallback: ModelId,
    /// The model that the user named for all agents. It goes before the file's.
    pub model: Option<ModelId>,
    /// The models that the user named for single agents, by agent id. They go before everything.
    pub models: BTreeMap<String, ModelId>,
    /// The values the user gave, by name.
    pub params: BTreeMap<String, Json>,
    /// The time zone in which the members know the date, an IANA name.
    pub zone: SmolStr,
}

impl Choices {
    /// Every agent thinks with `fallback` unless its file says otherwise, and knows the date in UTC.
    pub fn new(language: Language, fallback: ModelId) -> Self {
        Self {
            language,
            fallback,
            model: None,
            models: BTreeMap::new(),
            params: BTreeMap::new(),
            zone: SmolStr::new_static("UTC"),
        }
    }
}

impl Team {
    /// The group to open a run with: all texts in the run's language, frozen, and every model decided.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`] for a param or agent that the team does not have, or a skill that is no longer in
    /// `skills`; [`ErrorKind::MissingKey`] for a param without a value. All problems at once.
    ///
    /// ```
    /// use thermidor_skills::Source;
    /// use thermidor_teams::{Choices, Language, Library, bundled_skills};
    ///
    /// let skills = thermidor_skills::Library::read(&[Source::Embedded(bundled_skills())]);
    /// let library = Library::open(&[], &skills);
    /// let choices = Choices::new(Language::Zh, "openai/gpt-5".parse()?);
    /// let group = library.get("software-company")?.to_group(&choices, &skills)?;
    /// assert_eq!(group.title, "软件公司");
    /// assert_eq!(group.members.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_group(&self, choices: &Choices, skills: &Skills) -> Result<GroupSpec, Error> {
        let file = self.file();
        let language = choices.language;
        let mut problems = Vec::new();
        let params = self.values(choices, &mut problems);
        for id in choices.models.keys().filter(|id| !file.agents.contains_key(*id)) {
            let remedy = near::suggest(id, file.agents.keys().map(String::as_str));
            problems.push(unplaced(
                ErrorKind::Unknown,
                format!("there is no agent {id:?} in team {:?}", self.id()),
                remedy,
            ));
        }
        let mut members = indexmap::IndexMap::new();
        for (id, agent) in &file.agents {
            match self.member(id, agent, choices, skills) {
                Ok(member) => drop(members.insert(MemberId::from(id.as_str()), member)),
                Err(problem) => problems.push(*problem),
            }
        }
        Error::unless_empty(problems)?;
        let stages = self.stages().map(|(stage, needs)| stage_spec(stage, &needs, language)).collect();
        Ok(GroupSpec {
            name: self.id().into(),
            title: words(file.title.as_ref(), self.id(), language),
            members,
            supervisor: SupervisorSpec::Graph(GraphSpec { stages }),
            params,
        })
    }

    /// The limits of a run of this team; what the file does not bound is bounded as everywhere.
    pub fn limits(&self) -> Limits {
        let limits = &self.file().limits;
        Limits {
            turns: Some(limits.turns.into()),
            tokens: Some(Tokens(limits.tokens)),
            money: limits.cost_usd,
            millis: Some(u64::from(limits.minutes) * 60_000),
            ..Limits::default()
        }
    }

    fn values(&self, choices: &Choices, problems: &mut Vec<Problem>) -> BTreeMap<SmolStr, Json> {
        let declared = &self.file().params;
        for name in choices.params.keys().filter(|name| !declared.contains_key(*name)) {
            let remedy = near::suggest(name, declared.keys().map(String::as_str));
            problems.push(unplaced(
                ErrorKind::Unknown,
                format!("team {:?} has no param {name:?}", self.id()),
                remedy,
            ));
        }
        let mut values = BTreeMap::new();
        for (name, param) in declared {
            let given = choices.params.get(name).cloned();
            if let Some(value) = given.or_else(|| Json::of(param.default.as_ref()?).ok()) {
                values.insert(SmolStr::from(name), value);
                continue;
            }
            let message = format!("team {:?} needs a value for its param {name:?}", self.id());
            let remedy = param.description.as_ref().map(|text| text.get(choices.language).clone());
            problems.push(unplaced(ErrorKind::MissingKey, message, remedy));
        }
        values
    }

    /// The member, or the problem with its skill.
    fn member(
        &self,
        id: &str,
        agent: &AgentFile,
        choices: &Choices,
        skills: &Skills,
    ) -> Result<MemberSpec, Box<Problem>> {
        let language = choices.language;
        let freeze = |name: &String| {
            let Some(skill) = skills.get(name) else {
                let remedy = near::suggest(name, skills.iter().map(|skill| skill.name.as_str()));
                let message = format!("unknown skill {name:?} of agent {id:?}");
                return Err(Box::new(unplaced(ErrorKind::Unknown, message, remedy)));
            };
            let edition = skill.in_language(language.pick("en", "zh"));
            Ok(FrozenSkill { name: skill.name.clone(), instructions: edition.body })
        };
        // The check has proved that what the file names is a model or `default`.
        let named = [agent.model.as_deref(), Some(self.file().model.as_str())];
        let in_file = || named.into_iter().flatten().find_map(|model| model.parse().ok());
        let by_user = choices.models.get(id).or(choices.model.as_ref()).cloned();
        Ok(MemberSpec::from(AgentSpec {
            member: id.into(),
            name: words(agent.name.as_ref(), id, language),
            model: by_user.or_else(in_file).unwrap_or_else(|| choices.fallback.clone()),
            persona: words(agent.persona.as_ref(), "", language),
            skill: agent.skill.as_ref().map(freeze).transpose()?,
            tools: agent.tools.iter().map(SmolStr::from).collect(),
            contract: Contract::default(),
            temperature: None,
            max_calls: CALLS,
            zone: choices.zone.clone(),
        }))
    }
}

fn stage_spec(stage: &StageFile, needs: &[&str], language: Language) -> StageSpec {
    let sections =
        stage.sections.as_ref().map(|sections| sections.get(language).as_slice()).unwrap_or_default();
    StageSpec {
        id: stage.id.as_str().into(),
        title: words(stage.title.as_ref(), &stage.id, language),
        member: stage.agent.as_str().into(),
        needs: needs.iter().copied().map(SmolStr::from).collect(),
        view: ContextView::Needs,
        instruction: stage.prompt.get(language).trim_end().into(),
        contract: Contract {
            words: stage.words,
            sections: sections.iter().map(|heading| Text::from(heading.as_str())).collect(),
            files: stage.files,
        },
    }
}

fn words(text: Option<&Localised<String>>, otherwise: &str, language: Language) -> Text {
    text.map_or(otherwise, |text| text.get(language)).into()
}

fn unplaced(kind: ErrorKind, message: String, remedy: Option<String>) -> Problem {
    Problem { kind, place: Place::default(), message, remedy }
}

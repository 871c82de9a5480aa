use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use thermidor_context_engine::{ContextProvider, MessageProcessor};
use thermidor_group_orchestration::{GroupSpec, StageSpec, Supervisor};
use thermidor_model_runtime::ChatModel;
use thermidor_runs::{Run, RunRequest};
use thermidor_skills::{Library as Skills, Source};
use thermidor_step_engine::Limits;
use thermidor_teams::{Language, Library, bundled_skills};
use thermidor_tools::Tool;
use thermidor_types::Text;

use crate::{
    Agent, Error, Models,
    house::House,
    own_steps::{OwnProcessor, OwnProvider},
};

/// Several agents that work on one sentence: from a file, or put together in code.
///
/// Who acts next is said by a [supervisor](Team::supervisor), else by the [stages](Team::stage), else by the
/// file. A team of members alone is a relay: everybody speaks once, in order, and sees what was said before.
/// The last one gives the answer.
///
/// ```
/// use thermidor::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let team = Team::new("review")
///     .member(Agent::new("writer", "You write short product texts."))
///     .member(Agent::new("critic", "You find what a reader would stumble over."))
///     .stage(StageSpec::new("draft", "writer", "Write about {{ request }}."))
///     .stage(StageSpec::new("critique", "critic", "Criticise the draft.").after(["draft"]))
///     .stage(StageSpec::new("final", "writer", "Write it again.").after(["draft", "critique"]));
/// let text = team.ask("a tea timer").await?;
/// # assert!(!text.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Team {
    pub(crate) base: Base,
    pub(crate) members: Vec<Agent>,
    pub(crate) stages: Vec<StageSpec>,
    pub(crate) supervisor: Option<Arc<dyn Supervisor>>,
    pub(crate) model: Option<String>,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) limits: Option<Limits>,
    pub(crate) house: House,
}

/// What members and stages are added to.
#[derive(Clone)]
pub(crate) enum Base {
    Name(String),
    File { team: Box<thermidor_teams::Team>, skills: Arc<Skills> },
}

impl Team {
    /// A team without members yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self::of(Base::Name(name.into()))
    }

    /// The team of a `team.toml`. Its skills are looked for in the folder `skills` beside it, which tells
    /// models what to do and must be as trusted as the file, and then among the bundled ones. Reads files,
    /// blocking.
    ///
    /// # Errors
    /// [`ErrorKind::Team`](crate::ErrorKind::Team) with everything that is wrong with the file, each at its place.
    ///
    /// ```no_run
    /// use thermidor::prelude::*;
    ///
    /// # async fn run() -> Result<(), Error> {
    /// let team = Team::from_file("team.toml")?;
    /// let plan = team.ask("an AI trainer for job interviews").await?;
    /// # Ok(()) }
    /// ```
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let beside = path.parent().unwrap_or(Path::new("")).join("skills");
        let skills = Skills::read(&[Source::Folder(beside), Source::Embedded(bundled_skills())]);
        let team = Box::new(thermidor_teams::Team::open(path, &skills)?);
        Ok(Self::of(Base::File { team, skills: Arc::new(skills) }))
    }

    /// A team that ships with Thermidor, such as `software-company`.
    ///
    /// # Errors
    /// [`ErrorKind::Team`](crate::ErrorKind::Team), with a suggestion, when there is none of that name.
    ///
    /// ```
    /// use thermidor::Team;
    /// assert_eq!(Team::bundled("software-company")?.name(), "software-company");
    /// # Ok::<(), thermidor::Error>(())
    /// ```
    pub fn bundled(name: &str) -> Result<Self, Error> {
        let skills = Skills::read(&[Source::Embedded(bundled_skills())]);
        let team = Box::new(Library::open(&[], &skills).get(name)?.clone());
        Ok(Self::of(Base::File { team, skills: Arc::new(skills) }))
    }

    fn of(base: Base) -> Self {
        Self {
            base,
            members: Vec::new(),
            stages: Vec::new(),
            supervisor: None,
            model: None,
            params: BTreeMap::new(),
            limits: None,
            house: House::default(),
        }
    }

    /// The team's name.
    pub fn name(&self) -> &str {
        match &self.base {
            Base::Name(name) => name,
            Base::File { team, .. } => team.id(),
        }
    }

    /// Adds a member, after those that there are.
    #[must_use]
    pub fn member(mut self, agent: Agent) -> Self {
        self.members.push(agent);
        self
    }

    /// Adds a stage, after those that there are: a turn of a member that begins when what it needs is there.
    #[must_use]
    pub fn stage(mut self, stage: StageSpec) -> Self {
        self.stages.push(stage);
        self
    }

    /// Has `supervisor` decide who acts next; it takes the place of stages that a file has.
    ///
    /// ```
    /// use thermidor::prelude::*;
    ///
    /// let team = Team::new("duel")
    ///     .member(Agent::new("ada", "You propose."))
    ///     .member(Agent::new("ben", "You object."))
    ///     .supervisor(|group: &GroupView<'_>| match group.turns().len() {
    ///         turns @ 0..4 => Decide::from(Call::new(["ada", "ben"][turns % 2])).into(),
    ///         _ => Decide::finish("each spoke twice").into(),
    ///     });
    /// ```
    #[must_use]
    pub fn supervisor(mut self, supervisor: impl Supervisor) -> Self {
        self.supervisor = Some(Arc::new(supervisor));
        self
    }

    /// The model of all members but those that name one in code; it goes before the file's.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// As [`Team::model`], with a model of the caller's own: a scripted one in a test.
    #[must_use]
    pub fn own_model(mut self, model: impl ChatModel) -> Self {
        self.model = Some(model.card().id.to_string());
        self.house.own_models.push(Arc::new(model));
        self
    }

    /// The models there are. Without this, the rehearsal model alone.
    #[must_use]
    pub fn models(mut self, models: Models) -> Self {
        self.house.models = Some(models);
        self
    }

    /// Has a tool for the members that name it: in the file, or by [`Agent::may_call`].
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.house.tools.push(Arc::new(tool));
        self
    }

    /// Puts something into every member's prompt.
    #[must_use]
    pub fn context(mut self, provider: impl ContextProvider) -> Self {
        self.house.providers.push(OwnProvider::provider(None, provider));
        self
    }

    /// Changes every member's prompt before it is sent.
    #[must_use]
    pub fn processor(mut self, processor: impl MessageProcessor) -> Self {
        self.house.processors.push(OwnProcessor::processor(None, processor));
        self
    }

    /// A value for the templates of the stages, which read it as `params.NAME`. It is data: never expanded
    /// itself.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Bounds a run, in place of the file's limits or the usual ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Gives the team one sentence to work on, and waits for the answer.
    ///
    /// # Errors
    /// As [`Team::start`], and [`ErrorKind::Run`](crate::ErrorKind::Run) when the run does not end as done.
    pub async fn ask(&self, request: impl Into<Text>) -> Result<Text, Error> {
        Ok(self.start(request).await?.answer().await?)
    }

    /// Starts a run in the background: its [events](Run::events) tell what happens. It lives in memory; for
    /// one that is kept, see [`Models::runs`]. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// As [`Team::group`], [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) when members bring
    /// what does not go together, and [`ErrorKind::Run`](crate::ErrorKind::Run) when the parts make no group.
    pub async fn start(&self, request: impl Into<Text>) -> Result<Run, Error> {
        let request = request.into();
        let house = self.whole_house()?;
        let resolver = house.resolver()?;
        let group = self.frozen(&resolver, Language::of(&request))?;
        for member in group.members.values() {
            house.has_tools_of(member)?;
        }
        let runs = house.runs(resolver, self.supervisors())?;
        Ok(runs.start(RunRequest::group(group, request).limits(self.run_limits())).await?)
    }

    /// Its frozen configuration in a language, for a composition of one's own: see [`Models::runs`]. The tools,
    /// steps, models and the supervisor of its own are not part of it.
    ///
    /// # Errors
    /// [`ErrorKind::Team`](crate::ErrorKind::Team) when the file needs a param that has no value or has no such
    /// param, [`ErrorKind::Model`](crate::ErrorKind::Model) when a model cannot be called,
    /// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) when two members have one name.
    pub fn group(&self, language: Language) -> Result<GroupSpec, Error> {
        self.frozen(&self.whole_house()?.resolver()?, language)
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("name", &self.name())
            .field("members", &self.members)
            .field("stages", &self.stages.len())
            .finish_non_exhaustive()
    }
}

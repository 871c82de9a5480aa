use std::{any::Any, fmt, sync::Arc};

use async_trait::async_trait;
use thermidor_agent_runtime::{AgentCommand, AgentSetup, Models, Tries};
use thermidor_context_engine::{ContextProvider, MessageProcessor, Step};
use thermidor_group_orchestration::Supervisors;
use thermidor_model_runtime::ChatModel;
use thermidor_step_engine::{
    EndStatus, Engine, Journal, Limits, MemoryJournal, NodeId, Request, TreeRow, TreeState,
};
use thermidor_tools::{Registry, Tool};
use thermidor_types::{Clock, Ids, Json, ModelId, RandomIds, Timestamp, TreeId};

use crate::{
    Ended, Error, Events, History, Output, Run, RunRequest, error::Problem, house, projector::Projector,
};

/// Starts, resumes, watches and lists runs: everything put together. Cheap to clone.
#[derive(Clone)]
pub struct Runs {
    engine: Arc<Engine>,
    leases: Arc<dyn Leases>,
    tools: Registry,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

/// Keeps a run from being driven by two processes at once.
///
/// The journal alone already makes sure that two drivers never both append; a lease spares the first one
/// from being thrown out by a second.
#[async_trait]
pub trait Leases: Send + Sync + 'static {
    /// Takes the run's lease until the guard is dropped or the process dies; `None` when somebody has it.
    ///
    /// # Errors
    /// When leases cannot be kept at all; in words.
    async fn take(&self, run: TreeId) -> Result<Option<Box<dyn Any + Send>>, String>;

    /// Whether somebody drives the run now.
    async fn is_taken(&self, run: TreeId) -> bool;
}

/// For runs that only this process can see.
struct NoLeases;

#[async_trait]
impl Leases for NoLeases {
    async fn take(&self, _: TreeId) -> Result<Option<Box<dyn Any + Send>>, String> {
        Ok(Some(Box::new(())))
    }

    async fn is_taken(&self, _: TreeId) -> bool {
        false
    }
}

/// What [`Runs`] is put together from.
pub struct RunsBuilder {
    models: Arc<dyn Models>,
    tries: Option<Tries>,
    journal: Arc<dyn Journal>,
    leases: Arc<dyn Leases>,
    tools: Registry,
    steps: Vec<Step>,
    supervisors: Supervisors,
    clock: Arc<dyn Clock>,
    prompt_clock: Option<Arc<dyn Clock>>,
    ids: Arc<dyn Ids>,
    problems: Vec<String>,
}

impl Runs {
    /// Begins with the models; everything else has a default. Runs live in memory unless a journal is given.
    pub fn builder(models: impl Models) -> RunsBuilder {
        RunsBuilder {
            models: Arc::new(models),
            tries: None,
            journal: Arc::new(MemoryJournal::new()),
            leases: Arc::new(NoLeases),
            tools: Registry::default(),
            steps: Vec::new(),
            supervisors: Supervisors::default(),
            clock: Arc::new(system_clock),
            prompt_clock: None,
            ids: Arc::new(RandomIds),
            problems: Vec::new(),
        }
    }

    /// Starts a run and drives it in the background. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// `Configuration` when the request cannot work or names a tool that there is not; `Store` when it cannot be written. Nothing was started then.
    pub async fn start(&self, request: RunRequest) -> Result<Run, Error> {
        let id = TreeId::fresh(&*self.ids);
        request.check(&self.tools)?;
        let start = request.into_start()?;
        let kind = start.kind.clone();
        let lease = self.lease(id).await?;
        self.engine.start(id, start).await?;
        Ok(Run::spawn((id, kind), self.engine.clone(), self.clock.clone(), 0, lease))
    }

    /// Takes up a run that was suspended, whose process died, that waits for people, or that ended without
    /// being done, where it was. With `limits`, goes on within those.
    ///
    /// # Errors
    /// `NotFound`; `Busy` when somebody drives it; `Done` when there is nothing to go on with.
    pub async fn resume(&self, id: TreeId, limits: Option<Limits>) -> Result<Run, Error> {
        let lease = self.lease(id).await?;
        let records = self.engine.records(id, 0).await?;
        let (kind, end) = Projector::root_of(id, &records)
            .ok_or_else(|| Error::configuration(format!("run {id} has no beginning")))?;
        match end {
            Some(EndStatus::Done) => return Err(Problem::Done(id).into()),
            Some(EndStatus::Failed | EndStatus::Stopped | EndStatus::Limit) => {
                let resume = house::resume_command(&kind)?;
                self.relimit(id, limits).await?;
                self.engine.send(id, NodeId::ROOT, Request::Command(resume)).await?;
            }
            None => self.relimit(id, limits).await?,
        }
        let since = records.len() as u64;
        Ok(Run::spawn((id, kind), self.engine.clone(), self.clock.clone(), since, lease))
    }

    async fn relimit(&self, id: TreeId, limits: Option<Limits>) -> Result<(), Error> {
        if let Some(limits) = limits {
            self.engine.send(id, NodeId::ROOT, Request::Limits(Box::new(limits))).await?;
        }
        Ok(())
    }

    async fn lease(&self, id: TreeId) -> Result<Box<dyn Any + Send>, Error> {
        let lease = self.leases.take(id).await.map_err(Error::configuration)?;
        lease.ok_or_else(|| Problem::Busy(id).into())
    }

    /// How a run ended and what it made; `None` while it has no end.
    ///
    /// # Errors
    /// `NotFound` when there is no such run; `Newer` when a newer program wrote it.
    pub async fn ended(&self, id: TreeId) -> Result<Option<Ended>, Error> {
        let Some(end) = self.engine.end(id).await? else { return Ok(None) };
        let records = self.engine.records(id, 0).await?;
        let (kind, _) = Projector::root_of(id, &records)
            .ok_or_else(|| Error::configuration(format!("run {id} has no beginning")))?;
        let output = Output::read(&kind, &end).map_err(Error::configuration)?;
        Ok(Some(Ended { end, output }))
    }

    /// Answers a question that a run waits with. The run must be resumed or driven to go on.
    ///
    /// # Errors
    /// `NotFound` when there is no such run.
    pub async fn answer(&self, id: TreeId, node: NodeId, answer: &AgentCommand) -> Result<(), Error> {
        let command = Json::of(answer).map_err(Error::configuration)?;
        self.engine.send(id, node, Request::Command(command)).await?;
        Ok(())
    }

    /// Asks a run to come to an orderly end, wherever it is driven.
    ///
    /// # Errors
    /// `NotFound` when there is no such run.
    pub async fn stop(&self, id: TreeId) -> Result<(), Error> {
        self.engine.send(id, NodeId::ROOT, Request::Stop).await?;
        Ok(())
    }

    /// Everything that happened in a run so far.
    ///
    /// # Errors
    /// `NotFound`; `Newer` when a newer program wrote it.
    pub async fn show(&self, id: TreeId) -> Result<History, Error> {
        History::read(&self.engine, id).await
    }

    /// Follows a run from the events after record `after` on, wherever it is driven, until it ends.
    ///
    /// # Errors
    /// `NotFound` when there is no such run.
    pub async fn tail(&self, id: TreeId, after: u64) -> Result<Events, Error> {
        Events::followed(&self.engine, id, after).await
    }

    /// Runs, newest first, at most `limit` of those that began before `before`.
    ///
    /// # Errors
    /// `Store` when it cannot be read.
    pub async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<RunSummary>, Error> {
        let mut runs = Vec::new();
        for row in self.engine.journal().list(before, limit).await? {
            let driven = self.leases.is_taken(row.tree).await;
            runs.push(RunSummary { row, driven });
        }
        Ok(runs)
    }

    /// The engine underneath, for what is not here.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runs").field(&self.engine).finish()
    }
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// What the journal says of it.
    pub row: TreeRow,
    /// Whether a process drives it now. Only known where leases are kept.
    pub driven: bool,
}

impl RunSummary {
    /// Whether its process died: it stands as running, and nobody drives it.
    pub fn is_interrupted(&self) -> bool {
        !self.driven && matches!(self.row.status.state, TreeState::Running | TreeState::New)
    }
}

impl RunsBuilder {
    /// Keeps runs in `journal`.
    #[must_use]
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Arc::new(journal);
        self
    }

    /// Keeps other processes from driving the same runs.
    #[must_use]
    pub fn leases(mut self, leases: impl Leases) -> Self {
        self.leases = Arc::new(leases);
        self
    }

    /// Reads from `tries` how many requests each model call took: give the same one to the models as observer.
    #[must_use]
    pub fn tries(mut self, tries: Tries) -> Self {
        self.tries = Some(tries);
        self
    }

    /// Offers `tool` to the agents that name it.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        if let Err(error) = self.tools.register(tool) {
            self.problems.push(error.to_string());
        }
        self
    }

    /// Adds something to every agent's prompt.
    #[must_use]
    pub fn context_provider(mut self, provider: impl ContextProvider) -> Self {
        self.steps.push(Step::provider(provider));
        self
    }

    /// Changes every agent's prompt before it is sent.
    #[must_use]
    pub fn message_processor(mut self, processor: impl MessageProcessor) -> Self {
        self.steps.push(Step::processor(processor));
        self
    }

    /// Makes supervisors of one's own known to groups that name them.
    #[must_use]
    pub fn supervisors(mut self, supervisors: Supervisors) -> Self {
        self.supervisors = supervisors;
        self
    }

    /// Reads the time from `clock` instead of the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Lets prompts name the time of `clock`, while runs are kept by the other one: to repeat what was recorded at
    /// another time.
    #[must_use]
    pub fn prompt_clock(mut self, clock: impl Clock) -> Self {
        self.prompt_clock = Some(Arc::new(clock));
        self
    }

    /// Takes fresh ids from `ids` instead of at random.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Puts it together.
    ///
    /// # Errors
    /// `Configuration` when two tools have one name.
    pub fn build(self) -> Result<Runs, Error> {
        if !self.problems.is_empty() {
            return Err(Error::configuration(self.problems.join("; ")));
        }
        let Self {
            models, tries, journal, leases, tools, steps, supervisors, clock, prompt_clock, ids, ..
        } = self;
        let told = prompt_clock.unwrap_or_else(|| clock.clone());
        let mut agents = AgentSetup::new(SharedModels(models), read(told)).tools(tools.clone());
        for step in steps {
            agents = agents.step(step);
        }
        if let Some(tries) = tries {
            agents = agents.tries(tries);
        }
        let kinds = house::kinds(agents, supervisors);
        let engine = Engine::new(journal, kinds, read(clock.clone())).with_ids(SharedIds(ids.clone()));
        Ok(Runs { engine: Arc::new(engine), leases, tools, clock, ids })
    }
}

impl fmt::Debug for RunsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunsBuilder")
    }
}

struct SharedModels(Arc<dyn Models>);

impl Models for SharedModels {
    fn resolve(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, thermidor_model_runtime::Error> {
        self.0.resolve(id)
    }
}

/// A clock that is shared, as one that can be handed over.
fn read(clock: Arc<dyn Clock>) -> impl Clock {
    move || clock.now()
}

struct SharedIds(Arc<dyn Ids>);

impl Ids for SharedIds {
    fn next(&self) -> thermidor_types::Uuid {
        self.0.next()
    }
}

/// The system's clock: the one place where runs read the time.
fn system_clock() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the home of the clock: everybody else is handed one")]
    let now = std::time::SystemTime::now();
    let millis = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |passed| passed.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

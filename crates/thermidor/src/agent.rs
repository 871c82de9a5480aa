use std::{fmt, sync::Arc};

use thermidor_agent_runtime::{AgentSpec, Contract};
use thermidor_context_engine::{ContextProvider, MessageProcessor};
use thermidor_group_orchestration::Supervisors;
use thermidor_model_runtime::ChatModel;
use thermidor_runs::{Run, RunRequest};
use thermidor_step_engine::Limits;
use thermidor_tools::Tool;
use thermidor_types::{MemberId, Text};

use crate::{
    Error, Models,
    house::{House, Resolver},
    own_steps::{OwnProcessor, OwnProvider},
};

/// Model calls in one turn at the most, unless somebody says otherwise.
const CALLS: u32 = 25;

/// An agent: a name, a persona, and what it may use. On its own or as a [`Team`](crate::Team)'s member.
///
/// It asks its model, runs the tools that the model calls, and asks again until it is answered in words.
///
/// ```
/// use thermidor::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let agent = Agent::new("reckoner", "You calculate.").tool(Calculator::default());
/// let answer = agent.ask("What does the calculator say to 17 * 23?").await?;
/// # assert!(!answer.is_empty());
/// println!("{answer}");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) name: MemberId,
    persona: Text,
    title: Option<Text>,
    model: Option<String>,
    may_call: Vec<String>,
    temperature: Option<f32>,
    max_calls: u32,
    pub(crate) limits: Option<Limits>,
    pub(crate) house: House,
}

impl Agent {
    /// An agent called `name`, which is told `persona`: who it is and how it behaves.
    pub fn new(name: impl Into<MemberId>, persona: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            persona: persona.into(),
            title: None,
            model: None,
            may_call: Vec::new(),
            temperature: None,
            max_calls: CALLS,
            limits: None,
            house: House::default(),
        }
    }

    /// Its name for people, where that is another one.
    #[must_use]
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The model it thinks with: `provider/model`, or `provider` for its default model. Without this, the
    /// [default](Models::default_model) of its models.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Thinks with a model of the caller's own: a scripted one in a test, one that runs in this process.
    #[must_use]
    pub fn own_model(mut self, model: impl ChatModel) -> Self {
        self.model = Some(model.card().id.to_string());
        self.house.own_models.push(Arc::new(model));
        self
    }

    /// The models there are. Without this, the rehearsal model alone. In a team they are the team's affair.
    #[must_use]
    pub fn models(mut self, models: Models) -> Self {
        self.house.models = Some(models);
        self
    }

    /// Gives it a tool to call.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.may_call.push(tool.spec().name.to_string());
        self.house.tools.push(Arc::new(tool));
        self
    }

    /// Lets it call a tool that its team has.
    #[must_use]
    pub fn may_call(mut self, tool: impl Into<String>) -> Self {
        self.may_call.push(tool.into());
        self
    }

    /// Puts something into its prompt.
    #[must_use]
    pub fn context(mut self, provider: impl ContextProvider) -> Self {
        self.house.providers.push(OwnProvider::provider(Some(&self.name), provider));
        self
    }

    /// Changes its prompt before it is sent.
    #[must_use]
    pub fn processor(mut self, processor: impl MessageProcessor) -> Self {
        self.house.processors.push(OwnProcessor::processor(Some(&self.name), processor));
        self
    }

    /// Sampling temperature, 0 to 2; the provider's default without this.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Model calls in one turn at the most, 25 without this. The last one is made without tools.
    #[must_use]
    pub fn max_calls(mut self, calls: u32) -> Self {
        self.max_calls = calls;
        self
    }

    /// Bounds a run of this agent. In a team limits are the team's affair.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Gives it one sentence to work on, and waits for the answer.
    ///
    /// # Errors
    /// As [`Agent::start`], and [`ErrorKind::Run`](crate::ErrorKind::Run) when the run does not end as done.
    pub async fn ask(&self, request: impl Into<Text>) -> Result<Text, Error> {
        Ok(self.start(request).await?.answer().await?)
    }

    /// Starts a run in the background: its [events](Run::events) tell what happens. It lives in memory; for
    /// one that is kept, see [`Models::runs`]. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// [`ErrorKind::Model`](crate::ErrorKind::Model) when its model cannot be called,
    /// [`ErrorKind::Run`](crate::ErrorKind::Run) when two of its tools or steps have one name or one of the
    /// tools it may call is not there.
    pub async fn start(&self, request: impl Into<Text>) -> Result<Run, Error> {
        let request = request.into();
        let resolver = self.house.resolver()?;
        let spec = self.frozen(&resolver, None)?;
        let runs = self.house.runs(resolver, Supervisors::new())?;
        Ok(runs.start(RunRequest::agent(spec, request).limits(self.limits.unwrap_or_default())).await?)
    }

    /// Its frozen configuration, for a composition of one's own: see [`Models::runs`]. The tools, steps and
    /// models of its own are not part of it.
    ///
    /// # Errors
    /// [`ErrorKind::Model`](crate::ErrorKind::Model) when its model cannot be called.
    pub fn spec(&self) -> Result<AgentSpec, Error> {
        self.frozen(&self.house.resolver()?, None)
    }

    /// `model` is for an agent that names none.
    pub(crate) fn frozen(&self, resolver: &Resolver, model: Option<&str>) -> Result<AgentSpec, Error> {
        Ok(AgentSpec {
            member: self.name.clone(),
            name: self.title.clone().unwrap_or_else(|| self.name.as_str().into()),
            model: resolver.id(self.model.as_deref().or(model))?,
            persona: self.persona.clone(),
            skill: None,
            tools: self.may_call.iter().map(Into::into).collect(),
            contract: Contract::default(),
            temperature: self.temperature,
            max_calls: self.max_calls,
            zone: "UTC".into(),
        })
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("tools", &self.may_call)
            .finish_non_exhaustive()
    }
}

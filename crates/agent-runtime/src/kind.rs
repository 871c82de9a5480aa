use std::{fmt, sync::Arc};

use thermidor_context_engine::{ContextProvider, MessageProcessor, Step};
use thermidor_step_engine::Executor;
use thermidor_tools::Registry;
use thermidor_types::{Clock, Json};

use crate::{Agent, AgentExecutor, AgentMachine, AgentSpec, ChatAgent, Models, ToolPolicies, Tries, prompt};

/// One agent, ready to run: its machine and what does its work.
pub type OpenAgent = (AgentMachine, Arc<dyn Executor<AgentMachine>>);

/// What all agents of a program share: models, tools, and steps for their prompts.
#[derive(Clone)]
pub struct AgentSetup {
    models: Arc<dyn Models>,
    clock: Arc<dyn Clock>,
    tools: Registry,
    steps: Vec<Step>,
    agent: Arc<dyn Agent>,
    tries: Option<Tries>,
}

impl AgentSetup {
    /// Agents that think with `models`, and have no tools. The clock tells them the date.
    pub fn new(models: impl Models, clock: impl Clock) -> Self {
        Self {
            models: Arc::new(models),
            clock: Arc::new(clock),
            tools: Registry::default(),
            steps: Vec::new(),
            agent: Arc::new(ChatAgent),
            tries: None,
        }
    }

    /// The tools there are. An agent gets those that its [`AgentSpec::tools`] names.
    #[must_use]
    pub fn tools(self, tools: Registry) -> Self {
        Self { tools, ..self }
    }

    /// Puts something of one's own into every prompt.
    #[must_use]
    pub fn provider(self, provider: impl ContextProvider) -> Self {
        self.step(Step::provider(provider))
    }

    /// Changes every prompt by a processor of one's own.
    #[must_use]
    pub fn processor(self, processor: impl MessageProcessor) -> Self {
        self.step(Step::processor(processor))
    }

    /// Adds a step of either sort.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Has `agent` decide instead of [`ChatAgent`].
    #[must_use]
    pub fn agent(self, agent: impl Agent) -> Self {
        Self { agent: Arc::new(agent), ..self }
    }

    /// Reads from `tries` how many requests a call took.
    #[must_use]
    pub fn tries(self, tries: Tries) -> Self {
        Self { tries: Some(tries), ..self }
    }

    /// Makes the machine and the executor of one agent.
    ///
    /// # Errors
    /// When `spec` is no [`AgentSpec`], names a tool that there is not, or clashes with a step of the caller's.
    pub fn open(&self, spec: &Json) -> Result<OpenAgent, String> {
        let spec: AgentSpec = spec.read().map_err(|error| format!("not an agent: {error}"))?;
        let spec = Arc::new(spec);
        let tools =
            self.tools.subset(&spec.tools).map_err(|error| format!("the agent {}: {error}", spec.member))?;
        let policies = ToolPolicies::of(&tools);
        let tools = Arc::new(tools);
        let engine = prompt::engine(&spec, &tools, &self.steps).map_err(|error| error.to_string())?;
        let executor = AgentExecutor {
            spec: spec.clone(),
            models: self.models.clone(),
            tools,
            engine,
            clock: self.clock.clone(),
            tries: self.tries.clone(),
        };
        Ok((AgentMachine::new(spec, policies).deciding(self.agent.clone()), Arc::new(executor)))
    }
}

/// How runs of kind `agent` are opened: for [`Kinds::with`](thermidor_step_engine::Kinds::with).
pub fn agent_kind(setup: AgentSetup) -> impl Fn(&Json) -> Result<OpenAgent, String> + Send + Sync + 'static {
    move |spec| setup.open(spec)
}

impl fmt::Debug for AgentSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSetup")
            .field("tools", &self.tools)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

use std::{fmt, sync::Arc};

use thermidor_agent_runtime::Tries;
use thermidor_model_runtime::{ChatModel, ModelRuntime, ModelRuntimeBuilder, Provider, Rehearsal};
use thermidor_runs::{Runs, RunsBuilder};
use thermidor_types::ModelId;

use crate::Error;

/// The models that agents can think with, and the one for those that name none. Cheap to clone.
///
/// Where no default is named, it is the first model of the caller's own, else the default model of the first
/// provider with a key, else the built-in [`Rehearsal`], which is always there as `rehearsal/extractive`.
/// Several agents and teams may share one: they share its connections then.
///
/// ```
/// use thermidor::Models;
///
/// let models = Models::builder().key("deepseek", "sk-…").build()?;
/// assert_eq!(models.default_model().to_string(), "deepseek/deepseek-chat");
/// assert_eq!(Models::builder().build()?.default_model().provider(), "rehearsal");
/// # Ok::<(), thermidor::Error>(())
/// ```
#[derive(Clone)]
pub struct Models {
    pub(crate) runtime: Arc<ModelRuntime>,
    pub(crate) tries: Tries,
    default: ModelId,
}

impl Models {
    /// Begins without keys. Nothing is read from the environment.
    pub fn builder() -> ModelsBuilder {
        ModelsBuilder::default()
    }

    /// The model of agents that name none.
    pub fn default_model(&self) -> &ModelId {
        &self.default
    }

    /// All that is known of these models and their providers.
    pub fn runtime(&self) -> &ModelRuntime {
        &self.runtime
    }

    /// Begins a composition of one's own with these models: runs that are kept in a journal, listed and
    /// resumed. [`Agent::spec`](crate::Agent::spec) and [`Team::group`](crate::Team::group) say what to run.
    ///
    /// ```
    /// use thermidor::{prelude::*, runs::RunRequest};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let models = Models::builder().build()?;
    /// let runs = models.runs().build()?;
    /// let agent = Agent::new("planner", "You plan.").models(models);
    /// let run = runs.start(RunRequest::agent(agent.spec()?, "A tea timer")).await?;
    /// let id = run.id();
    /// run.answer().await?;
    /// assert!(runs.show(id).await?.events.len() > 2);
    /// # Ok(()) }
    /// ```
    pub fn runs(&self) -> RunsBuilder {
        Runs::builder(self.runtime.clone()).tries(self.tries.clone())
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("default", &self.default).finish_non_exhaustive()
    }
}

/// Sets [`Models`] up. For what is not here, [`Runs::builder`] takes any [`ModelRuntime`].
#[derive(Debug, Default)]
#[must_use]
pub struct ModelsBuilder {
    runtime: ModelRuntimeBuilder,
    own: Option<ModelId>,
    default: Option<String>,
}

impl ModelsBuilder {
    /// The key for a provider, by its name or an alias. A blank key is none.
    pub fn key(mut self, provider: &str, key: impl Into<String>) -> Self {
        self.runtime = self.runtime.key(provider, key.into());
        self
    }

    /// Another address for a provider: a proxy, a mirror, a test server.
    pub fn base_url(mut self, provider: &str, base_url: impl Into<String>) -> Self {
        self.runtime = self.runtime.base_url(provider, base_url);
        self
    }

    /// A provider of the caller's own. It replaces a bundled one of the same name.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.runtime = self.runtime.provider(provider);
        self
    }

    /// A model of the caller's own, found by the id on its card.
    pub fn register(mut self, model: impl ChatModel) -> Self {
        self.own.get_or_insert_with(|| model.card().id.clone());
        self.runtime = self.runtime.register(model);
        self
    }

    /// The model of agents that name none: `provider/model`, or `provider` for its default model.
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default = Some(name.into());
        self
    }

    /// The models. No connection is opened.
    ///
    /// # Errors
    /// [`ErrorKind::Model`](crate::ErrorKind::Model) for a key or an address of an unknown provider, an address
    /// that is none, and a default model that cannot be called.
    pub fn build(self) -> Result<Models, Error> {
        let tries = Tries::default();
        let runtime = self.runtime.register(Rehearsal::new()).observer(Arc::new(tries.clone())).build()?;
        let default = match (self.default, self.own) {
            (Some(name), _) => runtime.model(&name)?.card().id.clone(),
            (None, Some(own)) => own,
            (None, None) => first_ready(&runtime).unwrap_or_else(|| Rehearsal::new().card().id.clone()),
        };
        Ok(Models { runtime: Arc::new(runtime), tries, default })
    }
}

/// The default model of the first provider with a key.
fn first_ready(runtime: &ModelRuntime) -> Option<ModelId> {
    runtime.providers().filter(|provider| !provider.local && runtime.is_ready(provider)).find_map(
        |provider| {
            let model = provider.default_model.as_ref()?;
            Some(ModelId::new(provider.name.clone(), model.clone()))
        },
    )
}

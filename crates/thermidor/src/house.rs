//! What an agent or a team brings along, and the composition root that is made of it.

use std::sync::Arc;

use thermidor_agent_runtime::Models as Resolve;
use thermidor_group_orchestration::{MemberSpec, Supervisors};
use thermidor_model_runtime::{ChatModel, ModelRuntime};
use thermidor_runs::Runs;
use thermidor_tools::Tool;
use thermidor_types::ModelId;

use crate::{
    Error, Models,
    own_steps::{OwnProcessor, OwnProvider},
};

/// Models, tools and steps of the prompt.
#[derive(Clone, Default)]
pub(crate) struct House {
    pub(crate) models: Option<Models>,
    pub(crate) own_models: Vec<Arc<dyn ChatModel>>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) providers: Vec<OwnProvider>,
    pub(crate) processors: Vec<OwnProcessor>,
}

impl House {
    /// Takes over what a member brings.
    pub(crate) fn take_in(&mut self, member: &str, other: &Self) -> Result<(), Error> {
        if other.models.is_some() {
            let problem = format!("{member} brings models to a team: give them to the team, `Team::models`");
            return Err(Error::configuration(problem));
        }
        for model in &other.own_models {
            let id = &model.card().id;
            let same = self.own_models.iter().find(|known| known.card().id == *id);
            if same.is_some_and(|known| !Arc::ptr_eq(known, model)) {
                return Err(Error::configuration(format!("two models are called {id}: rename one of them")));
            }
            self.own_models.push(model.clone());
        }
        for tool in &other.tools {
            let name = &tool.spec().name;
            let same = self.tools.iter().find(|known| known.spec().name == *name);
            match same {
                None => self.tools.push(tool.clone()),
                Some(known) if Arc::ptr_eq(known, tool) => {}
                Some(_) => {
                    let problem = format!(
                        "{member} brings a second tool called `{name}`: give it to the team, `Team::tool`, and \
                         let its members name it, `Agent::may_call`"
                    );
                    return Err(Error::configuration(problem));
                }
            }
        }
        self.providers.extend(other.providers.iter().cloned());
        self.processors.extend(other.processors.iter().cloned());
        Ok(())
    }

    /// Refuses a member that names a tool which nobody brought.
    pub(crate) fn has_tools_of(&self, member: &MemberSpec) -> Result<(), Error> {
        let MemberSpec::Agent(agent) = member else { return Ok(()) };
        let known = |name: &str| self.tools.iter().any(|tool| tool.spec().name == name);
        match agent.tools.iter().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => {
                let problem = format!(
                    "{} may call `{name}`, which the team does not have: add it, `Team::tool`",
                    agent.member
                );
                Err(Error::configuration(problem))
            }
        }
    }

    /// The models everything is resolved by.
    pub(crate) fn resolver(&self) -> Result<Resolver, Error> {
        let models = self.models.clone().map_or_else(|| Models::builder().build(), Ok)?;
        let own = self.own_models.iter().cloned();
        let own =
            own.fold(ModelRuntime::builder(), thermidor_model_runtime::ModelRuntimeBuilder::register_shared);
        let ids = self.own_models.iter().map(|model| model.card().id.clone()).collect();
        Ok(Resolver { own: own.observer(Arc::new(models.tries.clone())).build()?, ids, models })
    }

    pub(crate) fn runs(&self, resolver: Resolver, supervisors: Supervisors) -> Result<Runs, Error> {
        let tries = resolver.models.tries.clone();
        let mut runs = Runs::builder(resolver).tries(tries).supervisors(supervisors);
        for tool in &self.tools {
            runs = runs.tool(tool.clone());
        }
        for provider in &self.providers {
            runs = runs.context_provider(provider.clone());
        }
        for processor in &self.processors {
            runs = runs.message_processor(processor.clone());
        }
        Ok(runs.build()?)
    }
}

/// Finds the models that were brought along one by one before all others.
pub(crate) struct Resolver {
    own: ModelRuntime,
    ids: Vec<ModelId>,
    models: Models,
}

impl Resolver {
    /// The id of a model by name, if it can be called; without a name, the default one's.
    pub(crate) fn id(&self, name: Option<&str>) -> Result<ModelId, Error> {
        let default = || self.ids.first().unwrap_or(self.models.default_model()).to_string();
        let name = name.map_or_else(default, str::to_owned);
        let own = self.ids.iter().find(|id| id.to_string() == name);
        match own {
            Some(id) => Ok(id.clone()),
            None => Ok(self.models.runtime.model(&name)?.card().id.clone()),
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, thermidor_model_runtime::Error> {
        let runtime = if self.ids.contains(id) { &self.own } else { &*self.models.runtime };
        runtime.model(&id.to_string())
    }
}

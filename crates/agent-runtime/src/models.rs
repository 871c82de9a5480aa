use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use smol_str::SmolStr;
use thermidor_model_runtime::{CallObserver, CallReport, CallStep, ChatModel, Error, ModelRuntime};
use thermidor_types::ModelId;

/// Finds the model an agent thinks with. A single shared model is one too: it serves every agent.
pub trait Models: Send + Sync + 'static {
    /// The model called `id`, ready to call.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be called: no key, no configuration.
    fn resolve(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, Error>;
}

impl Models for ModelRuntime {
    fn resolve(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, Error> {
        self.model(&id.to_string())
    }
}

impl Models for Arc<dyn ChatModel> {
    fn resolve(&self, _: &ModelId) -> Result<Arc<dyn ChatModel>, Error> {
        Ok(self.clone())
    }
}

impl<M: Models> Models for Arc<M> {
    fn resolve(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, Error> {
        (**self).resolve(id)
    }
}

/// Counts the requests that each model call takes, failed ones included.
///
/// Give one clone to [`ModelRuntimeBuilder::observer`](thermidor_model_runtime::ModelRuntimeBuilder::observer)
/// and one to [`AgentSetup::tries`](crate::AgentSetup::tries). Without it a call counts as one request.
#[derive(Clone, Default)]
pub struct Tries(Arc<Mutex<HashMap<SmolStr, u32>>>);

impl Tries {
    /// Takes out what was counted for the call whose request had this prefix.
    pub(crate) fn take(&self, call_prefix: &str) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(call_prefix)
    }
}

impl CallObserver for Tries {
    fn observe(&self, report: CallReport<'_>) {
        match report.step {
            CallStep::Started => {
                let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                *tries.entry(report.call_prefix.into()).or_default() += 1;
            }
            CallStep::FirstToken(_)
            | CallStep::Failed(_)
            | CallStep::Ended(..)
            | CallStep::Dropped
            | CallStep::Refused(_)
            | CallStep::Limited(_)
            | CallStep::Breaker(_)
            | CallStep::Discarded(..)
            | CallStep::Waiting(_) => {}
        }
    }
}

impl fmt::Debug for Tries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tries")
    }
}

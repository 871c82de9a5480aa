//! Steps of the prompt that belong to one member: the others' prompts pass them by.

use std::{sync::Arc, time::Duration};

use thermidor_context_engine::{
    ContextProvider, Contribution, Draft, Error, MessageProcessor, Stage, View, async_trait,
};
use thermidor_types::MemberId;

/// A step and whose it is.
pub(crate) struct OwnStep<S: ?Sized> {
    name: Arc<str>,
    /// Everybody's when there is none.
    owner: Option<MemberId>,
    step: Arc<S>,
}

pub(crate) type OwnProvider = OwnStep<dyn ContextProvider>;
pub(crate) type OwnProcessor = OwnStep<dyn MessageProcessor>;

/// By hand, because a derived one would ask the step itself to be `Clone`.
impl<S: ?Sized> Clone for OwnStep<S> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), owner: self.owner.clone(), step: self.step.clone() }
    }
}

impl<S: ?Sized> OwnStep<S> {
    /// Names are unique in an engine, and two members may bring steps of one name.
    fn new(owner: Option<&MemberId>, name: &str, step: Arc<S>) -> Self {
        let name = owner.map_or_else(|| name.into(), |owner| format!("{name} of {owner}").into());
        Self { name, owner: owner.cloned(), step }
    }

    fn is_for(&self, view: &View) -> bool {
        self.owner.is_none() || self.owner == view.member
    }
}

impl OwnProvider {
    pub(crate) fn provider(owner: Option<&MemberId>, provider: impl ContextProvider) -> Self {
        let name = provider.name().to_owned();
        Self::new(owner, &name, Arc::new(provider))
    }
}

impl OwnProcessor {
    pub(crate) fn processor(owner: Option<&MemberId>, processor: impl MessageProcessor) -> Self {
        let name = processor.name().to_owned();
        Self::new(owner, &name, Arc::new(processor))
    }
}

#[async_trait]
impl ContextProvider for OwnProvider {
    fn name(&self) -> &str {
        &self.name
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        if self.is_for(view) { self.step.contribute(view).await } else { Ok(Vec::new()) }
    }

    fn required(&self) -> bool {
        self.step.required()
    }

    fn deadline(&self) -> Duration {
        self.step.deadline()
    }
}

impl MessageProcessor for OwnProcessor {
    fn name(&self) -> &str {
        &self.name
    }

    fn stage(&self) -> Stage {
        self.step.stage()
    }

    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error> {
        if self.is_for(view) { self.step.process(draft, view) } else { Ok(()) }
    }
}

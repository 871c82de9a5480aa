use std::{fmt, sync::Arc};

use thermidor_types::{FailureKind, ModelId};

use crate::{
    ContextEngine, ContextProvider, Error, Fit, MessageProcessor, Stage, TiktokenCounter, TokenCounter,
    Vocabulary, cache::CachedCounter, steps,
};

/// Collects the steps of a [`ContextEngine`].
#[derive(Default)]
pub struct ContextEngineBuilder {
    steps: Vec<Step>,
    edits: Vec<Edit>,
    counter: Option<CachedCounter>,
}

/// A step of either sort, for the places where both can stand.
#[derive(Clone)]
pub enum Step {
    /// Offers blocks.
    Provider(Arc<dyn ContextProvider>),
    /// Changes what is sent.
    Processor(Arc<dyn MessageProcessor>),
}

impl Step {
    /// A step that offers blocks.
    pub fn provider(provider: impl ContextProvider) -> Self {
        Self::Provider(Arc::new(provider))
    }

    /// A step that changes what is sent.
    pub fn processor(processor: impl MessageProcessor) -> Self {
        Self::Processor(Arc::new(processor))
    }

    /// The step's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Provider(provider) => provider.name(),
            Self::Processor(processor) => processor.name(),
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Step").field(&self.name()).finish()
    }
}

#[derive(Debug)]
enum Edit {
    Before(String, Step),
    After(String, Step),
    Replace(String, Step),
    Disable(String),
}

impl ContextEngineBuilder {
    pub(crate) fn standard() -> Self {
        Self::default()
            .provider(steps::Today)
            .provider(steps::RequestBlock)
            .provider(steps::UpstreamOutputs)
            .provider(steps::StageInstruction)
            .processor(steps::HistoryTruncation::default())
            .processor(steps::PairCalls)
            .processor(steps::MediaNotes)
            .processor(steps::DropEmpty)
            .processor(Fit)
            .processor(steps::MergeAdjacent)
    }

    /// Adds a provider. Inside a slot, a stability and a priority blocks stand in the order of their providers.
    #[must_use]
    pub fn provider(self, provider: impl ContextProvider) -> Self {
        self.step(Step::provider(provider))
    }

    /// Adds a processor at the end of its stage.
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

    /// Counts with this counter, always, instead of by the model's name.
    #[must_use]
    pub fn counter(self, counter: impl TokenCounter) -> Self {
        Self { counter: Some(CachedCounter::new(counter)), ..self }
    }

    /// Puts a step before the one named `name`; a processor runs in that one's stage.
    #[must_use]
    pub fn before(self, name: impl Into<String>, step: Step) -> Self {
        self.edit(Edit::Before(name.into(), step))
    }

    /// Puts a step behind the one named `name`; a processor runs in that one's stage.
    #[must_use]
    pub fn after(self, name: impl Into<String>, step: Step) -> Self {
        self.edit(Edit::After(name.into(), step))
    }

    /// Puts a step in the place of the one named `name`.
    #[must_use]
    pub fn replace(self, name: impl Into<String>, step: Step) -> Self {
        self.edit(Edit::Replace(name.into(), step))
    }

    /// Takes the step named `name` out.
    #[must_use]
    pub fn disable(self, name: impl Into<String>) -> Self {
        self.edit(Edit::Disable(name.into()))
    }

    fn edit(mut self, edit: Edit) -> Self {
        self.edits.push(edit);
        self
    }

    /// Puts the steps in order.
    ///
    /// # Errors
    /// `Configuration` when a name does not exist or occurs twice, or a provider is placed beside a processor.
    pub fn build(self) -> Result<ContextEngine, Error> {
        let (mut providers, mut processors) = (Vec::new(), Vec::new());
        for step in self.steps {
            match step {
                Step::Provider(provider) => providers.push(provider),
                Step::Processor(processor) => processors.push((processor.stage(), processor)),
            }
        }
        processors.sort_by_key(|(stage, _)| *stage);
        for edit in self.edits {
            apply(edit, &mut providers, &mut processors)?;
        }
        let counting = self.counter.map_or_else(Counting::by_model, Counting::Given);
        let engine = ContextEngine { providers, processors, counting };
        let mut names: Vec<&str> = engine.steps().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(configuration(format!("two steps are named {:?}", pair[0]))),
            None => Ok(engine),
        }
    }
}

type Providers = Vec<Arc<dyn ContextProvider>>;
type Processors = Vec<(Stage, Arc<dyn MessageProcessor>)>;

fn apply(edit: Edit, providers: &mut Providers, processors: &mut Processors) -> Result<(), Error> {
    let (name, step, offset, replaced) = match edit {
        Edit::Before(name, step) => (name, Some(step), 0, 0),
        Edit::After(name, step) => (name, Some(step), 1, 0),
        Edit::Replace(name, step) => (name, Some(step), 0, 1),
        Edit::Disable(name) => (name, None, 0, 1),
    };
    let provider = providers.iter().position(|provider| provider.name() == name);
    let processor = processors.iter().position(|(_, processor)| processor.name() == name);
    match (provider, processor, step) {
        (Some(at), _, Some(Step::Provider(step))) => {
            providers.splice(at + offset..at + offset + replaced, [step]);
        }
        (None, Some(at), Some(Step::Processor(step))) => {
            let stage = processors[at].0;
            processors.splice(at + offset..at + offset + replaced, [(stage, step)]);
        }
        (Some(at), _, None) => {
            providers.remove(at);
        }
        (None, Some(at), None) => {
            processors.remove(at);
        }
        (None, None, _) => {
            let all = providers.iter().map(|provider| provider.name());
            let all: Vec<&str> =
                all.chain(processors.iter().map(|(_, processor)| processor.name())).collect();
            return Err(configuration(format!("no step is named {name:?}; there are {}", all.join(", "))));
        }
        (Some(_), _, Some(Step::Processor(step))) => {
            return Err(configuration(format!("{:?} is a processor and {name:?} a provider", step.name())));
        }
        (None, Some(_), Some(Step::Provider(step))) => {
            return Err(configuration(format!("{:?} is a provider and {name:?} a processor", step.name())));
        }
    }
    Ok(())
}

fn configuration(text: String) -> Error {
    Error::new(FailureKind::Configuration, text)
}

/// Which counter a prompt is measured with.
#[derive(Clone)]
pub(crate) enum Counting {
    Given(CachedCounter),
    ByModel { o200k: CachedCounter, cl100k: CachedCounter },
}

impl Counting {
    fn by_model() -> Self {
        let memory =
            |model: &str| CachedCounter::new(TiktokenCounter::for_model(&ModelId::new("openai", model)));
        Self::ByModel { o200k: memory("gpt-5"), cl100k: memory("gpt-4") }
    }

    pub(crate) fn for_model(&self, model: &ModelId) -> Arc<dyn TokenCounter> {
        match self {
            Self::Given(counter) => Arc::new(counter.clone()),
            Self::ByModel { o200k, cl100k } => {
                let counter = TiktokenCounter::for_model(model);
                let memory = if counter.vocabulary() == Vocabulary::O200k { o200k } else { cl100k };
                Arc::new(memory.sharing(counter))
            }
        }
    }
}

impl fmt::Debug for ContextEngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextEngineBuilder")
            .field("steps", &self.steps)
            .field("edits", &self.edits)
            .finish_non_exhaustive()
    }
}

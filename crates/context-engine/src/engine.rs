use std::{fmt, sync::Arc};

use futures_util::future::join_all;
use smol_str::SmolStr;
use thermidor_types::{FailureKind, Measure, Message, Role, Tokens, ToolSchema};

use crate::{
    ContextEngineBuilder, ContextProvider, Contribution, Draft, Error, EstimateCounter, MessageProcessor,
    Report, ReportLine, Source, Stage, TokenCounter, Unit, Verdict, View, Warning,
    assemble::assemble,
    builder::Counting,
    render,
    unit::Bytes,
    weigh::{MESSAGE_FRAME, tool_tokens},
};

/// How much of the window stays free where counts are estimates by a foreign vocabulary: a twentieth.
const MARGIN: u64 = 20;

/// Turns a view into a prompt that fits, and says why it is as it is.
///
/// It is made of named steps: providers, which offer blocks, and processors, which change what is sent.
/// Cheap to clone; one engine serves any number of prompts at once and shares its memory of counts among them.
///
/// Tokens are counted with the model's vocabulary ([`TiktokenCounter`](crate::TiktokenCounter)), unless the
/// bytes of the prompt alone show that it fits, since no byte-level vocabulary has more tokens than bytes:
/// then figures are estimates, the report says so, and no vocabulary is read. A counter given to the builder
/// is always used.
#[derive(Clone)]
pub struct ContextEngine {
    pub(crate) providers: Vec<Arc<dyn ContextProvider>>,
    pub(crate) processors: Vec<(Stage, Arc<dyn MessageProcessor>)>,
    pub(crate) counting: Counting,
}

/// What has to stay free beside the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Tokens of the window for the answer.
    pub answer: Tokens,
}

/// What goes to the model, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The messages in order.
    pub messages: Vec<Message>,
    /// The tools, as they were handed in.
    pub tools: Vec<ToolSchema>,
    /// What it is made of.
    pub report: Report,
}

impl ContextEngine {
    /// An engine without any step.
    pub fn builder() -> ContextEngineBuilder {
        ContextEngineBuilder::default()
    }

    /// The usual steps, to be completed: providers `today`, `request`, `upstream-outputs`, `instruction`;
    /// processors
    /// `history-truncation` (without a limit), `pair-calls`, `media-notes`, `drop-empty`, `fit`, `merge-adjacent`.
    ///
    /// ```
    /// use thermidor_context_engine::{ContextEngine, steps::SystemRole};
    /// let engine = ContextEngine::standard().provider(SystemRole::new("You plan projects.")).build()?;
    /// # Ok::<(), thermidor_context_engine::Error>(())
    /// ```
    pub fn standard() -> ContextEngineBuilder {
        ContextEngineBuilder::standard()
    }

    /// The names of all steps, in the order in which they take effect.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        let processors = self.processors.iter().map(|(_, processor)| processor.name());
        self.providers.iter().map(|provider| provider.name()).chain(processors)
    }

    /// Builds the prompt for `view`.
    ///
    /// Providers run concurrently and each within its deadline, so this needs a tokio runtime with a timer.
    /// What follows is computation: about 1 ms per 1,000 messages of history when they were counted before.
    ///
    /// # Errors
    /// `ContextTooLong` when what may not be cut does not fit; whatever a required provider (`Timeout` if late) or a
    /// processor failed with.
    pub async fn prompt(&self, view: View, tools: Vec<ToolSchema>, room: Room) -> Result<Prompt, Error> {
        let (contributions, warnings) = self.ask(&view).await?;
        self.compose(&view, contributions, warnings, tools, room)
    }

    async fn ask(&self, view: &View) -> Result<(Vec<(SmolStr, Contribution)>, Vec<Warning>), Error> {
        let answers = join_all(self.providers.iter().map(async |provider| {
            let late = |_| {
                let text = format!("no answer within {:?}", provider.deadline());
                Err(Error::new(FailureKind::Timeout, text))
            };
            tokio::time::timeout(provider.deadline(), provider.contribute(view)).await.unwrap_or_else(late)
        }))
        .await;
        let (mut contributions, mut warnings) = (Vec::new(), Vec::new());
        for (provider, answer) in self.providers.iter().zip(answers) {
            let step = SmolStr::from(provider.name());
            match answer {
                Ok(given) => {
                    for mut contribution in given {
                        let texts = std::mem::take(&mut contribution.warnings);
                        warnings.extend(texts.into_iter().map(|text| Warning { step: step.clone(), text }));
                        contributions.push((step.clone(), contribution));
                    }
                }
                Err(error) if provider.required() => return Err(error.in_step(&step)),
                Err(error) => warnings.push(Warning { step, text: error.to_string().into() }),
            }
        }
        Ok((contributions, warnings))
    }

    fn compose(
        &self,
        view: &View,
        contributions: Vec<(SmolStr, Contribution)>,
        warnings: Vec<Warning>,
        tools: Vec<ToolSchema>,
        room: Room,
    ) -> Result<Prompt, Error> {
        let exact = self.counting.for_model(&view.model.id);
        let window = view.model.context_window;
        let margin = if exact.measure() == Measure::Estimated { window.0 / MARGIN } else { 0 };
        let budget = window.saturating_sub(room.answer).saturating_sub(Tokens(margin));
        let units = assemble(view, contributions);
        let estimated = match self.counting {
            Counting::ByModel { .. } if bound(&units, &tools) <= budget => {
                let draft = self.process(view, units.clone(), &tools, Arc::new(EstimateCounter), budget)?;
                // Unless a step made it so much longer that the bytes prove nothing any more.
                (bound(&draft.units, &tools) <= budget).then_some(draft)
            }
            Counting::ByModel { .. } | Counting::Given(_) => None,
        };
        let mut draft = match estimated {
            Some(draft) => draft,
            None => self.process(view, units, &tools, exact, budget)?,
        };
        if !draft.units.iter().any(|unit| unit.role() == Role::User) {
            draft.step = "engine".into();
            draft.warn("the prompt has no user message: many models refuse that");
        }
        let mut report = Report { window, room: room.answer, budget, warnings, ..Report::default() };
        report.measure = draft.counter().measure();
        report.warnings.append(&mut draft.warnings);
        let of_tools: Vec<ReportLine> = tools
            .iter()
            .map(|tool| {
                let tokens = tool_tokens(tool, draft.counter());
                let source = Source::Tool { name: tool.name.clone() };
                ReportLine {
                    source,
                    tokens_before: tokens,
                    tokens_after: tokens,
                    verdict: Verdict::Kept,
                    reason: SmolStr::default(),
                }
            })
            .collect();
        let (messages, lines) = render::finish(draft);
        report.lines = lines;
        report.lines.extend(of_tools);
        report.total = report.lines.iter().map(|line| line.tokens_after).sum();
        Ok(Prompt { messages, tools, report })
    }

    fn process(
        &self,
        view: &View,
        units: Vec<Unit>,
        tools: &[ToolSchema],
        counter: Arc<dyn TokenCounter>,
        budget: Tokens,
    ) -> Result<Draft, Error> {
        let fixed = tools.iter().map(|tool| tool_tokens(tool, &*counter)).sum();
        let mut draft = Draft::new(units, counter, budget, fixed);
        for (_, processor) in &self.processors {
            draft.step = processor.name().into();
            processor.process(&mut draft, view).map_err(|error| error.in_step(processor.name()))?;
        }
        let total = draft.total();
        if total > budget {
            let text = format!("the prompt takes {total} tokens after all steps, {budget} are allowed");
            return Err(Error::new(FailureKind::ContextTooLong, text));
        }
        Ok(draft)
    }
}

/// The most tokens a request of these units can have.
fn bound(units: &[Unit], tools: &[ToolSchema]) -> Tokens {
    let units: Tokens = units.iter().map(|unit| unit.bound() + MESSAGE_FRAME).sum();
    // Two bytes at each seam of a system message are within the frames that are not needed there.
    units + tools.iter().map(|tool| tool_tokens(tool, &Bytes)).sum()
}

impl fmt::Debug for ContextEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextEngine")
            .field("steps", &self.steps().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

use crate::{Draft, Error, View};

/// Changes what is sent: the way to select, rewrite or shape messages.
///
/// A processor is pure: the same draft and view give the same draft. It works on whole units, so it cannot
/// send a tool call without its result, and removes or shortens through the draft, which writes the report.
///
/// ```
/// use thermidor_context_engine::{Draft, Error, MessageProcessor, View};
/// use thermidor_types::OriginKind;
///
/// struct OnlyPeople;
///
/// impl MessageProcessor for OnlyPeople {
///     fn name(&self) -> &str { "only-people" }
///     fn process(&self, draft: &mut Draft, _: &View) -> Result<(), Error> {
///         draft.retain("not said by a person", |unit| {
///             unit.message().is_none_or(|message| message.origin().kind == OriginKind::Person)
///         });
///         Ok(())
///     }
/// }
/// ```
pub trait MessageProcessor: Send + Sync + 'static {
    /// The step's name: unique in an engine, used in the report and to place, replace or disable it.
    fn name(&self) -> &str;

    /// When it runs. Inside a stage processors run in the order of registration.
    fn stage(&self) -> Stage {
        Stage::Rewrite
    }

    /// Changes the draft.
    ///
    /// # Errors
    /// Of any kind; there is no prompt then.
    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error>;
}

/// The stages of processing, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Which messages take part at all: limits by count, what a member may see.
    Select,
    /// Messages of other roles and other members become messages of the four roles; open calls get an end.
    Flatten,
    /// Contents change: media the model cannot read, empty messages, own changes.
    #[default]
    Rewrite,
    /// The draft is made to fit. Whatever runs after this stage may not add tokens.
    Fit,
    /// The shape that providers insist on.
    Finish,
}

/// A processor of the [`Rewrite`](Stage::Rewrite) stage from a function.
///
/// ```
/// use thermidor_context_engine::processor_fn;
/// use thermidor_types::Message;
/// let shout = processor_fn("shout", |draft, _| {
///     draft.rewrite("made loud", |message| match message {
///         Message::User(_) => Some(Message::user(message.text().to_uppercase())),
///         _ => None,
///     });
///     Ok(())
/// });
/// ```
pub fn processor_fn<F>(name: &'static str, process: F) -> impl MessageProcessor
where
    F: Fn(&mut Draft, &View) -> Result<(), Error> + Send + Sync + 'static,
{
    Function { name, stage: Stage::Rewrite, process }
}

/// A processor of another stage from a function.
pub fn processor_at<F>(stage: Stage, name: &'static str, process: F) -> impl MessageProcessor
where
    F: Fn(&mut Draft, &View) -> Result<(), Error> + Send + Sync + 'static,
{
    Function { name, stage, process }
}

struct Function<F> {
    name: &'static str,
    stage: Stage,
    process: F,
}

impl<F> MessageProcessor for Function<F>
where
    F: Fn(&mut Draft, &View) -> Result<(), Error> + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error> {
        (self.process)(draft, view)
    }
}

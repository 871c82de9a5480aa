use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use smol_str::SmolStr;
use thermidor_types::{Failure, FailureKind, ModelCard, Usage};

use super::{
    observer::{CallObserver, CallStep, Teller, Told},
    opening::{Opening, endless, open, unseen_failure},
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, FaultClass, StreamEnd};

/// One way to an answer: a key, an address, or another model.
#[derive(Clone)]
pub struct Channel {
    /// Its name, for whoever observes calls. Holds no secret.
    pub name: SmolStr,
    /// The model it leads to.
    pub model: Arc<dyn ChatModel>,
}

impl Channel {
    /// The way `name` to `model`.
    pub fn new(name: impl Into<SmolStr>, model: Arc<dyn ChatModel>) -> Self {
        Self { name: name.into(), model }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Channel").field(&self.name).field(&self.model.card().id).finish()
    }
}

/// With which channel a call starts.
#[derive(Clone, Debug, Default)]
pub enum Order {
    /// With the first: the others are a reserve.
    #[default]
    Listed,
    /// With each in turn, so that all carry the same load. Clones count together.
    Turns(Arc<AtomicUsize>),
}

impl Order {
    fn first(&self, channels: usize) -> usize {
        match self {
            Self::Listed => 0,
            Self::Turns(turn) => turn.fetch_add(1, Ordering::Relaxed) % channels,
        }
    }
}

/// Goes on to the next channel when one fails, as long as nobody has seen anything of an answer.
///
/// The next channel is asked after an error that may be one of the place ([`Error::failover`]), after an answer that
/// broke before anything was to be seen, and after one that ended empty. Nothing of these is in the stream; what they
/// consumed is added to the usage of the final answer, or of the error. From the first word that is not blank, media
/// or call on the stream is handed through as it comes, and a break is an ending like any other.
///
/// When no channel answers, the error is the one that promises most: one worth a retry with the shortest wait, else
/// the first. The card is that of the first channel: its window should be the smallest.
#[derive(Clone)]
pub struct Failover {
    first: Channel,
    others: Vec<Channel>,
    order: Order,
    teller: Teller,
}

impl Failover {
    /// Asks `first`, then `others` in their order.
    pub fn new(first: Channel, others: impl IntoIterator<Item = Channel>) -> Self {
        Self { first, others: others.into_iter().collect(), order: Order::Listed, teller: Teller::default() }
    }

    /// Starts with other channels than the first.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Tells `observer` of answers that are thrown away.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.teller.observer = Some(observer);
        self
    }

    /// All channels in the order of one call.
    fn round(&self) -> impl Iterator<Item = &Channel> {
        let channels = 1 + self.others.len();
        let all = || std::iter::once(&self.first).chain(&self.others);
        let start = self.order.first(channels);
        all().skip(start).chain(all().take(start))
    }
}

impl fmt::Debug for Failover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channels: Vec<_> = std::iter::once(&self.first).chain(&self.others).collect();
        f.debug_struct("Failover")
            .field("channels", &channels)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for Failover {
    fn card(&self) -> &ModelCard {
        self.first.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let mut spent = Usage::default();
        let mut best: Option<Error> = None;
        let mut empty: Option<(Vec<ChatEvent>, Box<StreamEnd>)> = None;
        for channel in self.round() {
            let told = Teller { channel: channel.name.clone(), ..self.teller.clone() }
                .of(channel.model.card(), &request);
            match ask(channel, &request, &told).await {
                Answer::Seen(answer) => return Ok(adding(spent, answer)),
                Answer::Empty(held, end) => {
                    spent += end.message.usage;
                    empty = Some((held, end));
                }
                Answer::None(error) => {
                    spent += error.usage();
                    if !error.failover() {
                        return Err(error.with_usage(spent));
                    }
                    best = Some(match best {
                        Some(best) if !promises_more(&error, &best) => best,
                        Some(_) | None => error,
                    });
                }
            }
        }
        match (empty, best) {
            // Everybody was asked and one was done without a word: that is an answer, though an empty one.
            (Some((held, mut end)), _) => {
                end.message.usage = spent;
                Ok(stream::iter(held).chain(stream::iter([ChatEvent::Ended(end)])).boxed())
            }
            (None, Some(error)) => Err(error.with_usage(spent)),
            (None, None) => {
                Err(Error::new(FailureKind::Internal, self.card().id.clone(), "there is no channel to ask"))
            }
        }
    }
}

/// What came of one channel.
enum Answer {
    /// Something is to be seen.
    Seen(ChatStream),
    /// It ended without anything to be seen.
    Empty(Vec<ChatEvent>, Box<StreamEnd>),
    /// It failed before anything was to be seen.
    None(Error),
}

async fn ask(channel: &Channel, request: &ChatRequest, told: &Told) -> Answer {
    let model = &channel.model;
    let failed =
        |failure: &Failure| Error::new(failure.kind, model.card().id.clone(), failure.message.as_str());
    let stream = match model.stream(request.clone()).await {
        Ok(stream) => stream,
        Err(error) => return Answer::None(error),
    };
    match open(stream).await {
        Opening::Seen(stream) => Answer::Seen(stream),
        Opening::Endless => Answer::None(failed(&endless())),
        Opening::Unseen(held, end) => {
            let usage = end.message.usage;
            if let Some(failure) = unseen_failure(&end) {
                told.tell(CallStep::Discarded(failure.clone(), usage));
                return Answer::None(failed(failure).with_usage(usage));
            }
            let empty = Failure::new(FailureKind::Malformed, FaultClass::ModelEmptyCompletion.name());
            told.tell(CallStep::Discarded(empty, usage));
            Answer::Empty(held, end)
        }
    }
}

fn promises_more(error: &Error, than: &Error) -> bool {
    let promise = |error: &Error| (!error.kind().retryable(), error.retry_after().unwrap_or_default());
    promise(error) < promise(than)
}

/// The answer, with what came to nothing before it in its usage.
pub(super) fn adding(spent: Usage, answer: ChatStream) -> ChatStream {
    if spent == Usage::default() {
        return answer;
    }
    answer
        .map(move |mut event| {
            if let ChatEvent::Ended(end) = &mut event {
                end.message.usage += spent;
            }
            event
        })
        .boxed()
}

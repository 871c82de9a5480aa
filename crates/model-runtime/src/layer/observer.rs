use std::{sync::Arc, time::Duration};

use smol_str::SmolStr;
use thermidor_types::{Failure, ModelCard, ModelId, Usage};

use super::BreakerState;
use crate::{ChatRequest, Error, StreamEnding};

/// What happens to one call, for whoever makes events of it.
#[derive(Clone, Debug)]
pub struct CallReport<'a> {
    /// The model called.
    pub model: &'a ModelId,
    /// The way to it: a key, an address. Empty where there is only one.
    pub channel: &'a str,
    /// The request's call prefix: which call this is.
    pub call_prefix: &'a str,
    /// Which try, from 1. One try may go through several channels, each at most once.
    pub attempt: u32,
    /// What happened.
    pub step: CallStep,
}

/// A step in the life of one call.
///
/// A request that is sent is [`Started`](Self::Started), and then comes exactly one of
/// [`Failed`](Self::Failed), [`Ended`](Self::Ended) and [`Dropped`](Self::Dropped). The other steps belong to the
/// layers around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStep {
    /// A request was sent.
    Started,
    /// The first words, thoughts, media or call of its answer came, so long after it was sent.
    FirstToken(Duration),
    /// No answer began, or a stream stopped without an end.
    Failed(Failure),
    /// The answer ended: how, and what it consumed.
    Ended(StreamEnding, Usage),
    /// Nobody wants the answer any more: it was stopped before its end.
    Dropped,
    /// No request was sent: the channel is taken to be down, or its limits would take too long.
    Refused(Failure),
    /// A request waited so long for its turn.
    Limited(Duration),
    /// The state of the channel's breaker changed to this.
    Breaker(BreakerState),
    /// An answer nobody saw anything of was thrown away: why, and what it consumed.
    Discarded(Failure, Usage),
    /// There will be another try after this time.
    Waiting(Duration),
}

/// Is told what happens to calls.
pub trait CallObserver: Send + Sync + 'static {
    /// One step. It runs inside the call: be quick.
    fn observe(&self, report: CallReport<'_>);
}

/// Who is told by one layer, and in whose name.
#[derive(Clone, Default)]
pub(super) struct Teller {
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) channel: SmolStr,
}

impl Teller {
    /// Speaks of the call that `request` makes of the model with this card.
    pub(super) fn of(&self, card: &ModelCard, request: &ChatRequest) -> Told {
        let Self { observer, channel } = self.clone();
        let (model, call_prefix) = (card.id.clone(), request.call_prefix.clone());
        Told { observer, channel, model, call_prefix, attempt: request.attempt.max(1) }
    }
}

/// One call, on the way to whoever is told of it.
#[derive(Clone)]
pub(super) struct Told {
    observer: Option<Arc<dyn CallObserver>>,
    channel: SmolStr,
    model: ModelId,
    call_prefix: SmolStr,
    attempt: u32,
}

impl Told {
    pub(super) fn tell(&self, step: CallStep) {
        if let Some(observer) = &self.observer {
            let Self { channel, model, call_prefix, attempt, .. } = self;
            observer.observe(CallReport { model, channel, call_prefix, attempt: *attempt, step });
        }
    }

    /// Tells that a layer refuses the call.
    pub(super) fn refuse(&self, error: Error) -> Error {
        self.tell(CallStep::Refused(error.to_failure()));
        error
    }
}

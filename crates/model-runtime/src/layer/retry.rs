use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_types::{Failure, FailureKind, ModelCard, ModelId};

use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding};

/// How often and how patiently a call is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first included; at least one.
    pub attempts: u32,
    /// The wait before the second try; it doubles from try to try.
    pub first_wait: Duration,
    /// The longest wait of our own.
    pub longest_wait: Duration,
    /// The longest wait a provider may ask for; beyond it the failure is final.
    pub longest_asked_wait: Duration,
}

impl Default for RetryPolicy {
    /// Three tries, half a second, one second; a provider may ask for a minute.
    fn default() -> Self {
        Self {
            attempts: 3,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            longest_asked_wait: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    /// The wait after `failed` tries: between half and all of the doubled wait by `chance` (0 to 1), at least
    /// what the provider asked for. `None` when there is no further try.
    pub fn wait(&self, failed: u32, error: &Error, chance: f64) -> Option<Duration> {
        let asked = error.retry_after().unwrap_or_default();
        if failed >= self.attempts || !error.kind().retryable() || asked > self.longest_asked_wait {
            return None;
        }
        let doublings = failed.saturating_sub(1).min(16);
        let full = self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait);
        Some(full.mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0)).max(asked))
    }
}

/// Draws a number from 0 to 1, so that clients do not come back all at once.
pub type Chance = Arc<dyn Fn() -> f64 + Send + Sync>;

/// What happens to one call, for whoever makes events of it.
#[derive(Clone, Debug)]
pub struct CallReport<'a> {
    /// The model called.
    pub model: &'a ModelId,
    /// The request's call prefix: which call this is.
    pub call_prefix: &'a str,
    /// Which try, from 1.
    pub attempt: u32,
    /// What happened.
    pub step: CallStep,
}

/// A step in the life of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStep {
    /// The try was sent.
    Started,
    /// The try failed before anything was to be seen.
    Failed(Failure),
    /// There will be another try after this time.
    Waiting(Duration),
}

/// Is told what happens to calls.
pub trait CallObserver: Send + Sync + 'static {
    /// One step. It runs inside the call: be quick.
    fn observe(&self, report: CallReport<'_>);
}

/// Tries a failed call again, as long as nobody has seen anything of an answer.
///
/// Only kinds that may pass are tried again ([`FailureKind::retryable`](thermidor_types::FailureKind::retryable)).
/// Once a delta was handed out the stream is handed through as it comes. Dropping the call ends the waiting.
#[derive(Clone)]
pub struct Retry {
    model: Arc<dyn ChatModel>,
    policy: RetryPolicy,
    observer: Option<Arc<dyn CallObserver>>,
    chance: Chance,
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, policy, .. } = self;
        f.debug_struct("Retry")
            .field("model", &model.card().id)
            .field("policy", policy)
            .finish_non_exhaustive()
    }
}

impl Retry {
    /// Tries `model` again by `policy`.
    pub fn new(model: Arc<dyn ChatModel>, policy: RetryPolicy) -> Self {
        Self { model, policy, observer: None, chance: Arc::new(random) }
    }

    /// Tells `observer` of every try.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Draws waits by `chance` instead of at random.
    #[must_use]
    pub fn chance(mut self, chance: Chance) -> Self {
        self.chance = chance;
        self
    }

    fn report(&self, request: &ChatRequest, attempt: u32, step: CallStep) {
        if let Some(observer) = &self.observer {
            let model = &self.model.card().id;
            observer.observe(CallReport { model, call_prefix: &request.call_prefix, attempt, step });
        }
    }
}

#[async_trait]
impl ChatModel for Retry {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let mut attempt = 1;
        loop {
            self.report(&request, attempt, CallStep::Started);
            let error = match first_event(&*self.model, request.clone()).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            self.report(&request, attempt, CallStep::Failed(error.to_failure()));
            let Some(wait) = self.policy.wait(attempt, &error, (self.chance)()) else { return Err(error) };
            self.report(&request, attempt, CallStep::Waiting(wait));
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }
}

/// The stream from its first event on; a failure that comes first of all is an error.
async fn first_event(model: &dyn ChatModel, request: ChatRequest) -> Result<ChatStream, Error> {
    let mut stream = model.stream(request).await?;
    match stream.next().await {
        Some(ChatEvent::Ended(end)) => match unseen_failure(&end) {
            Some(failure) => Err(Error::new(failure.kind, model.card().id.clone(), failure.message.as_str())),
            None => Ok(stream::once(async { ChatEvent::Ended(end) }).boxed()),
        },
        Some(event) => Ok(stream::once(async { event }).chain(stream).boxed()),
        None => Err(Error::new(FailureKind::Malformed, model.card().id.clone(), "the stream had no ending")),
    }
}

/// The failure of an answer nobody saw a word of.
pub(crate) fn unseen_failure(end: &StreamEnd) -> Option<&Failure> {
    match &end.ending {
        StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) if end.message.parts.is_empty() => {
            Some(failure)
        }
        _ => None,
    }
}

/// Enough chance to spread clients: the standard library seeds each hasher anew.
fn random() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "any number from 0 to 1 will do")]
    let fraction = RandomState::new().hash_one(()) as f64 / u64::MAX as f64;
    fraction
}

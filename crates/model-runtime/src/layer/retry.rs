use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_types::{Failure, ModelCard, Usage};

use super::{
    failover::adding,
    observer::{CallObserver, CallStep, Teller},
    opening::{Opening, endless, open, unseen_failure},
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error};

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

/// Tries a failed call again, as long as nobody has seen anything of an answer.
///
/// Only kinds that may pass are tried again ([`FailureKind::retryable`](thermidor_types::FailureKind::retryable)).
/// From the first word that is not blank, media or call on the stream is handed through as it comes. What tries that
/// came to nothing consumed is added to the usage of the answer, or of the error. Dropping the call ends the waiting.
#[derive(Clone)]
pub struct Retry {
    model: Arc<dyn ChatModel>,
    policy: RetryPolicy,
    teller: Teller,
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
        Self { model, policy, teller: Teller::default(), chance: Arc::new(random) }
    }

    /// Tells `observer` of waits between tries. The tries themselves are told by [`Observed`](crate::Observed).
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.teller.observer = Some(observer);
        self
    }

    /// Draws waits by `chance` instead of at random.
    #[must_use]
    pub fn chance(mut self, chance: Chance) -> Self {
        self.chance = chance;
        self
    }
}

#[async_trait]
impl ChatModel for Retry {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let ask = |attempt| self.answer(ChatRequest { attempt, ..request.clone() });
        let waiting = |attempt, wait| {
            let told = self.teller.of(self.card(), &ChatRequest { attempt, ..request.clone() });
            told.tell(CallStep::Waiting(wait));
        };
        let (answer, spent) = retried(&self.policy, &*self.chance, waiting, ask).await?;
        Ok(adding(spent, answer))
    }
}

/// Does `work` until it succeeds or `policy` allows no further try; tries count from 1, and `waiting` is told of
/// every wait after one. With the result comes what the tries before it consumed; an error holds that of all.
pub(crate) async fn retried<T, W>(
    policy: &RetryPolicy,
    chance: &(dyn Fn() -> f64 + Send + Sync),
    waiting: impl Fn(u32, Duration),
    mut work: impl FnMut(u32) -> W,
) -> Result<(T, Usage), Error>
where
    W: Future<Output = Result<T, Error>>,
{
    let mut spent = Usage::default();
    let mut attempt = 1;
    loop {
        let error = match work(attempt).await {
            Ok(done) => return Ok((done, spent)),
            Err(error) => error,
        };
        spent += error.usage();
        let Some(wait) = policy.wait(attempt, &error, chance()) else {
            return Err(error.with_usage(spent));
        };
        waiting(attempt, wait);
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

impl Retry {
    /// An answer of which something is to be seen, or that ended; a failure before that is an error.
    async fn answer(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let failed =
            |failure: &Failure| Error::new(failure.kind, self.card().id.clone(), failure.message.as_str());
        match open(self.model.stream(request).await?).await {
            Opening::Seen(answer) => Ok(answer),
            Opening::Endless => Err(failed(&endless())),
            Opening::Unseen(held, end) => match unseen_failure(&end) {
                Some(failure) => Err(failed(failure).with_usage(end.message.usage)),
                None => Ok(stream::iter(held).chain(stream::iter([ChatEvent::Ended(end)])).boxed()),
            },
        }
    }
}

/// Enough chance to spread clients: the standard library seeds each hasher anew.
pub(crate) fn random() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "any number from 0 to 1 will do")]
    let fraction = RandomState::new().hash_one(()) as f64 / u64::MAX as f64;
    fraction
}

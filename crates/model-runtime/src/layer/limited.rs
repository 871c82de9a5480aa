use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::StreamExt;
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard, Tokens};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout_at},
};

use super::{
    bucket::Bucket,
    circuit::FOR_EVER,
    metering::estimated_input,
    observer::{CallObserver, CallStep, Teller},
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error};

/// How much a channel may be asked at a time. Nothing is limited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Answers on their way at the same time; at least one.
    pub concurrency: Option<usize>,
    /// Requests per minute. After a quiet minute all of them may come at once.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute, those of prompts and answers together.
    pub tokens_per_minute: Option<u64>,
    /// The longest a request waits for its turn; for ever when unset. Longer is
    /// [`RateLimited`](FailureKind::RateLimited).
    pub longest_wait: Option<Duration>,
}

/// The state of limits, shared by all that count towards them.
///
/// Requests are served in the order in which they came: a large one that waits is not overtaken for ever. Tokens are
/// taken by an estimate of the prompt before the call and corrected by what was reported at the end. That is why
/// these are plain token buckets: the usual limiters of requests (the generic cell rate algorithm, tower's
/// `RateLimit`) know no amount that is corrected afterwards.
pub struct Limiter {
    limits: Limits,
    /// Whoever holds it is at the head of the queue. Semaphores are fair.
    head: Semaphore,
    running: Option<Arc<Semaphore>>,
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl Limiter {
    /// Keeps `limits`, with full buckets.
    pub fn new(limits: Limits) -> Self {
        let now = Instant::now();
        let bucket = |per_minute: Option<u64>| per_minute.map(|per_minute| Bucket::new(per_minute, now));
        let running = limits.concurrency.map(|most| most.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            limits,
            head: Semaphore::new(1),
            running: running.map(|most| Arc::new(Semaphore::new(most))),
            buckets: Mutex::new(Buckets {
                requests: bucket(limits.requests_per_minute),
                tokens: bucket(limits.tokens_per_minute),
            }),
        }
    }

    fn buckets(&self) -> MutexGuard<'_, Buckets> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn. `Err` when that would take too long: how long it would take, as far as that is known.
    async fn turn(self: &Arc<Self>, estimate: Tokens) -> Result<Turn, Option<Duration>> {
        let deadline = self.limits.longest_wait.map(|longest| Instant::now() + longest.min(FOR_EVER));
        let queue = async {
            let head = self.head.acquire().await;
            let running = match &self.running {
                Some(running) => running.clone().acquire_owned().await.ok(),
                None => None,
            };
            (head, running)
        };
        let (head, running) = match deadline {
            Some(deadline) => timeout_at(deadline, queue).await.map_err(|_| None)?,
            None => queue.await,
        };
        loop {
            let wait = self.buckets().take(estimate);
            if wait.is_zero() {
                break;
            }
            if deadline.is_some_and(|deadline| Instant::now() + wait > deadline) {
                return Err(Some(wait));
            }
            sleep(wait).await;
        }
        drop(head);
        Ok(Turn { limiter: self.clone(), estimate, _running: running })
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limiter").field(&self.limits).finish()
    }
}

impl Buckets {
    /// Takes one request of so many tokens if both buckets allow it, or says how long to wait.
    fn take(&mut self, estimate: Tokens) -> Duration {
        let now = Instant::now();
        let mut amounts = [(&mut self.requests, 1.0), (&mut self.tokens, amount(estimate))];
        let waits =
            amounts.iter_mut().filter_map(|(bucket, amount)| Some(bucket.as_mut()?.wait(*amount, now)));
        let wait = waits.max().unwrap_or_default();
        if wait.is_zero() {
            for (bucket, amount) in &mut amounts {
                if let Some(bucket) = bucket {
                    bucket.take(*amount, now);
                }
            }
        }
        wait
    }
}

/// A request on its way. The place among those that run is free again when this is dropped.
struct Turn {
    limiter: Arc<Limiter>,
    estimate: Tokens,
    _running: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Corrects the estimate.
    fn consumed(self, tokens: Tokens) {
        if let Some(bucket) = &mut self.limiter.buckets().tokens {
            bucket.take(amount(tokens) - amount(self.estimate), Instant::now());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 tokens")]
fn amount(tokens: Tokens) -> f64 {
    tokens.0 as f64
}

/// Limits how many answers are on their way and how many requests and tokens are sent in a minute, by waiting.
///
/// The place of an answer is held until its stream ended or was dropped, not only until it began: that is why this is
/// no layer around the request alone. Put it around [`Metered`](crate::Metered), so that every answer reports tokens.
#[derive(Clone)]
pub struct Limited {
    model: Arc<dyn ChatModel>,
    limiter: Arc<Limiter>,
    teller: Teller,
}

impl Limited {
    /// Calls `model` within the limits of `limiter`, which others may share.
    pub fn new(model: Arc<dyn ChatModel>, limiter: Arc<Limiter>) -> Self {
        Self { model, limiter, teller: Teller::default() }
    }

    /// Tells `observer` of waits and refusals, under the name of `channel`.
    #[must_use]
    pub fn observer(mut self, channel: impl Into<SmolStr>, observer: Arc<dyn CallObserver>) -> Self {
        self.teller = Teller { observer: Some(observer), channel: channel.into() };
        self
    }
}

impl fmt::Debug for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, limiter, .. } = self;
        f.debug_struct("Limited")
            .field("model", &model.card().id)
            .field("limiter", limiter)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for Limited {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let told = self.teller.of(self.card(), &request);
        let start = Instant::now();
        let turn = self.limiter.turn(estimated_input(&request)).await.map_err(|wait| {
            let longest = self.limiter.limits.longest_wait.unwrap_or_default();
            let message = format!("no turn within {longest:?}: our own limits of this channel are used up");
            let error = Error::new(FailureKind::RateLimited, self.card().id.clone(), message).unsent();
            told.refuse(match wait {
                Some(wait) => error.with_retry_after(wait),
                None => error,
            })
        })?;
        let waited = start.elapsed();
        if !waited.is_zero() {
            told.tell(CallStep::Limited(waited));
        }
        let answer = match self.model.stream(request).await {
            Ok(answer) => answer,
            Err(error) => {
                turn.consumed(error.usage().total());
                return Err(error);
            }
        };
        let mut turn = Some(turn);
        Ok(answer
            .map(move |event| {
                if let ChatEvent::Ended(end) = &event
                    && let Some(turn) = turn.take()
                {
                    turn.consumed(end.message.usage.total());
                }
                event
            })
            .boxed())
    }
}

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, ready},
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard};
use tokio::time::Instant;

use super::{
    BreakerPolicy, BreakerState,
    circuit::{Circuit, Health, Pass},
    observer::{CallObserver, CallStep, Teller, Told},
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnding};

/// The state of a breaker, shared by all models that stand for one channel.
pub(crate) type SharedCircuit = Arc<Mutex<Circuit>>;

/// A circuit of its own.
pub(crate) fn circuit(policy: BreakerPolicy) -> SharedCircuit {
    Arc::new(Mutex::new(Circuit::new(policy)))
}

/// A circuit breaker: after some failures in a row it takes the channel to be down and refuses calls at once, for a
/// time; then one call probes it.
///
/// Only failures that speak of the channel's health count: overloaded, server error, network, timeout, malformed.
/// A refused key or a rate limit is an answer, so the channel is well. A refusal is an
/// [`Overloaded`](FailureKind::Overloaded) with the time left as [`retry_after`](Error::retry_after).
///
/// Clones share the state.
#[derive(Clone)]
pub struct Breaker {
    model: Arc<dyn ChatModel>,
    circuit: SharedCircuit,
    teller: Teller,
}

impl Breaker {
    /// Breaks the way to `model` by `policy`.
    pub fn new(model: Arc<dyn ChatModel>, policy: BreakerPolicy) -> Self {
        Self::sharing(model, circuit(policy))
    }

    /// Breaks the way to `model` together with all that hold `circuit`.
    pub(crate) fn sharing(model: Arc<dyn ChatModel>, circuit: SharedCircuit) -> Self {
        Self { model, circuit, teller: Teller::default() }
    }

    /// Tells `observer` of refusals and changes of state, under the name of `channel`.
    #[must_use]
    pub fn observer(mut self, channel: impl Into<SmolStr>, observer: Arc<dyn CallObserver>) -> Self {
        self.teller = Teller { observer: Some(observer), channel: channel.into() };
        self
    }

    /// What it does with calls now.
    pub fn state(&self) -> BreakerState {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner).state()
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("model", &self.model.card().id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for Breaker {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let told = self.teller.of(self.card(), &request);
        let mut watch = Watch { circuit: self.circuit.clone(), told, pass: None };
        let pass = watch.changing(|circuit| circuit.admit(Instant::now())).map_err(|wait| {
            let message = format!(
                "the channel is taken to be down after several failures; next try in {} s",
                wait.as_millis().div_ceil(1000)
            );
            let error = Error::new(FailureKind::Overloaded, self.card().id.clone(), message);
            watch.told.refuse(error.with_retry_after(wait).unsent())
        })?;
        watch.pass = Some(pass);
        let mut answer = match self.model.stream(request).await {
            Ok(answer) => answer,
            Err(error) => {
                watch.settle(if error.was_sent() { Health::of(error.kind()) } else { Health::Unknown });
                return Err(error);
            }
        };
        Ok(stream::poll_fn(move |cx| {
            let event = ready!(answer.poll_next_unpin(cx));
            match &event {
                Some(ChatEvent::Ended(end)) => watch.settle(match &end.ending {
                    StreamEnding::Finished | StreamEnding::Length => Health::Well,
                    StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) => Health::of(failure.kind),
                }),
                // A first word shows a probe enough; a whole answer may take minutes.
                Some(_) => watch.sign_of_life(),
                None => watch.settle(Health::Sick),
            }
            Poll::Ready(event)
        })
        .boxed())
    }
}

/// One call under watch. Dropped without an end it says nothing.
struct Watch {
    circuit: SharedCircuit,
    told: Told,
    pass: Option<Pass>,
}

impl Watch {
    /// Works on the circuit, and tells when its state has changed.
    fn changing<T>(&self, work: impl FnOnce(&mut Circuit) -> T) -> T {
        let mut circuit = self.circuit.lock().unwrap_or_else(PoisonError::into_inner);
        let before = circuit.state();
        let result = work(&mut circuit);
        let after = circuit.state();
        drop(circuit);
        if before != after {
            self.told.tell(CallStep::Breaker(after));
        }
        result
    }

    fn settle(&mut self, health: Health) {
        if let Some(pass) = self.pass.take() {
            self.changing(|circuit| circuit.settle(pass, health, Instant::now()));
        }
    }

    /// Settles a probe, and goes on as a plain call.
    fn sign_of_life(&mut self) {
        if let Some(Pass::Probe(_)) = self.pass {
            self.settle(Health::Well);
            self.pass = self.changing(|circuit| circuit.admit(Instant::now())).ok();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.settle(Health::Unknown);
    }
}

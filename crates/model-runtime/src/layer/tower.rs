//! A bridge to [tower](https://docs.rs/tower), both ways.
//!
//! Tower's layers see a request and the response it is answered with: here the stream of an answer, which has then
//! only begun. So `timeout` bounds the time to the first event, `concurrency_limit` the requests that have no first
//! event yet, and `retry` knows nothing of breaks. What must last as long as the answer does (a place among those
//! that run, tokens, health) is kept by the layers of this crate: [`Limited`](crate::Limited),
//! [`Breaker`](crate::Breaker), [`Failover`](crate::Failover).
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use thermidor_model_runtime::{ChatModel, Rehearsal, tower::{ModelService, TowerModel}};
//! use thermidor_types::FailureKind;
//! use tower::{ServiceBuilder, timeout::error::Elapsed};
//!
//! let model: Arc<dyn ChatModel> = Arc::new(Rehearsal::new());
//! let service = ServiceBuilder::new().timeout(Duration::from_secs(5)).service(ModelService::new(model.clone()));
//! let patient = TowerModel::new(model.card().clone(), service)
//!     .kinds(|error| if error.is::<Elapsed>() { FailureKind::Timeout } else { FailureKind::Internal });
//! assert_eq!(patient.card().id, model.card().id);
//! ```

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use async_trait::async_trait;
use futures_util::future::{BoxFuture, poll_fn};
use thermidor_types::{FailureKind, ModelCard};
use tower_service::Service;

use crate::{ChatModel, ChatRequest, ChatStream, Error};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A model as a tower service. Always ready; clones share the model.
#[derive(Clone)]
pub struct ModelService(Arc<dyn ChatModel>);

impl ModelService {
    /// Serves `model`.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(model)
    }
}

impl fmt::Debug for ModelService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelService").field(&self.0.card().id).finish()
    }
}

impl Service<ChatRequest> for ModelService {
    type Response = ChatStream;
    type Error = Error;
    type Future = BoxFuture<'static, Result<ChatStream, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ChatRequest) -> Self::Future {
        let model = self.0.clone();
        Box::pin(async move { model.stream(request).await })
    }
}

/// A tower service as a model. Each call takes a clone of the service, waits until it is ready, and calls it.
///
/// An [`Error`] of this crate comes through as it is. What a tower layer says is given a kind by
/// [`kinds`](Self::kinds); [`Internal`](FailureKind::Internal) unless that is set, which nobody tries again.
pub struct TowerModel<S> {
    card: ModelCard,
    service: Mutex<S>,
    kinds: fn(&BoxError) -> FailureKind,
}

impl<S> TowerModel<S> {
    /// Calls `service` for the model with this card.
    pub fn new(card: ModelCard, service: S) -> Self {
        Self { card, service: Mutex::new(service), kinds: |_| FailureKind::Internal }
    }

    /// Says what the errors of tower's layers mean.
    #[must_use]
    pub fn kinds(mut self, kinds: fn(&BoxError) -> FailureKind) -> Self {
        self.kinds = kinds;
        self
    }

    fn error(&self, error: BoxError) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => {
                let (kind, message) = ((self.kinds)(&error), error.to_string());
                Error::new(kind, self.card.id.clone(), message).with_source(error)
            }
        }
    }
}

impl<S> fmt::Debug for TowerModel<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerModel").field("model", &self.card.id).finish_non_exhaustive()
    }
}

#[async_trait]
impl<S> ChatModel for TowerModel<S>
where
    S: Service<ChatRequest, Response = ChatStream> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
{
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_fn(|cx| service.poll_ready(cx)).await.map_err(|error| self.error(error.into()))?;
        let call = service.call(request);
        call.await.map_err(|error| self.error(error.into()))
    }
}

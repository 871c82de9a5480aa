//! A model in tower's layers, and back.

use std::{sync::Arc, time::Duration};

use futures_util::future::join;
use thermidor_model_runtime::{
    ChatModel, ChatRequest, Error,
    tower::{ModelService, TowerModel},
};
use thermidor_types::FailureKind;
use tower::{
    BoxError, ServiceBuilder,
    load_shed::error::Overloaded,
    timeout::{TimeoutLayer, error::Elapsed},
};

#[path = "support/scripted.rs"]
#[expect(dead_code, reason = "only a part of what can be scripted is played here")]
mod scripted;
use scripted::{Scripted, Try, outcome};

fn kind(error: &BoxError) -> FailureKind {
    if error.is::<Elapsed>() {
        FailureKind::Timeout
    } else if error.is::<Overloaded>() {
        FailureKind::Overloaded
    } else {
        FailureKind::Internal
    }
}

fn request() -> ChatRequest {
    ChatRequest::default()
}

/// A model that hangs before its answer begins.
struct Mute(Arc<Scripted>);

#[async_trait::async_trait]
impl ChatModel for Mute {
    fn card(&self) -> &thermidor_types::ModelCard {
        self.0.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<thermidor_model_runtime::ChatStream, Error> {
        tokio::time::sleep(Duration::from_mins(1)).await;
        self.0.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn towers_layers_stand_around_a_model() {
    let mute: Arc<dyn ChatModel> = Arc::new(Mute(Scripted::new("m", vec![])));
    let card = mute.card().clone();
    let service = ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(1)
        .layer(TimeoutLayer::new(Duration::from_secs(5)))
        .service(ModelService::new(mute));
    let model = TowerModel::new(card, service).kinds(kind);
    let (first, second) = join(model.stream(request()), model.stream(request())).await;
    let kinds = [first, second].map(|answer| answer.err().map(|error| error.kind()));
    assert_eq!(kinds, [Some(FailureKind::Timeout), Some(FailureKind::Overloaded)]);
}

/// Would fail if a layer hid what the provider said.
#[tokio::test(start_paused = true)]
async fn answers_and_errors_come_through_as_they_are() {
    let inner =
        Scripted::new("m", vec![Try::Refuse(FailureKind::RateLimited, Some(3)), Try::says(&["fine"])]);
    let card = inner.card().clone();
    let service = ServiceBuilder::new()
        .layer(TimeoutLayer::new(Duration::from_secs(5)))
        .service(ModelService::new(inner));
    let model = TowerModel::new(card, service);
    let error = model.stream(request()).await.err().expect("refused");
    assert_eq!((error.kind(), error.retry_after()), (FailureKind::RateLimited, Some(Duration::from_secs(3))));
    assert_eq!(outcome(&model, request()).await, "fine Finished");
}

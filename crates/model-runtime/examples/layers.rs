//! Layers: a model that is down, another in its place, limits, a breaker, and an observer that prints every step.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::sync::Arc;

use async_trait::async_trait;
use thermidor_model_runtime::{
    BreakerPolicy, CallObserver, CallReport, ChatModel, ChatModelExt, ChatRequest, ChatStream, Error, Limits,
    ModelRuntime, Rehearsal, RetryPolicy,
};
use thermidor_types::{FailureKind, ModelCard, ModelId, Tokens};

/// A model whose provider is overloaded.
struct Down(ModelCard);

#[async_trait]
impl ChatModel for Down {
    fn card(&self) -> &ModelCard {
        &self.0
    }

    async fn stream(&self, _: ChatRequest) -> Result<ChatStream, Error> {
        Err(Error::new(FailureKind::Overloaded, self.0.id.clone(), "come back later"))
    }
}

struct Print;

impl CallObserver for Print {
    fn observe(&self, report: CallReport<'_>) {
        println!("{} try {}: {:?}", report.model, report.attempt, report.step);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let runtime = ModelRuntime::builder()
        .register(Down(ModelCard::unknown(ModelId::new("busy", "large"), Tokens(32_000))))
        .register(Rehearsal::instant())
        .fallback("busy/large", ["rehearsal/extractive"])
        .limits("rehearsal", Limits { concurrency: Some(2), ..Limits::default() })
        .breaker(BreakerPolicy { failures: 2, ..BreakerPolicy::default() })
        .retry(RetryPolicy { attempts: 1, ..RetryPolicy::default() })
        .observer(Arc::new(Print))
        .build()?;
    let model = runtime.model("busy/large")?;
    for _ in 0..3 {
        let answer = model.ask("A tea timer for forgetful readers").await?;
        println!("{} characters\n", answer.chars().count());
    }
    Ok(())
}

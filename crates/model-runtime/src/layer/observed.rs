use std::{
    fmt,
    sync::Arc,
    task::{Poll, ready},
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use smol_str::SmolStr;
use thermidor_types::ModelCard;
use tokio::time::Instant;

use super::{
    observer::{CallObserver, CallStep, Teller, Told},
    opening::endless,
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error};

/// Reports every request that is sent to a model: when it starts, when its answer begins, how it ends and what it
/// consumed. Right around [`Metered`](crate::Metered), so that the figures are complete.
///
/// Cost: a call of the observer for each of three steps, nothing for each event.
#[derive(Clone)]
pub struct Observed {
    model: Arc<dyn ChatModel>,
    teller: Teller,
}

impl Observed {
    /// Tells `observer` of every request to `model`, which is reached through `channel`.
    pub fn new(
        model: Arc<dyn ChatModel>,
        channel: impl Into<SmolStr>,
        observer: Arc<dyn CallObserver>,
    ) -> Self {
        Self { model, teller: Teller { observer: Some(observer), channel: channel.into() } }
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observed").field(&self.model.card().id).finish()
    }
}

#[async_trait]
impl ChatModel for Observed {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let mut open = Open { told: self.teller.of(self.card(), &request), closed: false };
        let start = Instant::now();
        open.told.tell(CallStep::Started);
        let mut answer = match self.model.stream(request).await {
            Ok(answer) => answer,
            Err(error) => {
                open.close(CallStep::Failed(error.to_failure()));
                return Err(error);
            }
        };
        let mut first = true;
        Ok(stream::poll_fn(move |cx| {
            let event = ready!(answer.poll_next_unpin(cx));
            match &event {
                Some(ChatEvent::Ended(end)) => {
                    open.close(CallStep::Ended(end.ending.clone(), end.message.usage));
                }
                Some(_) if std::mem::take(&mut first) => {
                    open.told.tell(CallStep::FirstToken(start.elapsed()));
                }
                Some(_) => {}
                None => open.close(CallStep::Failed(endless())),
            }
            Poll::Ready(event)
        })
        .boxed())
    }
}

/// A request that was started and has no end yet.
struct Open {
    told: Told,
    closed: bool,
}

impl Open {
    fn close(&mut self, step: CallStep) {
        if !std::mem::replace(&mut self.closed, true) {
            self.told.tell(step);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close(CallStep::Dropped);
    }
}

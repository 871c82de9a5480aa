//! The built-in model at a pace to read along.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use thermidor_model_runtime::{ChatModel, ChatRequest, ChatStream, Error, Rehearsal};
use thermidor_types::ModelCard;

/// A pause comes before every so many words. Timers are no finer than a millisecond: a pause before each word
/// would make a run of five stages take most of ten seconds, this one takes two or three.
const WORDS: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The rehearsal model, with pauses: for terminals, where somebody watches.
#[derive(Clone, Debug)]
pub(crate) struct Paced(pub(crate) Rehearsal);

#[async_trait]
impl ChatModel for Paced {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let events = self.0.stream(request).await?;
        let paced = events.enumerate().then(|(place, event)| async move {
            if place.is_multiple_of(WORDS) {
                tokio::time::sleep(PAUSE).await;
            }
            event
        });
        Ok(paced.boxed())
    }
}

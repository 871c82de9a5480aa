//! A model in this process that answers with 400 characters and a tool call, as often as it is wanted.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding,
};
use thermidor_types::{AssistantMessage, Exchange, ModelCard, ModelId, Part, Tokens, ToolCall, Usage};

use crate::{agents::TOOLS, meter::Meter};

#[derive(Clone)]
pub(crate) struct Talker {
    card: ModelCard,
    answers: u32,
    steps: Arc<Mutex<Vec<Meter>>>,
}

impl Talker {
    /// Calls a tool in the first `answers` answers.
    pub(crate) fn new(answers: u32) -> Self {
        // A window that holds the whole conversation.
        let card = ModelCard::unknown(ModelId::new("bench", "talker"), Tokens(4_000_000));
        Self { card, answers, steps: Arc::default() }
    }

    pub(crate) fn id(&self) -> ModelId {
        self.card.id.clone()
    }

    /// The beginning of each call.
    pub(crate) fn steps(&self) -> Vec<Meter> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for Talker {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let made = {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.push(Meter::start());
            steps.len()
        };
        let text = "four hundred letters".repeat(20);
        let mut parts = vec![Part::text(text.clone())];
        if made <= self.answers as usize {
            let call = ToolCall::new(format!("{}.0", request.call_prefix), TOOLS[0], "{}");
            parts.push(Part::Exchange(Exchange::open(call)));
        }
        let usage = Usage { input: Tokens(100), output: Tokens(100), ..Usage::default() };
        let message = AssistantMessage {
            parts,
            usage,
            model: Some(self.card.id.clone()),
            ..AssistantMessage::default()
        };
        let end = StreamEnd::new(message, StreamEnding::Finished);
        Ok(stream::iter([ChatEvent::Text(text.into()), ChatEvent::Ended(Box::new(end))]).boxed())
    }
}

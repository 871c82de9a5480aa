use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use thermidor_types::{
    AssistantMessage, Content, Measure, Message, ModelCard, Part, Price, Tokens, ToolResult,
};

use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, cost};

/// Bytes of text per token where nobody counted: right within a third for English and for Chinese.
const BYTES_PER_TOKEN: usize = 4;

/// Completes the usage of every answer: estimates it where the provider reports none, and prices it by the
/// model's card where nobody billed.
///
/// Cost: one look at the lengths of the request's parts, no look at their text.
pub struct Metered(Arc<dyn ChatModel>);

impl Metered {
    /// Meters `model`.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(model)
    }
}

impl std::fmt::Debug for Metered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Metered").field(&self.0.card().id).finish()
    }
}

#[async_trait]
impl ChatModel for Metered {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let (input, price) = (estimated_input(&request), self.card().price.clone());
        let stream = self.0.stream(request).await?;
        Ok(stream
            .map(move |mut event| {
                if let ChatEvent::Ended(end) = &mut event {
                    complete(&mut end.message, input, price.as_ref());
                }
                event
            })
            .boxed())
    }
}

fn complete(message: &mut AssistantMessage, input: Tokens, price: Option<&Price>) {
    if message.usage.total() == Tokens(0) && message.usage.measure == Measure::Estimated {
        message.usage.input = input;
        message.usage.output = tokens(message.parts.iter().map(part_length).sum());
    }
    if message.usage.cost.is_none() {
        message.usage.cost = price.map(|price| cost(&message.usage, price));
    }
}

fn tokens(bytes: usize) -> Tokens {
    Tokens(bytes.div_ceil(BYTES_PER_TOKEN) as u64)
}

fn estimated_input(request: &ChatRequest) -> Tokens {
    let messages: usize = request.messages.iter().map(message_length).sum();
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.as_str().len());
    tokens(messages + tools.sum::<usize>())
}

fn message_length(message: &Message) -> usize {
    match message {
        Message::System(message) => message.text.len(),
        Message::User(message) => message.content.iter().map(content_length).sum(),
        Message::Assistant(message) => message.parts.iter().map(part_length).sum(),
    }
}

fn part_length(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Reasoning(reasoning) => reasoning.text.len(),
        Part::Exchange(exchange) => {
            exchange.call.name.len()
                + exchange.call.arguments.len()
                + exchange.result.as_ref().map_or(0, result_length)
        }
        Part::Media(_) | Part::Native(_) => 0,
    }
}

fn result_length(result: &ToolResult) -> usize {
    result.content.iter().map(content_length).sum()
}

fn content_length(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Media(_) => 0,
    }
}

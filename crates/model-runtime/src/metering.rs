use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use thermidor_types::{
    AssistantMessage, Content, Measure, Message, ModelCard, Money, Part, Price, Tokens, ToolResult, Usage,
};

use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error};

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

/// What `usage` costs at `price`, rounded up to the next millionth: limits never see too little.
///
/// ```
/// use thermidor_model_runtime::cost;
/// use thermidor_types::{Currency, Price, Tokens, Usage};
///
/// let price = Price { cached_input: Some(200_000), ..Price::new(Currency::USD, 2_000_000, 8_000_000) };
/// let usage = Usage { input: Tokens(1_000), cached_input: Tokens(500), output: Tokens(100), ..Usage::default() };
/// assert_eq!(cost(&usage, &price).to_string(), "0.0019 USD");
/// ```
pub fn cost(usage: &Usage, price: &Price) -> Money {
    let times = |tokens: Tokens, rate: i64| i128::from(tokens.0) * i128::from(rate.max(0));
    let plain = usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_write);
    let sum = times(plain, price.input)
        + times(usage.cached_input, price.cached_input.unwrap_or(price.input))
        + times(usage.cache_write, price.cache_write.unwrap_or(price.input))
        + times(usage.output, price.output);
    let micros = (sum + 999_999) / 1_000_000;
    Money::from_micros(i64::try_from(micros).unwrap_or(i64::MAX), price.currency)
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

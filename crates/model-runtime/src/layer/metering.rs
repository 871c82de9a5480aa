use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt;
use thermidor_types::{
    AssistantMessage, Content, Measure, Message, ModelCard, Part, Price, Tokens, ToolResult,
};

use super::estimate::{Characters, TokenRatio};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding, cost};

/// Tokens around one message: its role and its ends.
const AROUND_MESSAGE: Tokens = Tokens(4);

/// What was learnt of one model's tokens, shared by everybody who calls it.
pub(crate) type Learnt = Arc<Mutex<TokenRatio>>;

/// Completes the usage of every answer: estimates what the provider does not report, and prices it by the model's
/// card where nobody billed.
///
/// Estimates learn from the reports that come: tokens per character, for ASCII and for wide characters apart. Where
/// an answer broke off, the words that came are estimated if less was reported than they must have taken; the
/// figures are then marked as [estimated](Measure::Estimated). A bill of the provider stands as it is.
///
/// Cost: one look at the text of the request and of the answer.
pub struct Metered {
    model: Arc<dyn ChatModel>,
    learnt: Learnt,
}

impl Metered {
    /// Meters `model`, which nothing is learnt of yet.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self::knowing(model, Learnt::default())
    }

    /// Meters `model` by what was learnt of it, and adds to that.
    pub(crate) fn knowing(model: Arc<dyn ChatModel>, learnt: Learnt) -> Self {
        Self { model, learnt }
    }
}

impl std::fmt::Debug for Metered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Metered").field(&self.model.card().id).finish()
    }
}

#[async_trait]
impl ChatModel for Metered {
    fn card(&self) -> &ModelCard {
        self.model.card()
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let prompt = Prompt::of(&request);
        let (learnt, price) = (self.learnt.clone(), self.card().price.clone());
        let stream = self.model.stream(request).await?;
        Ok(stream
            .map(move |mut event| {
                if let ChatEvent::Ended(end) = &mut event {
                    complete(end, prompt, &mut lock(&learnt), price.as_ref());
                }
                event
            })
            .boxed())
    }
}

fn lock(learnt: &Learnt) -> MutexGuard<'_, TokenRatio> {
    // Five numbers that are sound one by one, whoever panicked.
    learnt.lock().unwrap_or_else(PoisonError::into_inner)
}

fn complete(end: &mut StreamEnd, prompt: Prompt, ratio: &mut TokenRatio, price: Option<&Price>) {
    let broken = matches!(end.ending, StreamEnding::CutOff(_) | StreamEnding::Failed(_));
    let message = &mut end.message;
    let said = said(message);
    if message.usage.total() == Tokens(0) && message.usage.measure == Measure::Estimated {
        message.usage.input = prompt.tokens(ratio);
        message.usage.output = ratio.estimate(said);
    } else if broken {
        let output = ratio.estimate(said);
        // What was reported before the end may be the first token alone.
        if message.usage.output.0 < output.0 / 2 {
            message.usage.output = output;
            message.usage.measure = Measure::Estimated;
        }
        if message.usage.input == Tokens(0) {
            message.usage.input = prompt.tokens(ratio);
            message.usage.measure = Measure::Estimated;
        }
    } else if message.usage.measure == Measure::Reported {
        prompt.teach(ratio, message.usage.input);
        let thought = message.usage.reasoning.0 > 0
            || message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Reasoning(_) | Part::Media(_) | Part::Native(_)));
        if !thought {
            ratio.learn(said, message.usage.output);
        }
    }
    if message.usage.cost.is_none() {
        message.usage.cost = price.map(|price| cost(&message.usage, price));
    }
}

/// The tokens that a request may have, by what is known of models in general. Images and sounds are not counted.
///
/// Cost: one look at the text of the request.
///
/// ```
/// use thermidor_model_runtime::{ChatRequest, estimated_input};
/// use thermidor_types::{Message, Tokens};
///
/// let request = ChatRequest { messages: vec![Message::user("a few words more")], ..Default::default() };
/// assert_eq!(estimated_input(&request), Tokens(8));
/// ```
pub fn estimated_input(request: &ChatRequest) -> Tokens {
    Prompt::of(request).tokens(&TokenRatio::default())
}

/// What a request weighs.
#[derive(Clone, Copy, Debug)]
struct Prompt {
    characters: Characters,
    around: Tokens,
    /// Whether it holds something that is no text: then its tokens say nothing of the text's.
    mixed: bool,
}

impl Prompt {
    fn of(request: &ChatRequest) -> Self {
        let around = Tokens(AROUND_MESSAGE.0.saturating_mul(request.messages.len() as u64));
        let mut prompt = Self { characters: Characters::default(), around, mixed: false };
        for message in &request.messages {
            prompt.message(message);
        }
        for tool in &request.tools {
            for text in [tool.name.as_str(), &tool.description, tool.parameters.as_str()] {
                prompt.characters.add(text);
            }
        }
        prompt
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::System(message) => self.characters.add(&message.text),
            Message::User(message) => message.content.iter().for_each(|content| self.content(content)),
            Message::Assistant(message) => {
                for part in &message.parts {
                    self.mixed |= matches!(part, Part::Media(_) | Part::Native(_) | Part::Reasoning(_));
                    part_characters(part, &mut self.characters);
                }
            }
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Text(text) => self.characters.add(text),
            Content::Media(_) => self.mixed = true,
        }
    }

    fn tokens(&self, ratio: &TokenRatio) -> Tokens {
        ratio.estimate(self.characters) + self.around
    }

    fn teach(&self, ratio: &mut TokenRatio, reported: Tokens) {
        if !self.mixed {
            ratio.learn(self.characters, reported.saturating_sub(self.around));
        }
    }
}

fn said(message: &AssistantMessage) -> Characters {
    let mut characters = Characters::default();
    for part in &message.parts {
        part_characters(part, &mut characters);
    }
    characters
}

fn part_characters(part: &Part, characters: &mut Characters) {
    match part {
        Part::Text(text) => characters.add(text),
        Part::Reasoning(reasoning) => characters.add(&reasoning.text),
        Part::Exchange(exchange) => {
            characters.add(&exchange.call.name);
            characters.add(&exchange.call.arguments);
            if let Some(result) = &exchange.result {
                result_characters(result, characters);
            }
        }
        Part::Media(_) | Part::Native(_) => {}
    }
}

fn result_characters(result: &ToolResult, characters: &mut Characters) {
    for content in &result.content {
        match content {
            Content::Text(text) => characters.add(text),
            Content::Media(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use thermidor_types::{Currency, Ending, Failure, FailureKind, ModelId, Money, Usage};

    use super::*;

    const PRICE: Price = Price::new(Currency::USD, 1_000_000, 1_000_000);

    fn ended(text: &str, usage: Usage, ending: StreamEnding) -> StreamEnd {
        let mut message = AssistantMessage { ending: Ending::Finished, usage, ..AssistantMessage::default() };
        message.model = Some(ModelId::new("lab", "m"));
        message.parts.push(Part::Text(text.into()));
        StreamEnd::new(message, ending)
    }

    fn metered(usage: Usage, ending: StreamEnding) -> Usage {
        let request =
            ChatRequest { messages: vec![Message::user("word ".repeat(80))], ..ChatRequest::default() };
        let mut end = ended(&"word ".repeat(80), usage, ending);
        complete(&mut end, Prompt::of(&request), &mut TokenRatio::default(), Some(&PRICE));
        end.message.usage
    }

    fn reported(input: u64, output: u64) -> Usage {
        Usage { input: Tokens(input), output: Tokens(output), measure: Measure::Reported, ..Usage::default() }
    }

    fn broken() -> StreamEnding {
        StreamEnding::CutOff(Failure::new(FailureKind::Network, "gone"))
    }

    /// Would fail if words that came were free because the stream broke, or reported figures were overruled.
    #[test]
    fn figures_are_completed_and_marked() {
        let check = |usage: Usage, ending: StreamEnding, expected: (u64, u64, Measure, i64)| {
            let usage = metered(usage, ending);
            let cost = usage.cost.map_or(-1, |cost| cost.micros());
            assert_eq!((usage.input.0, usage.output.0, usage.measure, cost), expected);
        };
        check(Usage::default(), StreamEnding::Finished, (104, 100, Measure::Estimated, 204));
        check(Usage::default(), broken(), (104, 100, Measure::Estimated, 204));
        check(reported(90, 80), StreamEnding::Finished, (90, 80, Measure::Reported, 170));
        check(reported(90, 80), broken(), (90, 80, Measure::Reported, 170));
        check(reported(90, 1), broken(), (90, 100, Measure::Estimated, 190));
        check(reported(0, 80), broken(), (104, 80, Measure::Estimated, 184));
    }

    /// Would fail if a bill were added to, or replaced by, a computed cost.
    #[test]
    fn a_bill_is_counted_once() {
        let bill = Some(Money::from_micros(7, Currency::USD));
        for ending in [StreamEnding::Finished, broken()] {
            assert_eq!(metered(Usage { cost: bill, ..reported(90, 1) }, ending).cost, bill);
        }
        assert_eq!(metered(Usage { cost: bill, ..Usage::default() }, StreamEnding::Finished).cost, bill);
    }

    /// Would fail if reports did not make later estimates better, or those of broken answers counted.
    #[test]
    fn reports_teach_and_broken_answers_do_not() {
        let (mut ratio, request) = (TokenRatio::default(), ChatRequest::default());
        let text = "word ".repeat(80);
        let mut end = ended(&text, reported(0, 150), broken());
        complete(&mut end, Prompt::of(&request), &mut ratio, None);
        assert_eq!(ratio, TokenRatio::default());
        for _ in 0..5 {
            let mut end = ended(&text, reported(0, 150), StreamEnding::Finished);
            complete(&mut end, Prompt::of(&request), &mut ratio, None);
        }
        let mut end = ended(&text, Usage::default(), StreamEnding::Finished);
        complete(&mut end, Prompt::of(&request), &mut ratio, None);
        assert!((140..=160).contains(&end.message.usage.output.0), "{:?}", end.message.usage);
    }
}

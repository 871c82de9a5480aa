//! How the next word is drawn, and how many of them: with what each provider refuses left out or cut.

use serde::Serialize;
use thermidor_types::{Content, Message, ModelCard, Part, Text};

use crate::{ChatRequest, Quirk, Quirks, dialect::Unencodable};

/// Tokens kept free where prompt and answer share the window, as the prompt is only estimated.
const MARGIN: u64 = 1024;

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Sampling<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_new_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frequency_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) random_seed: Option<u64>,
    #[serde(skip_serializing_if = "<[Text]>::is_empty")]
    pub(crate) stop: &'a [Text],
}

impl<'a> Sampling<'a> {
    /// What of `request` this provider takes.
    ///
    /// # Errors
    /// When a figure is outside its range: no provider takes it.
    pub(crate) fn of(
        request: &'a ChatRequest,
        card: &ModelCard,
        quirks: &Quirks,
    ) -> Result<Self, Unencodable> {
        let fixed = quirks.has(Quirk::FixedSampling)
            || (card.abilities.reasoning && quirks.has(Quirk::NoTemperatureWhenReasoning));
        let free = |figure: Option<f32>| figure.filter(|_| !fixed);
        let penalty = |name, figure| {
            within(name, figure, -2.0, 2.0)
                .map(|figure| free(figure).filter(|_| !quirks.has(Quirk::NoPenalties)))
        };
        if let Some(figure) = request.temperature.filter(|figure| !(0.0..=2.0).contains(figure)) {
            return Err(Unencodable::Temperature(figure.to_string()));
        }
        let top_p = free(within("top_p", request.top_p, 0.0, 1.0)?);
        let frequency_penalty = penalty("frequency_penalty", request.frequency_penalty)?;
        let presence_penalty = penalty("presence_penalty", request.presence_penalty)?;
        let one = quirks.has(Quirk::OnePenalty) && frequency_penalty.is_some();
        let random = quirks.has(Quirk::RandomSeed);
        let limit = limit(request, card, quirks);
        let [new, completion] =
            [Quirk::MaxNewTokens, Quirk::MaxCompletionTokens].map(|quirk| quirks.has(quirk));
        Ok(Self {
            max_tokens: limit.filter(|_| !new && !completion),
            max_completion_tokens: limit.filter(|_| completion && !new),
            max_new_tokens: limit.filter(|_| new),
            temperature: free(request.temperature).and_then(|figure| temperature(figure, quirks)),
            top_p: top_p.map(
                |figure| {
                    if quirks.has(Quirk::TopPInside) { figure.clamp(0.01, 0.99) } else { figure }
                },
            ),
            frequency_penalty,
            presence_penalty: presence_penalty.filter(|_| !one),
            seed: request.seed.filter(|_| !random),
            random_seed: request.seed.filter(|_| random),
            stop: &request.stop,
        })
    }
}

fn within(name: &str, figure: Option<f32>, least: f32, most: f32) -> Result<Option<f32>, Unencodable> {
    match figure {
        Some(figure) if !(least..=most).contains(&figure) => Err(Unencodable::OutOfRange(format!(
            "{name} is {figure}, which is not between {least} and {most}"
        ))),
        figure => Ok(figure),
    }
}

fn temperature(figure: f32, quirks: &Quirks) -> Option<f32> {
    if figure == 0.0 && quirks.has(Quirk::NoZeroTemperature) {
        return None;
    }
    let least = if quirks.has(Quirk::TemperatureAboveZero) { 0.01 } else { 0.0 };
    let most = match (quirks.has(Quirk::TemperatureToOne), quirks.has(Quirk::TemperatureBelowTwo)) {
        (true, _) => 1.0,
        (false, true) => 1.99,
        (false, false) => 2.0,
    };
    Some(figure.clamp(least, most))
}

/// The length limit: what is wanted, at most what the model gives and, where that is asked for, what the prompt
/// leaves of the window.
fn limit(request: &ChatRequest, card: &ModelCard, quirks: &Quirks) -> Option<u64> {
    let wanted = request.max_output?.0;
    let most = card.max_output.map_or(wanted, |most| most.0.min(wanted));
    if !quirks.has(Quirk::FitMaxTokens) {
        return Some(most);
    }
    let left = card.context_window.0.saturating_sub(prompt_tokens(request)).saturating_sub(MARGIN);
    Some(most.min(left).max(1))
}

/// About how many tokens the prompt has: three bytes each, which is more than most texts need.
fn prompt_tokens(request: &ChatRequest) -> u64 {
    let content = |content: &Content| match content {
        Content::Text(text) => text.len(),
        Content::Media(_) => 0,
    };
    let messages = request.messages.iter().map(|message| match message {
        Message::System(message) => message.text.len(),
        Message::User(message) => message.content.iter().map(content).sum(),
        Message::Assistant(message) => message
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Exchange(exchange) => {
                    let result = exchange.result.iter().flat_map(|result| &result.content).map(content);
                    exchange.call.arguments.len() + result.sum::<usize>()
                }
                Part::Reasoning(_) | Part::Media(_) | Part::Native(_) => 0,
            })
            .sum(),
    });
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.parameters.as_str().len());
    messages.chain(tools).sum::<usize>() as u64 / 3
}

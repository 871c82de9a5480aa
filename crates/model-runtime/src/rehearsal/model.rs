use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use smol_str::{SmolStr, format_smolstr};
use thermidor_types::{
    Abilities, AssistantMessage, Ending, Exchange, FailureKind, Measure, ModelCard, ModelId, Part, Text,
    Tokens, ToolCall, Usage,
};

use super::{
    answer::{Answer, answer, whole_text},
    language::{Language, quarter_tokens},
};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding};

const WINDOW: u64 = 32_768;
const PACE: Duration = Duration::from_millis(2);

/// The rehearsal model, `rehearsal/extractive`: writes from the prompt it is given, without a network.
///
/// It keeps the contract a prompt states (see [`Contract`](crate::Contract)), quotes what it was given,
/// calls the tools that the user names and the hand-off tools it is offered, streams, and says in every
/// answer that it is a rehearsal. The same request gives the same answer. Token figures are estimates from
/// the length. An answer costs about a millisecond for every 10,000 characters of prompt.
///
/// ```
/// use futures_util::StreamExt;
/// use thermidor_model_runtime::{ChatEvent, ChatModel, ChatRequest, Rehearsal};
/// use thermidor_types::Message;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), thermidor_model_runtime::Error> {
/// let messages = vec![Message::user("A tea timer for forgetful readers. Write at most 60 words.")];
/// let request = ChatRequest { messages, ..ChatRequest::default() };
/// let mut events = Rehearsal::instant().stream(request).await?;
/// let mut text = String::new();
/// while let Some(event) = events.next().await {
///     if let ChatEvent::Text(more) = event {
///         text.push_str(&more);
///     }
/// }
/// assert!(text.contains("forgetful readers"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rehearsal {
    card: ModelCard,
    pace: Duration,
}

impl Rehearsal {
    /// Writes at a pace that can be read along: two milliseconds for each delta.
    pub fn new() -> Self {
        Self::paced(PACE)
    }

    /// Writes without pauses: for tests.
    pub fn instant() -> Self {
        Self::paced(Duration::ZERO)
    }

    /// Pauses for `pace` before each delta.
    pub fn paced(pace: Duration) -> Self {
        let id = ModelId::new("rehearsal", "extractive");
        let abilities = Abilities { tools: true, structured_output: true, ..Abilities::default() };
        let card = ModelCard {
            title: Some(Text::from("Rehearsal (no language model)")),
            abilities,
            ..ModelCard::unknown(id, Tokens(WINDOW))
        };
        Self { card, pace }
    }
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl ChatModel for Rehearsal {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    /// # Errors
    /// [`FailureKind::ContextTooLong`] when even a low estimate of the prompt is longer than the window.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let texts: Vec<String> = request.messages.iter().map(whole_text).collect();
        let bytes: usize = texts.iter().map(String::len).sum();
        if bytes as u64 / 6 > WINDOW {
            let message = format!("the prompt has {bytes} bytes, which is more than {WINDOW} tokens");
            return Err(Error::new(FailureKind::ContextTooLong, self.card.id.clone(), message));
        }
        let quarters: u64 = texts.iter().map(|text| quarter_tokens(text)).sum();
        let input = Tokens(quarters.div_ceil(4));
        let events = events(answer(&request), &request, input, &self.card.id);
        let pace = self.pace;
        Ok(stream::iter(events)
            .then(move |event| async move {
                if !pace.is_zero() {
                    tokio::time::sleep(pace).await;
                }
                event
            })
            .boxed())
    }
}

/// Cuts an answer into deltas, up to the length allowed, and adds the ending.
fn events(answer: Answer, request: &ChatRequest, input: Tokens, model: &ModelId) -> Vec<ChatEvent> {
    let allowed = request.max_output.map_or(u64::MAX, |tokens| tokens.0.saturating_mul(4));
    let (mut events, mut written, mut spent, mut ending) = (Vec::new(), String::new(), 0, Ending::Finished);
    let mut afford = |piece: &str| {
        let fits = spent + quarter_tokens(piece) <= allowed;
        spent += if fits { quarter_tokens(piece) } else { 0 };
        fits
    };
    for piece in pieces(&answer.text, answer.language) {
        if !afford(piece) {
            ending = Ending::Length;
            break;
        }
        written.push_str(piece);
        events.push(ChatEvent::Text(Text::from(piece)));
    }
    let mut parts = Vec::new();
    if !written.is_empty() {
        parts.push(Part::text(written));
    }
    for (index, (name, arguments)) in answer.calls.into_iter().enumerate() {
        if ending == Ending::Length || !afford(&arguments) {
            ending = Ending::Length;
            break;
        }
        events.push(call_event(index, &name, ""));
        events.push(call_event(index, &name, &arguments));
        let id = format_smolstr!("{}.{index}", request.call_prefix);
        parts.push(Part::Exchange(Exchange::open(ToolCall::new(id, name, arguments))));
    }
    let output = Tokens(spent.div_ceil(4));
    let usage = Usage { input, output, measure: Measure::Estimated, ..Usage::default() };
    let message =
        AssistantMessage { parts, model: Some(model.clone()), usage, ending, ..AssistantMessage::default() };
    let ending = if ending == Ending::Length { StreamEnding::Length } else { StreamEnding::Finished };
    events.push(ChatEvent::Ended(Box::new(StreamEnd::new(message, ending))));
    events
}

fn call_event(index: usize, name: &SmolStr, fragment: &str) -> ChatEvent {
    ChatEvent::Call { index, name: name.clone(), fragment: Text::from(fragment) }
}

/// A text in pieces of about a word, which together are the text.
fn pieces(text: &str, language: Language) -> impl Iterator<Item = &str> {
    let size = language.pick(24, 2);
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = rest.len();
        for (count, (place, c)) in rest.char_indices().enumerate() {
            if count + 1 >= size || (c.is_whitespace() && count > 0) {
                end = place + c.len_utf8();
                break;
            }
        }
        let (piece, left) = rest.split_at(end);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

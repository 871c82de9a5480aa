use std::borrow::Cow;

use serde::de::IgnoredAny;
use thermidor_types::{
    AssistantMessage, Content, Exchange, Media, MediaSource, Message, ModelCard, Part, ToolResult, media_kind,
};

use super::request::{
    Audio, Body, Call, CalledFunction, Choice, Entry, Format, Name, NamedSchema, OfferedFunction, Piece,
    StreamOptions, Tool, Url, Words,
};
use crate::{
    ChatRequest, Quirk, Quirks, ToolChoice,
    dialect::{Target, Unencodable, WireRequest},
};

/// What the model reads in place of a result that never came.
const INTERRUPTED: &str = "The call was interrupted before it gave a result.";

/// The JSON body for `request`, asking for a stream.
///
/// Same request, same bytes. Calls get the ids `call00001`, `call00002`, … in the order of the request: every
/// provider's rules for ids admit them, they are unique whatever models made the history, and a growing
/// history keeps its prefix. An open exchange is answered as interrupted, arguments that are no JSON object
/// are sent as `{"unparsed_arguments": "…"}` (servers parse them), media a model cannot read become a note.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`].
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let (card, quirks) = (target.card, &target.provider.quirks);
    let mut entries =
        Entries { card, quirks, list: Vec::with_capacity(request.messages.len() + 4), calls: 0 };
    for message in &request.messages {
        entries.push(message)?;
    }
    let mut messages = entries.list;
    if messages.is_empty() {
        return Err(Unencodable::NoMessage);
    }
    let limit = request.max_output.map(|limit| card.max_output.map_or(limit, |most| limit.min(most)).0);
    let renamed = quirks.has(Quirk::MaxCompletionTokens);
    let body = Body {
        model: card.id.model(),
        response_format: response_format(request, quirks, &mut messages),
        messages,
        tools: request.tools.iter().map(offered).collect(),
        tool_choice: tool_choice(request)?,
        max_tokens: limit.filter(|_| !renamed),
        max_completion_tokens: limit.filter(|_| renamed),
        temperature: temperature(request, card, quirks)?,
        stream: true,
        stream_options: (!quirks.has(Quirk::NoStreamOptions))
            .then_some(StreamOptions { include_usage: true }),
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    Ok(WireRequest { path: target.path("/chat/completions"), headers: Vec::new(), body })
}

struct Entries<'a> {
    card: &'a ModelCard,
    quirks: &'a Quirks,
    list: Vec<Entry<'a>>,
    calls: usize,
}

impl<'a> Entries<'a> {
    fn push(&mut self, message: &'a Message) -> Result<(), Unencodable> {
        match message {
            Message::System(message) => {
                self.list.push(Entry::System { content: Cow::Borrowed(&message.text) });
            }
            Message::User(message) => {
                let content = self.words(&message.content)?;
                self.list.push(Entry::User { content });
            }
            Message::Assistant(message) => self.assistant(message),
        }
        Ok(())
    }

    fn words(&self, content: &'a [Content]) -> Result<Words<'a>, Unencodable> {
        if let [Content::Text(text)] = content {
            return Ok(Words::Plain(Cow::Borrowed(text)));
        }
        let has_media = content.iter().any(|content| match content {
            Content::Text(_) => false,
            Content::Media(media) => self.is_readable(media),
        });
        let pieces = content.iter().map(|content| match content {
            Content::Text(text) => Ok(Piece::Text { text: Cow::Borrowed(text.as_str()) }),
            Content::Media(media) => self.media(media),
        });
        if has_media {
            return pieces.collect::<Result<_, _>>().map(Words::Parts);
        }
        // Many servers know plain strings only: parts are used where something but text is to be said.
        let mut lines = Vec::with_capacity(content.len());
        for piece in pieces {
            match piece? {
                Piece::Text { text } => lines.push(text),
                Piece::ImageUrl { .. } | Piece::InputAudio { .. } => {}
            }
        }
        Ok(Words::Plain(join(&mut lines.into_iter())))
    }

    /// Whether this model gets the medium as it is; audio travels inside the request only.
    fn is_readable(&self, media: &Media) -> bool {
        match (media_kind(&media.media_type), &media.source) {
            ("image", _) => self.card.abilities.vision,
            ("audio", MediaSource::Url(_)) => false,
            ("audio", _) => self.card.abilities.audio,
            _ => false,
        }
    }

    fn media(&self, media: &'a Media) -> Result<Piece<'a>, Unencodable> {
        if !self.is_readable(media) {
            return Ok(Piece::Text {
                text: Cow::Owned(format!("[{} not shown to this model]", label(media))),
            });
        }
        match (&media.source, media_kind(&media.media_type)) {
            (MediaSource::Blob { .. }, _) => Err(Unencodable::UnresolvedBlob(label(media))),
            (MediaSource::Url(url), _) => Ok(Piece::ImageUrl { image_url: Url { url: Cow::Borrowed(url) } }),
            (MediaSource::Base64(data), "image") => {
                let url = format!("data:{};base64,{data}", media.media_type);
                Ok(Piece::ImageUrl { image_url: Url { url: Cow::Owned(url) } })
            }
            (MediaSource::Base64(data), _) => {
                let format = if media.media_type.ends_with("mpeg") { "mp3" } else { "wav" };
                Ok(Piece::InputAudio { input_audio: Audio { data, format } })
            }
        }
    }

    fn assistant(&mut self, message: &'a AssistantMessage) {
        let exchanges: Vec<&Exchange> = message.exchanges().collect();
        let mut content = assistant_text(message);
        let reasoning_content = self.reasoning(message);
        if content.is_empty()
            && exchanges.is_empty()
            && reasoning_content.as_deref().is_none_or(str::is_empty)
        {
            return; // an answer of nothing: no provider takes one
        }
        if content.is_empty() && self.quirks.has(Quirk::BlankAssistantText) {
            content = Cow::Borrowed(" ");
        }
        let first = self.calls + 1;
        self.calls += exchanges.len();
        let id = |place: usize| format!("call{:05}", first + place);
        let tool_calls = exchanges.iter().enumerate().map(|(place, exchange)| Call {
            id: id(place),
            r#type: "function",
            function: CalledFunction {
                name: &exchange.call.name,
                arguments: sendable_arguments(&exchange.call.arguments),
            },
        });
        self.list.push(Entry::Assistant { content, reasoning_content, tool_calls: tool_calls.collect() });
        for (place, exchange) in exchanges.iter().enumerate() {
            let content = exchange.result.as_ref().map_or(Cow::Borrowed(INTERRUPTED), result_text);
            self.list.push(Entry::Tool { tool_call_id: id(place), content });
        }
    }

    /// The reasoning to send back: only to the provider whose model thought it. A model that reasons wants the
    /// field in each of its turns, be it empty.
    fn reasoning(&self, message: &'a AssistantMessage) -> Option<String> {
        if !self.quirks.has(Quirk::ReasoningContentReplay) {
            return None;
        }
        let mut text = String::new();
        for part in &message.parts {
            if let Part::Reasoning(reasoning) = part
                && reasoning.model.as_ref().is_none_or(|model| model.provider() == self.card.id.provider())
            {
                text += &reasoning.text;
            }
        }
        (self.card.abilities.reasoning || !text.is_empty()).then_some(text)
    }
}

fn label(media: &Media) -> String {
    media
        .name
        .as_ref()
        .map_or_else(|| media.media_type.to_string(), |name| format!("{} {name}", media.media_type))
}

/// The words, and a note for each medium: this dialect has no media in answers sent back.
fn assistant_text(message: &AssistantMessage) -> Cow<'_, str> {
    let mut texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(Cow::Borrowed(text.as_str())),
        Part::Media(media) => Some(Cow::Owned(format!("[{}]", label(media)))),
        Part::Text(_) | Part::Reasoning(_) | Part::Exchange(_) | Part::Native(_) => None,
    });
    join(&mut texts)
}

fn result_text(result: &ToolResult) -> Cow<'_, str> {
    join(&mut result.content.iter().map(|content| match content {
        Content::Text(text) => Cow::Borrowed(text.as_str()),
        Content::Media(media) => Cow::Owned(format!("[{}]", label(media))),
    }))
}

fn join<'a>(texts: &mut dyn Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let Some(mut all) = texts.next() else { return Cow::Borrowed("") };
    for text in texts {
        let all = all.to_mut();
        all.push('\n');
        all.push_str(&text);
    }
    all
}

/// The arguments as they are if they are a JSON object; else an object that holds them.
fn sendable_arguments(arguments: &str) -> Cow<'_, str> {
    let trimmed = arguments.trim_start();
    if trimmed.is_empty() {
        Cow::Borrowed("{}")
    } else if trimmed.starts_with('{') && serde_json::from_str::<IgnoredAny>(arguments).is_ok() {
        Cow::Borrowed(arguments)
    } else {
        Cow::Owned(serde_json::json!({ "unparsed_arguments": arguments }).to_string())
    }
}

fn offered(tool: &thermidor_types::ToolSchema) -> Tool<'_> {
    let function =
        OfferedFunction { name: &tool.name, description: &tool.description, parameters: &tool.parameters };
    Tool { r#type: "function", function }
}

/// `auto` is left out: it is the default everywhere. Without tools there is nothing to choose, and saying so
/// is refused.
fn tool_choice(request: &ChatRequest) -> Result<Option<Choice<'_>>, Unencodable> {
    match &request.tool_choice {
        ToolChoice::Named(name) if !request.tools.iter().any(|tool| tool.name == *name) => {
            Err(Unencodable::ToolNotOffered(name.to_string()))
        }
        ToolChoice::Required if request.tools.is_empty() => {
            Err(Unencodable::ToolNotOffered("any tool".to_owned()))
        }
        _ if request.tools.is_empty() => Ok(None),
        ToolChoice::Auto => Ok(None),
        ToolChoice::Required => Ok(Some(Choice::Word("required"))),
        ToolChoice::None => Ok(Some(Choice::Word("none"))),
        ToolChoice::Named(name) => Ok(Some(Choice::Named { r#type: "function", function: Name { name } })),
    }
}

fn response_format<'a>(
    request: &'a ChatRequest,
    quirks: &Quirks,
    messages: &mut Vec<Entry<'a>>,
) -> Option<Format<'a>> {
    let wanted = request.response_schema.as_ref()?;
    if quirks.has(Quirk::JsonObjectOnly) {
        let place = messages.iter().take_while(|entry| matches!(entry, Entry::System { .. })).count();
        let content = format!("Answer with one JSON object that fits this JSON Schema:\n{}", wanted.schema);
        messages.insert(place, Entry::System { content: Cow::Owned(content) });
        return Some(Format::JsonObject);
    }
    Some(Format::JsonSchema { json_schema: NamedSchema { name: &wanted.name, schema: &wanted.schema } })
}

fn temperature(request: &ChatRequest, card: &ModelCard, quirks: &Quirks) -> Result<Option<f32>, Unencodable> {
    let Some(temperature) = request.temperature else { return Ok(None) };
    if !(0.0..=2.0).contains(&temperature) {
        return Err(Unencodable::Temperature(temperature.to_string()));
    }
    if card.abilities.reasoning && quirks.has(Quirk::NoTemperatureWhenReasoning) {
        return Ok(None);
    }
    Ok(Some(if quirks.has(Quirk::TemperatureToOne) { temperature.min(1.0) } else { temperature }))
}

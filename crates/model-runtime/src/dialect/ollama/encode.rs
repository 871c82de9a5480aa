use std::borrow::Cow;

use thermidor_types::{
    AssistantMessage, Content, Exchange, Media, MediaSource, Message, ModelCard, Part, Text, Tokens,
    ToolSchema, media_kind,
};

use super::request::{Body, Call, Called, Entry, Offered, Options, Think, Tool};
use crate::{
    ChatRequest, Quirk, Quirks, ReasoningEffort, ToolChoice, bundled_providers,
    dialect::{
        Target, Unencodable, WireRequest,
        replay::{INTERRUPTED, is_own, joined, label, not_shown, sendable_arguments},
    },
};

/// The JSON body for `request`, asking for a stream.
///
/// The window (`num_ctx`) is sent when somebody wrote a card for the model, or a window into the row: the server reloads a model whose
/// window changes, and takes its own where none is named. That is 4,096 tokens on many machines, and what is
/// longer is cut without a word: a card is worth writing. The server knows no choice of tools: told to call
/// none, it is offered none; told to call one, it is offered that one alone.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`].
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let card = target.card;
    let mut messages = Vec::with_capacity(request.messages.len() + 4);
    for message in &request.messages {
        push(message, card, &mut messages)?;
    }
    if messages.is_empty() {
        return Err(Unencodable::NoMessage);
    }
    let body = Body {
        model: card.id.model(),
        messages,
        tools: tools(request)?,
        format: request.response_schema.as_ref().map(|form| &form.schema),
        think: request.reasoning.map(|effort| think(effort, &target.provider.quirks)),
        options: options(request, target)?,
        stream: true,
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    Ok(WireRequest { path: target.path("/api/chat"), headers: Vec::new(), body })
}

fn push<'a>(message: &'a Message, card: &ModelCard, list: &mut Vec<Entry<'a>>) -> Result<(), Unencodable> {
    match message {
        Message::System(message) => list.push(Entry::System { content: Cow::Borrowed(&message.text) }),
        Message::User(message) => {
            let (content, images) = words_and_images(&message.content, card)?;
            list.push(Entry::User { content, images });
        }
        Message::Assistant(message) => assistant(message, card, list)?,
    }
    Ok(())
}

fn assistant<'a>(
    message: &'a AssistantMessage,
    card: &ModelCard,
    list: &mut Vec<Entry<'a>>,
) -> Result<(), Unencodable> {
    let content = joined(message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(Cow::Borrowed(text.as_str())),
        Part::Media(media) => Some(Cow::Owned(not_shown(media))),
        Part::Text(_) | Part::Reasoning(_) | Part::Exchange(_) | Part::Native(_) => None,
    }));
    let thinking = joined(message.parts.iter().filter_map(|part| match part {
        Part::Reasoning(thoughts)
            if !thoughts.text.is_empty() && is_own(thoughts.model.as_ref(), &card.id) =>
        {
            Some(Cow::Borrowed(thoughts.text.as_str()))
        }
        Part::Text(_) | Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    }));
    let thinking = Some(thinking).filter(|thinking| !thinking.is_empty());
    let tool_calls = message.exchanges().map(call).collect::<Result<Vec<_>, _>>()?;
    if content.is_empty() && thinking.is_none() && tool_calls.is_empty() {
        return Ok(()); // an answer of nothing says nothing
    }
    list.push(Entry::Assistant { content, thinking, tool_calls });
    for exchange in message.exchanges() {
        let (content, images) = match &exchange.result {
            Some(result) => words_and_images(&result.content, card)?,
            None => (Cow::Borrowed(INTERRUPTED), Vec::new()),
        };
        list.push(Entry::Tool { tool_name: &exchange.call.name, content, images });
    }
    Ok(())
}

fn call(exchange: &Exchange) -> Result<Call<'_>, Unencodable> {
    let arguments = sendable_arguments(&exchange.call.arguments)?;
    Ok(Call { function: Called { name: &exchange.call.name, arguments } })
}

/// The words of a message, and its images beside them: the server knows no other place for them.
fn words_and_images<'a>(
    content: &'a [Content],
    card: &ModelCard,
) -> Result<(Cow<'a, str>, Vec<&'a str>), Unencodable> {
    let (mut words, mut images) = (Vec::with_capacity(content.len()), Vec::new());
    for content in content {
        match content {
            Content::Text(text) => words.push(Cow::Borrowed(text.as_str())),
            Content::Media(media) => match image(media, card)? {
                Some(data) => images.push(data),
                None => words.push(Cow::Owned(not_shown(media))),
            },
        }
    }
    Ok((joined(words), images))
}

/// The image as base64; `None` for an address, as the server fetches nothing.
fn image<'a>(media: &'a Media, card: &ModelCard) -> Result<Option<&'a str>, Unencodable> {
    if media_kind(&media.media_type) != "image" || !card.abilities.vision {
        return Ok(None);
    }
    match &media.source {
        MediaSource::Base64(data) => Ok(Some(data)),
        MediaSource::Url(url) => {
            Ok(url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).map(|(_, data)| data))
        }
        MediaSource::Blob { .. } => Err(Unencodable::UnresolvedBlob(label(media))),
    }
}

fn tools(request: &ChatRequest) -> Result<Vec<Tool<'_>>, Unencodable> {
    let offered: Vec<&ToolSchema> = match &request.tool_choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto | ToolChoice::Required => request.tools.iter().collect(),
        ToolChoice::Named(name) => request.tools.iter().filter(|tool| tool.name == *name).collect(),
    };
    if offered.is_empty() {
        match &request.tool_choice {
            ToolChoice::Named(name) => return Err(Unencodable::ToolNotOffered(name.to_string())),
            ToolChoice::Required => return Err(Unencodable::ToolNotOffered("any tool".to_owned())),
            ToolChoice::Auto | ToolChoice::None => {}
        }
    }
    let tools = offered.into_iter().map(|tool| Tool {
        r#type: "function",
        function: Offered { name: &tool.name, description: &tool.description, parameters: &tool.parameters },
    });
    Ok(tools.collect())
}

fn think(effort: ReasoningEffort, quirks: &Quirks) -> Think {
    if !quirks.has(Quirk::ThinkingLevel) {
        return Think::Switch(!matches!(effort, ReasoningEffort::Off | ReasoningEffort::Budget(Tokens(0))));
    }
    Think::Step(match effort {
        ReasoningEffort::Off
        | ReasoningEffort::Minimal
        | ReasoningEffort::Low
        | ReasoningEffort::Budget(Tokens(..=1024)) => "low",
        ReasoningEffort::Medium | ReasoningEffort::Budget(Tokens(..=8192)) => "medium",
        ReasoningEffort::High | ReasoningEffort::Max | ReasoningEffort::Budget(_) => "high",
    })
}

fn options<'a>(request: &'a ChatRequest, target: Target<'_>) -> Result<Options<'a>, Unencodable> {
    let card = target.card;
    if let Some(temperature) = request.temperature
        && !(0.0..=2.0).contains(&temperature)
    {
        return Err(Unencodable::Temperature(temperature.to_string()));
    }
    Ok(Options {
        num_ctx: is_window_told(target).then_some(card.context_window.0),
        num_predict: request.max_output.map(|limit| card.max_output.map_or(limit, |most| limit.min(most)).0),
        temperature: request.temperature,
        top_p: request.top_p,
        frequency_penalty: request.frequency_penalty,
        presence_penalty: request.presence_penalty,
        seed: request.seed,
        stop: request.stop.iter().map(Text::as_str).collect(),
    })
}

/// Whether the window is more than an assumption: somebody wrote a card, or changed the window of the row.
fn is_window_told(Target { card, provider }: Target<'_>) -> bool {
    let bundled = bundled_providers().iter().find(|row| row.name == provider.name);
    *card != provider.unknown_card(card.id.model())
        || bundled.is_some_and(|row| row.context_window != provider.context_window)
}

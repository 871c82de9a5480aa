//! What a request weighs: one rule, used for fitting, for the report and for the recount.

use thermidor_types::{Content, Exchange, Media, Message, Part, Tokens, ToolSchema, media_kind};

use crate::TokenCounter;

/// What every message costs beside its contents: role and separators.
pub const MESSAGE_FRAME: Tokens = Tokens(4);
/// What every tool call with its result costs beside name, arguments and contents.
pub const EXCHANGE_FRAME: Tokens = Tokens(12);
/// What every tool costs beside name, description and parameters.
pub const TOOL_FRAME: Tokens = Tokens(8);
/// What an image or any other file costs, however many bytes it has; a common figure among providers.
pub const IMAGE: Tokens = Tokens(1_000);
/// What a sound or a video costs.
pub const RECORDING: Tokens = Tokens(1_500);

/// The tokens of a request: all messages with their frames, and all tools.
///
/// This is the figure a [`Report`](crate::Report) sums up to, for the same counter. A media part has a flat cost,
/// an opaque signature none.
pub fn request_tokens(messages: &[Message], tools: &[ToolSchema], counter: &dyn TokenCounter) -> Tokens {
    let messages: Tokens =
        messages.iter().map(|message| MESSAGE_FRAME + message_tokens(message, counter)).sum();
    messages + tools.iter().map(|tool| tool_tokens(tool, counter)).sum()
}

/// The tokens of a tool's schema, frame included.
pub(crate) fn tool_tokens(tool: &ToolSchema, counter: &dyn TokenCounter) -> Tokens {
    TOOL_FRAME
        + counter.count(&tool.name)
        + counter.count(&tool.description)
        + counter.count(tool.parameters.as_str())
}

/// The tokens of a message's contents, without its frame.
pub(crate) fn message_tokens(message: &Message, counter: &dyn TokenCounter) -> Tokens {
    match message {
        Message::System(system) => counter.count(&system.text),
        Message::User(user) => user.content.iter().map(|content| content_tokens(content, counter)).sum(),
        Message::Assistant(answer) => answer
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => counter.count(text),
                Part::Reasoning(reasoning) => counter.count(&reasoning.text),
                Part::Exchange(exchange) => exchange_tokens(exchange, counter),
                Part::Media(media) => media_tokens(media),
                Part::Native(native) => counter.count(native.item.as_str()),
            })
            .sum(),
    }
}

fn exchange_tokens(exchange: &Exchange, counter: &dyn TokenCounter) -> Tokens {
    let call = counter.count(&exchange.call.name) + counter.count(&exchange.call.arguments);
    let results = exchange.result.iter().flat_map(|result| &result.content);
    EXCHANGE_FRAME + call + results.map(|content| content_tokens(content, counter)).sum()
}

pub(crate) fn content_tokens(content: &Content, counter: &dyn TokenCounter) -> Tokens {
    match content {
        Content::Text(text) => counter.count(text),
        Content::Media(media) => media_tokens(media),
    }
}

fn media_tokens(media: &Media) -> Tokens {
    match media_kind(&media.media_type) {
        "audio" | "video" => RECORDING,
        _ => IMAGE,
    }
}

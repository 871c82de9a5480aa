use std::borrow::Cow;

use thermidor_types::ToolSchema;

use super::{
    messages::Entries,
    request::{Body, Choice, Entry, Format, Name, NamedSchema, OfferedFunction, StreamOptions, Tool, Words},
    sampling::Sampling,
    thinking::Thinking,
};
use crate::{
    ChatRequest, Quirk, Quirks, ToolChoice,
    dialect::{Target, Unencodable, WireRequest, strict::is_strict},
    forms::schema_in_words,
};

/// The JSON body for `request`, asking for a stream.
///
/// Same request, same bytes. Calls get the ids `call00001`, `call00002`, … in the order of the request: every
/// provider's rules for ids admit them, they are unique whatever models made the history, and a growing
/// history keeps its prefix. An open exchange is answered as interrupted, arguments that are no JSON object
/// are sent as `{"unparsed_arguments": "…"}` (servers parse them), media a model cannot read become a note.
/// Images get no `detail`: the provider's default is `auto`.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`].
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let (card, quirks) = (target.card, &target.provider.quirks);
    let mut messages = Entries::new(card, quirks).all(&request.messages, &request.cache)?;
    let has_tools = !request.tools.is_empty();
    let stream = !(has_tools && quirks.has(Quirk::NoStreamWithTools));
    let asks = quirks.has(Quirk::AsksForParallelCalls).then_some(true);
    let body = Body {
        model: card.id.model(),
        response_format: response_format(request, quirks, &mut messages),
        messages,
        tools: request.tools.iter().map(|tool| offered(tool, request.strict_tools)).collect(),
        tool_choice: tool_choice(request, quirks)?,
        parallel_tool_calls: request.parallel_calls.or(asks).filter(|_| has_tools),
        sampling: Sampling::of(request, card, quirks)?,
        thinking: Thinking::of(request.reasoning, quirks),
        prompt_cache_key: request.cache.key.as_deref().filter(|_| quirks.has(Quirk::PromptCacheKey)),
        stream,
        stream_options: (stream && !quirks.has(Quirk::NoStreamOptions))
            .then_some(StreamOptions { include_usage: true }),
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    Ok(WireRequest { path: target.path("/chat/completions"), headers: Vec::new(), body })
}

fn offered(tool: &ToolSchema, strict: bool) -> Tool<'_> {
    let function = OfferedFunction {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        strict: strict && is_strict(&tool.parameters),
    };
    Tool { r#type: "function", function }
}

/// `auto` is left out: it is the default everywhere. Without tools there is nothing to choose, and saying so
/// is refused.
fn tool_choice<'a>(request: &'a ChatRequest, quirks: &Quirks) -> Result<Option<Choice<'a>>, Unencodable> {
    match &request.tool_choice {
        ToolChoice::Named(name) if !request.tools.iter().any(|tool| tool.name == *name) => {
            Err(Unencodable::ToolNotOffered(name.to_string()))
        }
        ToolChoice::Required if request.tools.is_empty() => {
            Err(Unencodable::ToolNotOffered("any tool".to_owned()))
        }
        _ if request.tools.is_empty() => Ok(None),
        ToolChoice::Auto => Ok(None),
        ToolChoice::Required if quirks.has(Quirk::RequiredIsAny) => Ok(Some(Choice::Word("any"))),
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
        let operator = |entry: &&Entry<'_>| matches!(entry, Entry::System { .. } | Entry::Developer { .. });
        let place = messages.iter().take_while(operator).count();
        let content = schema_in_words(&wanted.schema);
        messages.insert(place, Entry::System { content: Words::Plain(Cow::Owned(content)) });
        return Some(Format::JsonObject);
    }
    let strict = is_strict(&wanted.schema);
    Some(Format::JsonSchema {
        json_schema: NamedSchema { name: &wanted.name, schema: &wanted.schema, strict },
    })
}

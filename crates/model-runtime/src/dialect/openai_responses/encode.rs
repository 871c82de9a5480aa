use super::{
    input::Input,
    request::{Body, Choice, Format, Reasoning, Text, Tool},
};
use crate::{
    ChatRequest, Quirk, ToolChoice,
    dialect::{
        Target, Unencodable, WireRequest,
        openai_chat::{sampling::Sampling, thinking::effort},
        strict::is_strict,
    },
};

/// The least that the API takes for a longest answer, in tokens.
const LEAST_OUTPUT: u64 = 16;

/// The JSON body for `request`, asking for a stream and storing nothing.
///
/// Same request, same bytes. The history is sent as items: the operator's messages in their place, calls with the
/// provider's own ids where it made them, and the provider's own items byte for byte, to the model that made them.
/// Reasoning goes back in its encrypted form only, and only before the item it led to; its readable summary is not
/// sent. An open exchange is answered as interrupted, arguments that are no JSON object are sent as
/// `{"unparsed_arguments": "…"}`, media a model cannot read become a note.
///
/// The API has no penalties and no seed: these wishes are left out. A tool is declared strict if that was asked for
/// and its schema allows it; if only the schema stands against it, the choice is left to the API, which makes the
/// schema fit where it can.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`]. Words that end the answer have no form here: leaving them out would change what is paid for.
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let (card, quirks) = (target.card, &target.provider.quirks);
    if !request.stop.is_empty() {
        return Err(Unencodable::NoForm("words that end the answer"));
    }
    let mut input = Input::new(card, quirks);
    for message in &request.messages {
        input.push(message)?;
    }
    let input = input.items();
    if input.is_empty() {
        return Err(Unencodable::NoMessage);
    }
    let sampling = Sampling::of(request, card, quirks)?;
    let limit = sampling.max_tokens.or(sampling.max_completion_tokens).or(sampling.max_new_tokens);
    let include: &[&str] =
        if card.abilities.reasoning { &["reasoning.encrypted_content"] } else { Default::default() };
    let body = Body {
        model: card.id.model(),
        input,
        tools: request.tools.iter().map(|tool| offered(tool, request.strict_tools)).collect(),
        tool_choice: tool_choice(request)?,
        parallel_tool_calls: request.parallel_calls.filter(|_| !request.tools.is_empty()),
        text: text(request),
        reasoning: reasoning(request, target),
        include,
        max_output_tokens: limit.map(|limit| limit.max(LEAST_OUTPUT)),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        prompt_cache_key: request.cache.key.as_deref().filter(|_| quirks.has(Quirk::PromptCacheKey)),
        store: false,
        stream: true,
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    Ok(WireRequest { path: target.path("/responses"), headers: Vec::new(), body })
}

/// Without `strict` the API makes every schema strict that it can, and optional arguments required with it.
fn offered(tool: &thermidor_types::ToolSchema, strict: bool) -> Tool<'_> {
    let strict = match (strict, strict && is_strict(&tool.parameters)) {
        (false, _) => Some(false),
        (true, true) => Some(true),
        (true, false) => None,
    };
    Tool {
        r#type: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        strict,
    }
}

/// `auto` is left out: it is the default. Without tools there is nothing to choose.
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
        ToolChoice::Named(name) => Ok(Some(Choice::Named { r#type: "function", name })),
    }
}

/// A schema that the strict mode refuses is sent without it.
fn text(request: &ChatRequest) -> Option<Text<'_>> {
    let wanted = request.response_schema.as_ref()?;
    let strict = is_strict(&wanted.schema);
    let format = Format { r#type: "json_schema", name: &wanted.name, schema: &wanted.schema, strict };
    Some(Text { format })
}

fn reasoning(request: &ChatRequest, target: Target<'_>) -> Option<Reasoning> {
    let quirks = &target.provider.quirks;
    let effort = request.reasoning.map(|wish| effort(wish, quirks));
    let summary = (target.card.abilities.reasoning && quirks.has(Quirk::ReasoningSummary)).then_some("auto");
    (effort.is_some() || summary.is_some()).then_some(Reasoning { effort, summary })
}

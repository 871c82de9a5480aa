use std::collections::BTreeMap;

use serde_json::Value;
use thermidor_types::{Json, Message, ModelCard, SystemMessage, Text, ToolSchema};

use super::{
    contents::Contents,
    request::{Body, Calling, Declaration, Generation, Instruction, Part, Piece, ToolConfig, Toolbox},
    thinking::thinking,
};
use crate::{
    ChatRequest, Quirk, Quirks, ToolChoice,
    dialect::{Target, Unencodable, WireRequest},
};

/// The dialect's own path. Without `alt=sse` the answer is one JSON list.
const PATH: &str = "/v1beta/models/{model}:streamGenerateContent?alt=sse";

/// The JSON body for `request`; that the answer is a stream is said in the path.
///
/// The operator's messages at the head are the instruction, later ones stand where they are as the user's:
/// the prefix of a growing history stays the same. Schemas are sent as JSON Schema
/// (`parametersJsonSchema`), not in the narrow form of `parameters`, which knows neither references nor
/// unions. No safety setting is sent, no cache mark either: the service caches by itself, and a cache made
/// beforehand is named in [`ChatRequest::extra`] as `cachedContent`.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`].
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let (card, quirks) = (target.card, &target.provider.quirks);
    let head = request.messages.iter().take_while(|message| matches!(message, Message::System(_))).count();
    let (operator, talk) = request.messages.split_at(head);
    let mut contents = Contents::new(card, quirks);
    // Models without an instruction, and talks of nothing else, have the operator speak first.
    let instruct = !quirks.has(Quirk::NoSystemRole) && !talk.is_empty();
    let talk = if instruct { talk } else { &request.messages };
    for message in talk {
        contents.push(message)?;
    }
    let contents = contents.into_turns();
    if contents.is_empty() {
        return Err(Unencodable::NoMessage);
    }
    let body = Body {
        system_instruction: instruct.then(|| instruction(operator)).flatten(),
        contents,
        tools: toolbox(&request.tools).map(|toolbox| [toolbox]),
        tool_config: tool_config(request)?,
        generation_config: generation(request, card, quirks)?,
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    Ok(WireRequest { path: target.path(PATH), headers: Vec::new(), body })
}

fn instruction(operator: &[Message]) -> Option<Instruction<'_>> {
    let parts: Vec<Piece<'_>> = operator
        .iter()
        .filter_map(|message| match message {
            Message::System(SystemMessage { text, .. }) if !text.is_empty() => {
                Some(Piece::Part(Box::new(Part::words(text.as_str()))))
            }
            Message::System(_) | Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    (!parts.is_empty()).then_some(Instruction { parts })
}

fn toolbox(tools: &[ToolSchema]) -> Option<Toolbox<'_>> {
    let declarations = tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: (!takes_nothing(&tool.parameters)).then_some(&tool.parameters),
    });
    (!tools.is_empty()).then(|| Toolbox { function_declarations: declarations.collect() })
}

/// Whether a schema describes an object without any field. Some models refuse one; a tool without arguments is
/// declared without a schema.
fn takes_nothing(schema: &Json) -> bool {
    let plain = ["type", "required", "$schema", "title", "description"];
    schema.read::<BTreeMap<String, Value>>().is_ok_and(|fields| {
        fields.iter().all(|(key, value)| match key.as_str() {
            "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
            "additionalProperties" => *value == Value::Bool(false),
            key => plain.contains(&key),
        })
    })
}

/// `AUTO` is left out: it is the default. Without tools there is nothing to choose.
fn tool_config(request: &ChatRequest) -> Result<Option<ToolConfig<'_>>, Unencodable> {
    let (mode, name) = match &request.tool_choice {
        ToolChoice::Named(name) => {
            if !request.tools.iter().any(|tool| tool.name == *name) {
                return Err(Unencodable::ToolNotOffered(name.to_string()));
            }
            ("ANY", Some([name.as_str()]))
        }
        ToolChoice::Required if request.tools.is_empty() => {
            return Err(Unencodable::ToolNotOffered("any tool".to_owned()));
        }
        _ if request.tools.is_empty() => return Ok(None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Auto if request.strict_tools => ("VALIDATED", None),
        ToolChoice::Auto => return Ok(None),
    };
    Ok(Some(ToolConfig { function_calling_config: Calling { mode, allowed_function_names: name } }))
}

fn generation<'a>(
    request: &'a ChatRequest,
    card: &ModelCard,
    quirks: &Quirks,
) -> Result<Generation<'a>, Unencodable> {
    if let Some(temperature) = request.temperature
        && !(0.0..=2.0).contains(&temperature)
    {
        return Err(Unencodable::Temperature(temperature.to_string()));
    }
    let form = request.response_schema.as_ref();
    Ok(Generation {
        temperature: request.temperature,
        top_p: request.top_p,
        max_output_tokens: request
            .max_output
            .map(|limit| card.max_output.map_or(limit, |most| limit.min(most)).0),
        stop_sequences: request.stop.iter().map(Text::as_str).collect(),
        seed: request.seed,
        presence_penalty: request.presence_penalty,
        frequency_penalty: request.frequency_penalty,
        response_mime_type: form.map(|_| "application/json"),
        response_json_schema: form.map(|form| &form.schema),
        response_modalities: card.abilities.image_output.then_some(["TEXT", "IMAGE"]),
        thinking_config: request.reasoning.and_then(|effort| thinking(effort, quirks)),
    })
}

use serde_json::Value;
use thermidor_types::Json;

use super::request::{Choice, Tool};
use crate::{ChatRequest, ToolChoice, dialect::Unencodable};

/// The tools on offer. `strict` is said of those whose schemas the provider can hold a model to.
pub(super) fn offered(request: &ChatRequest) -> Vec<Tool<'_>> {
    let tools = request.tools.iter().map(|tool| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
        strict: request.strict_tools && is_closed(&tool.parameters),
        cache_control: None,
    });
    tools.collect()
}

/// `auto` is left out: it is the default. Without tools there is nothing to choose.
///
/// # Errors
/// [`Unencodable::ToolNotOffered`].
pub(super) fn choice(request: &ChatRequest) -> Result<Option<Choice<'_>>, Unencodable> {
    let (r#type, name) = match &request.tool_choice {
        ToolChoice::Named(name) if !request.tools.iter().any(|tool| tool.name == *name) => {
            return Err(Unencodable::ToolNotOffered(name.to_string()));
        }
        ToolChoice::Required if request.tools.is_empty() => {
            return Err(Unencodable::ToolNotOffered("any tool".to_owned()));
        }
        _ if request.tools.is_empty() => return Ok(None),
        ToolChoice::Auto => ("auto", None),
        ToolChoice::Required => ("any", None),
        ToolChoice::None => ("none", None),
        ToolChoice::Named(name) => ("tool", Some(name.as_str())),
    };
    let single = request.parallel_calls == Some(false) && r#type != "none";
    let choice = Choice { r#type, name, disable_parallel_tool_use: single };
    Ok(Some(choice).filter(|_| single || r#type != "auto"))
}

/// Whether every object in `schema` is closed, and the whole is an object: what the API's strict mode demands.
fn is_closed(schema: &Json) -> bool {
    schema.read::<Value>().is_ok_and(|schema| schema["type"] == "object" && closed(&schema))
}

fn closed(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let object = fields.get("type").is_some_and(|kind| kind == "object");
            (!object || fields.get("additionalProperties") == Some(&Value::Bool(false)))
                && fields.values().all(closed)
        }
        Value::Array(items) => items.iter().all(closed),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

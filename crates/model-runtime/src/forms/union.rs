use serde_json::Value;
use thermidor_types::{Json, ToolSchema};

use super::words::Form;
use crate::schema::{Unfit, embeddable};

/// The form of an answer that is a call of one of `tools`, or an answer of the form `answer`.
///
/// A tool whose schema cannot stand inside another one is left out, with a warning.
pub(super) fn union(tools: &[ToolSchema], form: Form, answer: Option<&Json>) -> Result<Json, Unfit> {
    let mut calls = Vec::new();
    for tool in tools {
        match embeddable(&tool.parameters) {
            Ok(parameters) => calls.push(call(&tool.name, parameters.as_str())),
            Err(error) => tracing::warn!(tool = %tool.name, %error, "a tool is left out of the request"),
        }
    }
    if calls.is_empty() && !form.answer {
        return Err(Unfit::NoSchema("no tool is left to call".to_owned()));
    }
    let mut branches = calls;
    if form.several {
        let items =
            format!(r#"{{"type":"array","items":{{"anyOf":[{}]}},"minItems":1}}"#, branches.join(","));
        branches = vec![items];
    }
    if form.answer {
        let inner = match answer {
            Some(schema) => embeddable(schema)?.as_str().to_owned(),
            None => r#"{"type":"string"}"#.to_owned(),
        };
        branches.push(format!(
            r#"{{"type":"object","properties":{{"answer":{inner}}},"required":["answer"],"additionalProperties":false}}"#
        ));
    }
    let text = match branches.as_slice() {
        [one] => one.clone(),
        several => format!(r#"{{"anyOf":[{}]}}"#, several.join(",")),
    };
    Json::parse(text).map_err(|error| Unfit::NoSchema(error.to_string()))
}

fn call(name: &str, parameters: &str) -> String {
    let name = Value::from(name);
    format!(
        r#"{{"type":"object","properties":{{"tool":{{"const":{name}}},"arguments":{parameters}}},"required":["tool","arguments"],"additionalProperties":false}}"#
    )
}

//! Tells the schemas that a provider can hold a model to.

use serde_json::Value;
use thermidor_types::Json;

/// Whether a strict mode takes `schema` as it is: every object in it says `additionalProperties: false` and
/// requires all of its properties. The rule is `OpenAI`'s, for structured outputs.
///
/// Cost: linear in the schema.
pub(super) fn is_strict(schema: &Json) -> bool {
    schema.read::<Value>().is_ok_and(|schema| schema.is_object() && fits(&schema))
}

fn fits(schema: &Value) -> bool {
    let Value::Object(fields) = schema else { return true };
    let properties = fields.get("properties").and_then(Value::as_object);
    if properties.is_some() || fields.get("type").is_some_and(is_object_type) {
        let required = fields.get("required").and_then(Value::as_array);
        let requires =
            |name: &str| required.is_some_and(|required| required.iter().any(|wanted| wanted == name));
        let closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
        if !closed || !properties.is_none_or(|properties| properties.keys().all(|name| requires(name))) {
            return false;
        }
    }
    fields.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties" | "$defs" | "definitions", Value::Object(named)) => named.values().all(fits),
        ("items" | "not", schema) => fits(schema),
        ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().all(fits),
        _ => true,
    })
}

/// `"object"`, alone or among others.
fn is_object_type(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a schema were called strict that the provider then refuses.
    #[test]
    fn objects_are_closed_and_require_everything() {
        let check = |schema: &str, expected: bool| {
            assert_eq!(is_strict(&Json::parse(schema).expect("JSON")), expected, "{schema}");
        };
        check(r#"{"type":"object","properties":{},"additionalProperties":false}"#, true);
        check(
            r#"{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}"#,
            true,
        );
        check(r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#, false);
        check(r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, false);
        check(r#"{"type":["object","null"]}"#, false);
        check(r#"{"type":"array","items":{"type":"object"}}"#, false);
        check(r#"{"anyOf":[{"type":"string"},{"type":"object"}]}"#, false);
        check(r#"{"type":"string","enum":["object"]}"#, true);
        check(
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"properties":{"type":"string"}},"required":["properties"],"additionalProperties":false}}}"##,
            true,
        );
        check("true", false);
    }
}

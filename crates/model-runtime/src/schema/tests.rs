use thermidor_types::Json;

use super::{SchemaDialect, narrow};
use SchemaDialect::{Anthropic, Full, Gemini, Groq, OpenaiStrict};

/// The schema, and what was dropped.
fn look(schema: &str, dialect: SchemaDialect) -> String {
    match narrow(&Json::parse(schema).expect("a document"), dialect) {
        Err(error) => format!("! {error}"),
        Ok(narrowed) => {
            let dropped = narrowed.dropped.iter().map(|it| format!(" - {}@{}", it.keyword, it.pointer));
            format!("{}{}", narrowed.schema, dropped.collect::<String>())
        }
    }
}

fn check(dialect: SchemaDialect, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (schema, expected) in rows {
        let is = look(schema, dialect);
        if is != *expected {
            wrong.push(format!("{schema}\n  is       {is}\n  wanted   {expected}"));
        }
        if let Ok(once) = narrow(&Json::parse(*schema).expect("a document"), dialect) {
            let twice = narrow(&once.schema, dialect).expect("what fits once fits twice");
            if twice.schema != once.schema || !twice.dropped.is_empty() {
                wrong.push(format!("{schema}\n  twice    {}", twice.schema));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn full_is_byte_for_byte() {
    check(
        Full,
        &[
            (r#"{ "type":"string",  "minLength":1.0 }"#, r#"{ "type":"string",  "minLength":1.0 }"#),
            ("true", "true"),
        ],
    );
}

/// Would fail if a property could be left out, an object were open, or the order of keys changed.
#[test]
fn openai_strict() {
    check(
        OpenaiStrict,
        &[
            ("{}", r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#),
            (
                r#"{"type":"object"}"#,
                r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["a"]}"#,
                r#"{"type":"object","properties":{"z":{"type":["string","null"]},"a":{"type":"number"}},"required":["z","a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"properties":{"a":{"enum":["x"]}}}"#,
                r#"{"type":"object","properties":{"a":{"anyOf":[{"enum":["x"]},{"type":"null"}]}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}}}"##,
                r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},"$defs":{"A":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}},"required":["a"],"additionalProperties":false}"##,
            ),
            (
                r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"]}}}"##,
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false}},"additionalProperties":false}"##,
            ),
            (
                r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"]}"#,
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}"#,
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"allOf":[{"type":"string"}],"description":"d"}},"required":["a"]}"#,
                r#"{"type":"object","properties":{"a":{"description":"d","type":"string"}},"required":["a"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","minLength":1,"default":"x"}},"required":["a"]}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false} - minLength@/properties/a - default@/properties/a"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"uuid"}},"required":["a","b"]}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","format":"uuid"}},"required":["a","b"],"additionalProperties":false} - format@/properties/a"#,
            ),
            (
                r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
                r#"{"type":"object","additionalProperties":false,"properties":{},"required":[]} - additionalProperties@"#,
            ),
            (
                r#"{"type":"object","properties":{"minLength":{"type":"array","items":{"type":"object","properties":{"x/y":{"type":"string","pattern":"a","uniqueItems":true}}}}},"required":["minLength"]}"#,
                r#"{"type":"object","properties":{"minLength":{"type":"array","items":{"type":"object","properties":{"x/y":{"type":["string","null"],"pattern":"a"}},"required":["x/y"],"additionalProperties":false}}},"required":["minLength"],"additionalProperties":false} - uniqueItems@/properties/minLength/items/properties/x~1y"#,
            ),
            (
                r#"{"type":"string"}"#,
                "! the root of the schema must be of type object: put it into a property",
            ),
            (
                r#"{"type":["object","null"]}"#,
                "! the root of the schema must be of type object: put it into a property",
            ),
            (
                r#"{"anyOf":[{"type":"object"}]}"#,
                "! the root of the schema must be of type object: put it into a property",
            ),
            (r##"{"$ref":"#/$defs/X"}"##, "! the schema refers to \"#/$defs/X\", which it does not hold"),
            ("[]", "! the schema cannot be read: it is no JSON object"),
            ("true", "! the schema cannot be read: it is no JSON object"),
        ],
    );
}

/// Would fail if a keyword came through that Google refuses with the whole request.
#[test]
fn gemini() {
    let unused = r#"{"unused":{"type":"string","description":"Not used."}}"#;
    check(
        Gemini,
        &[
            (r#"{"type":"object"}"#, &format!(r#"{{"type":"object","properties":{unused}}}"#)),
            (
                r#"{"type":"object","properties":{}}"#,
                &format!(r#"{{"type":"object","properties":{unused}}}"#),
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"integer","enum":[1,2]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"integer"}}} - enum@/properties/a"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"const":"x"}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"const":1}}}"#,
                r#"{"type":"object","properties":{"a":{}}} - const@/properties/a"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string","nullable":true}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":["string","integer"]}}}"#,
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"enum":["x",null]}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["x"],"nullable":true}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d"}}}"#,
                r#"{"type":"object","properties":{"a":{"description":"d","type":"string","nullable":true}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}}}"#,
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}],"nullable":true}}}"#,
            ),
            (
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"type":"string"}}}"##,
                r#"{"type":"object","properties":{"a":{"type":"string","description":"d"}}}"#,
            ),
            (
                r##"{"type":"object","properties":{"definitions":{"$ref":"#/definitions/A"},"$defs":{"type":"string"}},"definitions":{"A":{"type":"integer"}}}"##,
                r#"{"type":"object","properties":{"definitions":{"type":"integer"},"$defs":{"type":"string"}}}"#,
            ),
            (
                r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/B"}}},"B":{"type":"boolean"}}}"##,
                r#"{"type":"object","properties":{"a":{"type":"boolean"}}}"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}"#,
                &format!(
                    r#"{{"type":"object","properties":{{"a":{{"type":"object","properties":{unused}}}}}}} - additionalProperties@/properties/a - additionalProperties@"#
                ),
            ),
            (
                r#"{"$schema":"x","type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"minimum":1}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1}}} - $schema@ - exclusiveMinimum@/properties/a"#,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"uri"}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{"type":"string"}}} - format@/properties/b"#,
            ),
            (
                r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##,
                "! the schema refers to itself by \"#\", which the provider does not take: unfold it to the depth needed",
            ),
            (
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}"##,
                "! the schema refers to itself by \"#/$defs/A\", which the provider does not take: unfold it to the depth needed",
            ),
            (r##"{"$ref":"#/$defs/X"}"##, "! the schema refers to \"#/$defs/X\", which it does not hold"),
            (r#"{"type":"string"}"#, r#"{"type":"string"}"#),
        ],
    );
}

#[test]
fn groq_and_anthropic() {
    check(
        Groq,
        &[
            (
                r#"{"type":"object","properties":{"pattern":{"type":"string","pattern":"a","maxLength":2}},"required":["pattern"]}"#,
                r#"{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]} - pattern@/properties/pattern - maxLength@/properties/pattern"#,
            ),
            (
                r#"{"type":"array","minItems":1,"items":{"not":{"minimum":1}}}"#,
                r#"{"type":"array","items":{"not":{}}} - minItems@ - minimum@/items/not"#,
            ),
            (
                r#"{"patternProperties":{"format":{"format":"uri","const":{"format":"x"}}}}"#,
                r#"{"patternProperties":{"format":{"const":{"format":"x"}}}} - format@/patternProperties/format"#,
            ),
        ],
    );
    check(
        Anthropic,
        &[
            (r#"{"type":"object","minProperties":1}"#, r#"{"type":"object","minProperties":1}"#),
            ("{}", r#"{"type":"object"}"#),
            (
                r#"{"type":"array"}"#,
                "! the root of the schema must be of type object: put it into a property",
            ),
            (r#"{"oneOf":[{}]}"#, "! the root of the schema must be of type object: put it into a property"),
            (
                r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}"##,
                r#"{"type":"object","$defs":{"A":{"type":"object"}}}"#,
            ),
        ],
    );
}

/// Would fail if references could double what they stand for without a bound, or nesting overflow the stack.
#[test]
fn growth_and_depth_have_bounds() {
    let doubling = (0..30).map(|n| {
        format!(r##""d{n}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{0}"}},"b":{{"$ref":"#/$defs/d{0}"}}}}}}"##, n + 1)
    });
    let bomb = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d30":{{"type":"string"}}}}}}"##,
        doubling.collect::<Vec<_>>().join(",")
    );
    assert!(look(&bomb, Gemini).contains("follows more than 2000 references"));
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    assert_eq!(look(&deep, Groq), "! the schema is nested deeper than 64 levels");
}

mod properties {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn schema() -> impl Strategy<Value = Value> {
        let leaf = prop::sample::select(vec![
            json!({"type": "string", "minLength": 1}),
            json!({"type": ["integer", "null"], "minimum": 3}),
            json!({"enum": ["a", 1, null]}),
            json!({"const": "x", "default": "x"}),
            json!({"$ref": "#/$defs/A"}),
            json!({"type": "string", "format": "uri"}),
            json!({}),
            json!(true),
        ]);
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|items| json!({"type": "array", "items": items, "minItems": 1})),
                prop::collection::vec(inner.clone(), 1..4).prop_map(|any| json!({"anyOf": any})),
                prop::collection::vec(inner.clone(), 1..4).prop_map(|one| json!({"oneOf": one})),
                prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
                prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(
                    |properties| json!({"type": "object", "properties": properties, "required": ["a"]})
                ),
            ]
        })
    }

    /// Every object of a strict schema is closed and requires what it lists.
    fn is_strict(value: &Value) -> bool {
        let Value::Object(members) = value else { return true };
        let inner = members.values().all(|value| match value {
            Value::Array(items) => items.iter().all(is_strict),
            Value::Object(by_name) => is_strict(value) && by_name.values().all(is_strict),
            _ => true,
        });
        let Some(properties) = members.get("properties").and_then(Value::as_object) else { return inner };
        let required: Vec<&str> = members
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        inner
            && members.get("additionalProperties") == Some(&json!(false))
            && properties.keys().all(|name| required.contains(&name.as_str()))
    }

    proptest! {
        #[test]
        fn narrowing_twice_is_narrowing_once(inner in schema()) {
            let whole = json!({
                "type": "object", "properties": {"p": inner},
                "$defs": {"A": {"type": "object", "properties": {"q": {"type": "string"}}}}
            });
            let document = Json::of(&whole).expect("a document");
            for dialect in [OpenaiStrict, Gemini, Groq, Anthropic] {
                let once = narrow(&document, dialect).expect("an object without cycles");
                let twice = narrow(&once.schema, dialect).expect("what fits once fits twice");
                prop_assert_eq!(&twice.schema, &once.schema, "{:?}", dialect);
                prop_assert!(twice.dropped.is_empty(), "{:?} {:?}", dialect, twice.dropped);
                let value: Value = once.schema.read().expect("a document");
                prop_assert!(dialect != OpenaiStrict || is_strict(&value), "{value}");
                prop_assert!(dialect != Gemini || !once.schema.as_str().contains("$ref"));
            }
        }
    }
}

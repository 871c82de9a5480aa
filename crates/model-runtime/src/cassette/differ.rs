use std::fmt::Write as _;

use serde_json::Value;

/// So many differences are counted; beyond that, two requests have nothing to do with each other.
const MOST: usize = 200;

/// How much of a value is shown, in characters.
const SHOWN: usize = 80;
/// How much of the common beginning of two texts is shown with it.
const LEAD: usize = 20;

/// One place where two requests differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// A JSON pointer (RFC 6901); empty for the whole.
    pub(super) pointer: String,
    pub(super) recorded: String,
    pub(super) asked: String,
}

/// Where two values differ, in the order of the document, properties by name.
pub(super) fn differences(recorded: &Value, asked: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(&mut String::new(), Some(recorded), Some(asked), &mut found);
    found
}

fn walk(pointer: &mut String, recorded: Option<&Value>, asked: Option<&Value>, found: &mut Vec<Difference>) {
    if recorded == asked || found.len() >= MOST {
        return;
    }
    let length = pointer.len();
    match (recorded, asked) {
        (Some(Value::Object(recorded)), Some(Value::Object(asked))) => {
            let mut names: Vec<&String> = recorded.keys().chain(asked.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                walk(pointer, recorded.get(name), asked.get(name), found);
                pointer.truncate(length);
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(asked))) => {
            for place in 0..recorded.len().max(asked.len()) {
                let _ = write!(pointer, "/{place}");
                walk(pointer, recorded.get(place), asked.get(place), found);
                pointer.truncate(length);
            }
        }
        _ => {
            let (recorded, asked) = shown(recorded, asked);
            found.push(Difference { pointer: pointer.clone(), recorded, asked });
        }
    }
}

/// Both values in short; of two texts, the part where they part.
fn shown(recorded: Option<&Value>, asked: Option<&Value>) -> (String, String) {
    let from = match (recorded, asked) {
        (Some(Value::String(recorded)), Some(Value::String(asked))) => {
            let common = recorded.chars().zip(asked.chars()).take_while(|(one, other)| one == other).count();
            if common > LEAD * 2 { common - LEAD } else { 0 }
        }
        _ => 0,
    };
    (excerpt(recorded, from), excerpt(asked, from))
}

fn excerpt(value: Option<&Value>, from: usize) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let Value::String(text) = value else { return cut(&value.to_string()) };
    let part: String = text.chars().skip(from).collect();
    let lead = if from > 0 { "…" } else { "" };
    format!("{:?}", format!("{lead}{}", cut(&part)))
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Would fail if a miss were explained by the wrong place, or by a page of text.
    #[test]
    fn the_first_difference_is_told_with_both_values() {
        let check = |recorded: &Value, asked: &Value, expected: &[(&str, &str, &str)]| {
            let found = differences(recorded, asked);
            let found: Vec<_> = found
                .iter()
                .map(|found| (found.pointer.as_str(), found.recorded.as_str(), found.asked.as_str()))
                .collect();
            assert_eq!(found, expected);
        };
        check(&json!({"a": 1, "b": [1, 2]}), &json!({"b": [1, 2], "a": 1}), &[]);
        check(&json!({"a": 1}), &json!({"a": 2}), &[("/a", "1", "2")]);
        check(&json!({"a/b": {"~": 1}}), &json!({"a/b": {}}), &[("/a~1b/~0", "1", "nothing")]);
        check(&json!([1]), &json!([1, {"x": 1}]), &[("/1", "nothing", "{\"x\":1}")]);
        check(
            &json!({"b": 1, "a": "x"}),
            &json!({"b": 2, "a": "y"}),
            &[("/a", "\"x\"", "\"y\""), ("/b", "1", "2")],
        );
        let long = |end: &str| json!("é".repeat(100) + end);
        let expected = |end: &str| format!("\"…{}{end}\"", "é".repeat(20));
        check(&long("one"), &long("two"), &[("", &expected("one"), &expected("two"))]);
    }
}

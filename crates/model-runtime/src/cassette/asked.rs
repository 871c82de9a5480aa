use serde_json::Value;

use super::{line::Exchange, secrets::Secrets};
use crate::http::WireCall;

/// What stands for the id of a run.
const RUN: &str = "[run]";

/// A request as it is compared.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Content,
}

/// A body as it is compared: the order of properties, the wish for a stream and the id of the run mean nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Content {
    Json(Value),
    Other(Vec<u8>),
}

impl Asked {
    /// A request on its way out.
    pub(super) fn of_call(call: &WireCall) -> Self {
        let secrets = Secrets::of(&call.headers);
        let body = secrets.removed(call.body.to_vec());
        Self::new(call.method.as_str(), &secrets.path(&call.url), body, run(call).as_deref())
    }

    /// One that was recorded; `None` when its body cannot be read.
    pub(super) fn of_exchange(exchange: &Exchange) -> Option<Self> {
        let body = exchange.request.bytes()?;
        Some(Self::new(&exchange.method, &exchange.path, body, exchange.run.as_deref()))
    }

    fn new(method: &str, path: &str, body: Vec<u8>, run: Option<&str>) -> Self {
        let body = match serde_json::from_slice(&body) {
            Ok(mut json) => {
                normalise(&mut json, run);
                Content::Json(json)
            }
            Err(_) => Content::Other(body),
        };
        Self { method: method.to_ascii_uppercase(), path: unstreamed(path), body }
    }
}

/// The id of the run that a call belongs to: the first part of its idempotency key.
pub(super) fn run(call: &WireCall) -> Option<String> {
    let key = call.headers.get("idempotency-key")?.to_str().ok()?;
    key.split_once('/').map(|(run, _)| run.to_owned()).filter(|run| run.len() >= 16)
}

/// The path that whole answers and streams have in common: one dialect asks for a stream there.
fn unstreamed(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let mut plain = path.replace(":streamGenerateContent", ":generateContent");
    let query: Vec<&str> =
        query.into_iter().flat_map(|query| query.split('&')).filter(|pair| *pair != "alt=sse").collect();
    if !query.is_empty() {
        plain.push('?');
        plain.push_str(&query.join("&"));
    }
    plain
}

fn normalise(json: &mut Value, run: Option<&str>) {
    if let Value::Object(properties) = json {
        properties.remove("stream");
        properties.remove("stream_options");
    }
    if let Some(run) = run {
        without(json, run);
    }
}

/// Puts a word for the id of the run, wherever it stands.
fn without(json: &mut Value, run: &str) {
    match json {
        Value::String(text) if text.contains(run) => *text = text.replace(run, RUN),
        Value::Array(items) => items.iter_mut().for_each(|item| without(item, run)),
        Value::Object(properties) => properties.values_mut().for_each(|value| without(value, run)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What makes two requests one, and what does not.
    #[test]
    fn requests_are_compared_by_their_meaning() {
        let same = |one: (&str, &str), other: (&str, &str)| {
            let asked = |(path, body): (&str, &str)| {
                Asked::new("POST", path, body.into(), Some("0198c2d4-aaaa-7000"))
            };
            asked(one) == asked(other)
        };
        let alike = [
            (("/c", r#"{"a":1,"b":[1,{"x":1,"y":2}]}"#), ("/c", r#"{"b":[1,{"y":2,"x":1}],"a":1}"#)),
            (
                ("/c", r#"{"a":1,"stream":true,"stream_options":{"include_usage":true}}"#),
                ("/c", r#"{"a":1}"#),
            ),
            (("/m:streamGenerateContent?alt=sse", "{}"), ("/m:generateContent", "{}")),
            (("/m?v=1&alt=sse", ""), ("/m?v=1", "")),
            (("/c", r#"{"id":"0198c2d4-aaaa-7000/1"}"#), ("/c", r#"{"id":"[run]/1"}"#)),
            (("/c", "no json"), ("/c", "no json")),
        ];
        for (one, other) in alike {
            assert!(same(one, other), "{one:?} is {other:?}");
        }
        let different = [
            (("/c", r#"{"a":[1,2]}"#), ("/c", r#"{"a":[2,1]}"#)),
            (("/c", r#"{"a":{"stream":true}}"#), ("/c", r#"{"a":{}}"#)),
            (("/c", "{}"), ("/d", "{}")),
            (("/c?v=1", "{}"), ("/c?v=2", "{}")),
            (("/c", r#"{"a":null}"#), ("/c", "{}")),
            (("/c", "no json"), ("/c", "no  json")),
        ];
        for (one, other) in different {
            assert!(!same(one, other), "{one:?} is not {other:?}");
        }
        assert_ne!(Asked::new("GET", "/c", Vec::new(), None), Asked::new("POST", "/c", Vec::new(), None));
    }
}

use std::time::Duration;

use serde_json::Value;
use smol_str::{SmolStr, ToSmolStr};

/// The longest code or name of a request kept, in characters: none that means something comes near.
const LONGEST_CODE: usize = 100;

/// What the body of a refusal says, wherever a provider puts it.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Codes, types and status words, the most telling first, as they were written.
    pub(super) codes: Vec<SmolStr>,
    /// `MiniMax` numbers its failures in a field of its own; the numbers mean other things elsewhere.
    pub(super) base_resp: Option<i64>,
    /// The sentence for people.
    pub(super) message: String,
    /// Sentences of others that are quoted, such as those of the provider behind an aggregator.
    pub(super) quoted: Vec<String>,
    /// The wait asked for.
    pub(super) retry_after: Option<Duration>,
    /// The provider's name for the request.
    pub(super) request_id: Option<SmolStr>,
    /// Whether it is a web page.
    pub(super) page: bool,
}

impl Said {
    pub(super) fn read(body: &str) -> Self {
        let trimmed = body.trim();
        if trimmed.starts_with('<') {
            return Self { page: true, ..Self::default() };
        }
        let Ok(value) = serde_json::from_str::<Value>(trimmed) else {
            return Self { message: trimmed.to_owned(), ..Self::default() };
        };
        let value = match &value {
            Value::Array(items) => items.first().unwrap_or(&value),
            _ => &value,
        };
        Self::of(value)
    }

    fn of(value: &Value) -> Self {
        let present = |name: &str| value.get(name).filter(|inner| !inner.is_null());
        let base = present("base_resp");
        // OpenAI's responses and some gateways put the failure inside the answer it belongs to.
        let inside = value.get("response").and_then(|response| response.get("error"));
        let error = present("error").or(inside.filter(|inner| !inner.is_null())).or(base).unwrap_or(value);
        // `{"error":{"error":{…}}}` is what some gateways make of it.
        let error = error.get("error").filter(|inner| inner.is_object()).unwrap_or(error);
        let texts = [
            error,
            &error["message"],
            &error["status_msg"],
            &error["msg"],
            &error["error_msg"],
            &error["detail"],
            &value["message"],
            &value["error"],
        ];
        let message = texts.iter().find_map(|text| text.as_str()).unwrap_or_default().to_owned();
        let message = if message.is_empty() && !error.is_string() { error.to_string() } else { message };
        let details: Vec<&Value> = error["details"].as_array().into_iter().flatten().collect();
        Self {
            codes: codes(value, error, &details),
            base_resp: base.and_then(|base| base["status_code"].as_i64()).filter(|code| *code != 0),
            message,
            quoted: quoted(error),
            retry_after: details.iter().find_map(|detail| seconds(detail["retryDelay"].as_str()?)),
            request_id: request_id(value, error),
            page: false,
        }
    }
}

/// Inner codes come first: they are the reason, outer ones its name.
fn codes(value: &Value, error: &Value, details: &[&Value]) -> Vec<SmolStr> {
    let inner = &error["innererror"];
    let reasons = details.iter().map(|detail| &detail["reason"]);
    let fields = ["code", "type", "status", "error_type", "errorType", "error_code", "__type", "statusCode"];
    let own = fields.iter().flat_map(|field| [&error[*field], &value[*field]]);
    let all = [&inner["code"], &inner["innererror"]["code"]].into_iter().chain(reasons).chain(own);
    let mut codes: Vec<SmolStr> = Vec::new();
    for code in all {
        let code = match code {
            Value::String(text) if !text.is_empty() => shortened(text),
            Value::Number(number) => number.to_smolstr(),
            _ => continue,
        };
        if !codes.contains(&code) && code != "error" {
            codes.push(code);
        }
    }
    codes
}

fn quoted(error: &Value) -> Vec<String> {
    let metadata = &error["metadata"];
    let raw = [&metadata["raw"], &metadata["reasons"], &error["innererror"]["message"], &error["param"]];
    let text = |value: &&Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    raw.iter().filter_map(text).collect()
}

fn request_id(value: &Value, error: &Value) -> Option<SmolStr> {
    let places = [&value["request_id"], &error["request_id"], &value["requestId"], &error["requestId"]];
    places.iter().find_map(|id| id.as_str()).filter(|id| !id.is_empty()).map(shortened)
}

fn shortened(code: &str) -> SmolStr {
    code.chars().take(LONGEST_CODE).collect()
}

/// A span as Google writes it: `3.5s`. A year at most: longer is nonsense and would overflow elsewhere.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    (0.0..=31_536_000.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

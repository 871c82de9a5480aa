//! Reads the fields of lists, whose form differs between servers: an odd field is none.

use serde_json::Value;
use thermidor_types::{Text, Timestamp, Tokens};

pub(super) fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path)?.as_str().filter(|text| !text.is_empty())
}

pub(super) fn title(value: &Value, path: &str) -> Option<Text> {
    text(value, path).map(Text::from)
}

/// The first of some fields that holds a number of tokens.
pub(super) fn tokens(value: &Value, paths: &[&str]) -> Option<Tokens> {
    let count = |path: &&str| value.pointer(path)?.as_u64().filter(|count| *count > 0);
    paths.iter().find_map(count).map(Tokens)
}

pub(super) fn is(value: &Value, path: &str) -> bool {
    value.pointer(path).and_then(Value::as_bool) == Some(true)
}

/// Whether a list of words holds `word`.
pub(super) fn has(value: &Value, path: &str, word: &str) -> bool {
    let words = value.pointer(path).and_then(Value::as_array);
    words.is_some_and(|words| words.iter().any(|entry| entry.as_str() == Some(word)))
}

/// Seconds since 1970 from seconds, milliseconds or a date; 0 is how servers write that they do not know.
pub(super) fn moment(value: &Value, path: &str) -> Option<i64> {
    const MILLIS: i64 = 100_000_000_000;
    let seconds = match value.pointer(path)? {
        Value::Number(number) => number.as_i64()?,
        Value::String(text) => text.parse::<Timestamp>().ok()?.as_millis() / 1_000,
        _ => return None,
    };
    let seconds = if seconds > MILLIS { seconds / 1_000 } else { seconds };
    (seconds > 0).then_some(seconds)
}

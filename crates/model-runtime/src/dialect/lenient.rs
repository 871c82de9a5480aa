//! Reads fields whose form differs between servers: an odd field never costs the words beside it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::Tokens;

/// A string on its way through a decoder, borrowed unless it holds an escape.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// The string in `raw`; `None` for everything that is no string, and for the empty one.
pub(crate) fn string<'a>(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
    let text = raw?.get();
    if text.len() <= 2 || !text.starts_with('"') {
        return None;
    }
    match serde_json::from_str::<Borrowed<'a>>(text) {
        Ok(Borrowed(text)) => Some(text),
        Err(_) => serde_json::from_str(&without_lone_surrogates(text)).ok().map(Cow::Owned),
    }
}

/// The list in `raw`, a single object standing for a list of one.
pub(crate) fn list<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Result<Vec<T>, serde_json::Error> {
    match raw.map(RawValue::get) {
        Some(text) if text.starts_with('[') => serde_json::from_str(text),
        Some(text) if text.starts_with('{') => serde_json::from_str(text).map(|one| vec![one]),
        _ => Ok(Vec::new()),
    }
}

/// The arguments of a call in whatever form they come: a string is meant as it is read, an object or a list
/// as it is written, `null` not at all.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Cow<'_, str> {
    match string(raw) {
        Some(text) => text,
        None => match raw.map(RawValue::get) {
            Some(text) if text.starts_with(['{', '[']) => Cow::Borrowed(text),
            _ => Cow::Borrowed(""),
        },
    }
}

/// A count, also where it is written with a fraction; nonsense counts nothing.
pub(crate) fn count(number: Option<&Number>) -> Tokens {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates at both ends"
    )]
    let read = |number: &Number| number.as_u64().or_else(|| number.as_f64().map(|float| float as u64));
    Tokens(number.and_then(read).unwrap_or_default())
}

/// Halves of surrogate pairs, which JSON can write and Unicode text cannot hold, become U+FFFD.
#[cold]
fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at + 2..at + 6).filter(|_| text[at..].starts_with("\\u"))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let escape = at + found;
        clean.push_str(&text[at..escape]);
        let (length, lone) = match (unit(escape), text.get(escape + 6..).and_then(|_| unit(escape + 6))) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, false),
            (Some(0xD800..=0xDFFF), _) => (6, true),
            (Some(_), _) => (6, false),
            // An escape is two bytes; the byte after the backslash may belong to a longer character.
            (None, _) => (1 + text[escape + 1..].chars().next().map_or(0, char::len_utf8), false),
        };
        clean.push_str(if lone { "\u{FFFD}" } else { &text[escape..escape + length] });
        at = escape + length;
    }
    clean.push_str(&text[at..]);
    clean
}

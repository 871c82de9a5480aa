//! One JSON object of an answer, borrowed from the bytes it came in.
//!
//! Fields whose form differs between servers are kept raw and read leniently: an odd field never costs the
//! words beside it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) base_resp: Option<BaseResponse>,
}

/// `MiniMax` reports failures here, in a 200.
#[derive(Deserialize)]
pub(super) struct BaseResponse {
    #[serde(default)]
    pub(super) status_code: i64,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// The whole answer at once, in a body that is no stream.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// One block of a content given as a list, or of `reasoning_details`.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
}

/// A string on its way through the decoder, borrowed unless it holds an escape.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// The string in `raw`; `None` for everything that is no string, and for the empty one.
pub(super) fn string<'a>(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
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
pub(super) fn list<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Result<Vec<T>, serde_json::Error> {
    match raw.map(RawValue::get) {
        Some(text) if text.starts_with('[') => serde_json::from_str(text),
        Some(text) if text.starts_with('{') => serde_json::from_str(text).map(|one| vec![one]),
        _ => Ok(Vec::new()),
    }
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

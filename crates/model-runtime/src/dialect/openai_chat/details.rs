//! `reasoning_details`: reasoning in a provider's own form, to be sent back as it came.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use thermidor_types::Json;

use crate::dialect::{answer::Answer, lenient::list};

type Detail = IndexMap<String, Value>;

/// Fields that come in fragments.
const GROWING: [&str; 4] = ["text", "summary", "data", "signature"];

/// The details so far. Fragments of one detail, told by type, index and id, become one again.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
}

/// What is kept of them in an answer; the encoder reads it back.
#[derive(Serialize)]
struct Kept<'a> {
    reasoning_details: &'a [Detail],
}

impl Details {
    /// Adds a list of details, or of fragments. An odd one is left out here: its text is read elsewhere.
    pub(super) fn add(&mut self, raw: &RawValue) {
        for detail in list::<Detail>(Some(raw)).unwrap_or_default() {
            match self.list.last_mut() {
                Some(last) if is_same(last, &detail) => grow(last, detail),
                _ => self.list.push(detail),
            }
        }
    }

    /// Puts them into the answer. What broke off is of no use: its signature is missing.
    pub(super) fn finish(&mut self, answer: &mut Answer) {
        let list = std::mem::take(&mut self.list);
        if list.is_empty() || answer.reason().is_none() {
            return;
        }
        match Json::of(&Kept { reasoning_details: &list }) {
            Ok(item) => answer.native(item),
            Err(_) => answer.unknown("reasoning details without a JSON form", ""),
        }
    }
}

fn is_same(one: &Detail, other: &Detail) -> bool {
    let agree = |name: &str| match (one.get(name), other.get(name)) {
        (Some(a), Some(b)) => a == b || a.is_null() || b.is_null(),
        _ => true,
    };
    let fragment = other.get("type").is_none_or(|kind| kind != "reasoning.encrypted");
    fragment && one.get("type") == other.get("type") && one.get("index") == other.get("index") && agree("id")
}

fn grow(detail: &mut Detail, fragment: Detail) {
    for (name, value) in fragment {
        match (detail.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) if GROWING.contains(&name.as_str()) => {
                text.push_str(&more);
            }
            (Some(known), value) if known.is_null() => *known = value,
            (Some(_), _) => {}
            (None, value) => {
                detail.insert(name, value);
            }
        }
    }
}

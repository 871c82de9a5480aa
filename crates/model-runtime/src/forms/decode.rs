use indexmap::IndexMap;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::repair::{Edit, EditKind, repair};

/// What the text of an answer in the form of a union says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Words.
    Answer(String),
    /// Calls: names and arguments.
    Calls(Vec<(SmolStr, String)>),
    /// A call that is cut off or has no name, or the head of one. It never runs.
    Broken,
    /// Not in this form: the words of a model that is not held to it.
    Otherwise,
}

/// Reads the whole text. It does not matter in which pieces it came.
pub(super) fn decode(text: &str) -> (Said, Vec<Edit>) {
    let Ok(repaired) = repair(text) else { return (Said::Otherwise, Vec::new()) };
    let is_call = |item: &&RawValue| members(item).is_some_and(|members| members.contains_key("tool"));
    let items: Vec<&RawValue> = match serde_json::from_str(repaired.value.as_str()) {
        Ok(items) => items,
        Err(_) => serde_json::from_str(repaired.value.as_str()).into_iter().collect(),
    };
    // Arguments that were begun and not given are broken, not absent.
    let valueless = || repaired.edits.iter().any(|edit| edit.kind == EditKind::Valueless);
    let said = if items.iter().any(is_call) {
        let calls: Option<Vec<_>> = items.iter().map(|item| call(item)).collect();
        match calls {
            Some(calls) if !repaired.was_cut() && !valueless() => Said::Calls(calls),
            Some(_) | None => Said::Broken,
        }
    } else {
        match items.as_slice() {
            [one] => answer(one, repaired.was_cut()),
            _ => None,
        }
        .unwrap_or_else(|| {
            let is_json = text.trim_start().starts_with(['{', '[']);
            if is_json && repaired.was_cut() { Said::Broken } else { Said::Otherwise }
        })
    };
    let edits = if said == Said::Otherwise { Vec::new() } else { repaired.edits };
    (said, edits)
}

fn members(item: &RawValue) -> Option<IndexMap<String, &RawValue>> {
    serde_json::from_str(item.get()).ok()
}

fn call(item: &RawValue) -> Option<(SmolStr, String)> {
    let members = members(item)?;
    let name: SmolStr = serde_json::from_str(members.get("tool")?.get()).ok()?;
    let arguments = members.get("arguments").map_or("{}", |arguments| arguments.get());
    (!name.is_empty()).then(|| (name, arguments.to_owned()))
}

/// The words of an answer; an answer that is no text is its JSON, and worth nothing when it is cut.
fn answer(item: &RawValue, cut: bool) -> Option<Said> {
    let members = members(item)?;
    let answer = members.get("answer")?;
    match serde_json::from_str(answer.get()) {
        Ok(words) => Some(Said::Answer(words)),
        Err(_) => (!cut).then(|| Said::Answer(answer.get().to_owned())),
    }
}

//! Mending the JSON that models write.

use serde_json::value::RawValue;
use thermidor_model_runtime::repair::{EditKind, Repaired, repair};

use crate::linear;

/// Bytes that a repair may add for each byte of the text, and at most in all besides: closers, quotes, commas.
const GROWTH: usize = 8;

pub(super) fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let outcome = repair(&text);
    assert_eq!(outcome, repair(&text), "one text, two repairs");
    let exact = serde_json::from_str::<&RawValue>(&text).is_ok();
    if let Ok(Repaired { value, edits }) = &outcome {
        let json = value.as_str();
        assert!(serde_json::from_str::<&RawValue>(json).is_ok(), "no JSON: {json}");
        assert!(json.len() <= text.len() * GROWTH + GROWTH, "{} bytes of {}", json.len(), text.len());
        assert!(edits.iter().all(|edit| edit.at.end <= text.len()), "an edit outside the text: {edits:?}");
        if edits.is_empty() {
            let blanks = [' ', '\t', '\n', '\r'];
            assert_eq!(json, text.trim_matches(blanks), "a change without an edit");
        }
        let again = repair(json).map(|again| again.edits);
        assert_eq!(again, Ok(Vec::new()), "a repaired value is repaired again: {json}");
    }
    if exact {
        match outcome {
            Ok(repaired) => assert!(repaired.edits.is_empty(), "JSON was changed: {:?}", repaired.edits),
            Err(error) => assert!(text.len() > 127, "JSON was refused: {error}"), // deep nesting takes its bytes
        }
    }
    cut(&text, exact);
    linear::check(input, |bytes| {
        let _ = repair(&String::from_utf8_lossy(bytes));
    });
}

/// An object that lost its end never passes for a whole one.
fn cut(text: &str, exact: bool) {
    let whole = text.trim();
    if !exact || !whole.starts_with('{') {
        return;
    }
    for end in (1..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        if let Ok(repaired) = repair(&whole[..end]) {
            let told = repaired.was_cut() || repaired.edits.iter().any(|edit| edit.kind == EditKind::Further);
            assert!(told, "{:?} passes for whole", &whole[..end]);
        }
    }
}

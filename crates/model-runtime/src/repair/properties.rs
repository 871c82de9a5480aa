use proptest::prelude::*;
use serde_json::Value;

use super::repair;

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        ".{0,6}",
        prop::sample::select(vec!["```", "// x", "\", \"a\": 1", "}", "],", "it's", "\\", "\n\t", "{'a'"])
            .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that look like JSON often enough to reach every turn.
fn soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{", "}", "[", "]", ",", ":", "\"", "'", "`", "```", "\\", "\\u", "\\ud83d", "d83d", " ", "\n", "\t",
        "a", "true", "None", "-", "1", ".", "e", "//", "/*", "*/", "#", "...", "=", "é", "“", "”", "’",
        "\u{a0}", "\u{feff}", "\"a\":", "\"b\",", "json", ";", "\u{1}", "\0",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

/// Whether `part` is what one sees of `whole` when the end is missing.
fn is_beginning(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len()
                && part.iter().zip(whole).enumerate().all(|(place, (inner, outer))| {
                    if place + 1 < part.len() { inner == outer } else { is_beginning(inner, outer) }
                })
        }
        (Value::Object(part), Value::Object(whole)) => {
            let changed = part.iter().filter(|(key, inner)| whole.get(*key) != Some(inner));
            let changed: Vec<_> = changed.collect();
            changed.len() <= 1
                && changed
                    .iter()
                    .all(|(key, inner)| whole.get(*key).is_some_and(|outer| is_beginning(inner, outer)))
        }
        (Value::Number(part), Value::Number(whole)) => {
            let (part, whole) = (part.to_string(), whole.to_string());
            whole.starts_with(part.trim_end_matches(".0").trim_end_matches("e0"))
                || part.parse::<f64>().is_ok() && whole.contains(['e', 'E', '.'])
        }
        (part, whole) => part == whole,
    }
}

fn whatever_comes_is_json_or_an_error(text: &str) -> Result<(), TestCaseError> {
    if let Ok(repaired) = repair(text) {
        let valid = serde_json::from_str::<serde::de::IgnoredAny>(repaired.value.as_str());
        prop_assert!(valid.is_ok(), "{}", repaired.value);
        let exact = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        prop_assert_eq!(repaired.edits.is_empty(), exact, "{:?} {:?}", text, repaired);
        for edit in &repaired.edits {
            prop_assert!(text.get(edit.at.clone()).is_some(), "{edit} of {text:?}");
        }
        let again = repair(repaired.value.as_str()).expect("JSON is its own repair");
        prop_assert!(again.edits.is_empty());
    }
    Ok(())
}

fn json_passes_unchanged(value: &Value) -> Result<(), TestCaseError> {
    for text in [value.to_string(), serde_json::to_string_pretty(value).expect("a value is JSON")] {
        let repaired = repair(&text).expect("JSON needs no repair");
        prop_assert_eq!(repaired.value.as_str(), &text);
        prop_assert!(repaired.edits.is_empty(), "{:?}", repaired.edits);
    }
    Ok(())
}

fn every_cut_gives_a_beginning(value: &Value) -> Result<(), TestCaseError> {
    let text = value.to_string();
    // Read back: a number may lose its last digit on the way.
    let whole: Value = serde_json::from_str(&text).expect("a value is JSON");
    for end in (1..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let cut = &text[..end];
        if serde_json::from_str::<serde::de::IgnoredAny>(cut).is_ok() {
            continue; // a number is a number at many places
        }
        match repair(cut) {
            Err(_) => prop_assert!(!value.is_object() && !value.is_array() && !value.is_string(), "{cut}"),
            Ok(repaired) => {
                prop_assert!(repaired.was_cut(), "{cut} became {} unnoticed", repaired.value);
                let part: Value = repaired.value.read().expect("readable");
                prop_assert!(is_beginning(&part, &whole), "{cut} became {part}");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn json_passes(value in value()) {
        json_passes_unchanged(&value)?;
    }

    #[test]
    fn cuts_are_noticed(value in value()) {
        every_cut_gives_a_beginning(&value)?;
    }

    #[test]
    fn soup_is_json_or_an_error(text in soup()) {
        whatever_comes_is_json_or_an_error(&text)?;
    }

    #[test]
    fn bytes_are_json_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        whatever_comes_is_json_or_an_error(&String::from_utf8_lossy(&bytes))?;
    }
}

mod long {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 50_000, ..ProptestConfig::default() })]

        #[test]
        #[ignore = "takes minutes"]
        fn json_passes(value in value()) {
            json_passes_unchanged(&value)?;
            every_cut_gives_a_beginning(&value)?;
        }

        #[test]
        #[ignore = "takes minutes"]
        fn soup_is_json_or_an_error(text in soup()) {
            whatever_comes_is_json_or_an_error(&text)?;
        }
    }
}

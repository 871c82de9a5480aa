//! A request of any shape, written in one dialect.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::Value;
use thermidor_model_runtime::{
    Dialect, Provider, Quirk, Quirks, bundled_providers,
    dialect::{Target, encode},
};
use thermidor_types::ModelCard;

use crate::{input::Input, request};

pub(super) fn check(dialect: Dialect, bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let provider = provider(dialect, &mut input);
    let card = card(&provider, &mut input);
    let request = request::any(&mut input);
    let target = Target { card: &card, provider: &provider };
    let written = encode(&request, target);
    assert_eq!(written, encode(&request, target), "one request, two texts");
    let Ok(written) = written else { return };
    let sound = written.body.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(&written.body).is_ok();
    assert!(sound, "the body is no JSON object");
    assert!(written.path.starts_with('/'), "{:?} cannot follow an address", written.path);
    // A dialect whose messages are a list with these fields refuses a history with an open call.
    // A caller's schema may hold numbers that JSON has and `f64` has not: such a body is not looked into.
    let body = serde_json::from_slice::<Value>(&written.body).unwrap_or_default();
    match (dialect, body["messages"].as_array()) {
        (Dialect::OpenaiChat, Some(messages)) => answered(messages),
        (Dialect::AnthropicMessages, Some(turns)) if request.extra.is_none() => {
            taken_in_turns(turns, &written.body);
        }
        _ => {}
    }
}

/// Every call is answered once, behind its message and before the next word of anybody.
fn answered(messages: &[Value]) {
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().expect("an answer names its call");
            let place = open.iter().position(|open| *open == id);
            open.remove(place.unwrap_or_else(|| panic!("{id} is answered and is not open")));
            continue;
        }
        assert!(open.is_empty(), "{open:?} stay unanswered");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().expect("a call has an id");
            assert!(ids.insert(id), "two calls have the id {id}");
            let arguments = call["function"]["arguments"].as_str().expect("arguments are text");
            let object = arguments.trim_start().starts_with('{');
            assert!(
                object && serde_json::from_str::<IgnoredAny>(arguments).is_ok(),
                "arguments are no object"
            );
            open.push(id);
        }
    }
    assert!(open.is_empty(), "{open:?} stay unanswered at the end");
}

/// Turns take turns, none is empty, every call is answered once at the head of the next turn, no words are blank,
/// and there are no more marks of the cache than the API takes.
fn taken_in_turns(turns: &[Value], body: &[u8]) {
    let mut open: Vec<&str> = Vec::new();
    let mut last = "";
    for turn in turns {
        let role = turn["role"].as_str().expect("a role");
        assert_ne!(role, last, "two turns of one role");
        last = role;
        let blocks = turn["content"].as_array().expect("blocks");
        assert!(!blocks.is_empty(), "an empty turn");
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result");
        let answered: Vec<&str> = results.filter_map(|block| block["tool_use_id"].as_str()).collect();
        assert_eq!(answered, open, "calls are answered in order, and nothing else is");
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        open = calls.filter_map(|block| block["id"].as_str()).collect();
        let later = blocks.iter().skip(answered.len());
        assert!(later.clone().all(|block| block["type"] != "tool_result"), "a result behind other words");
        let mut words = later.filter(|block| block["type"] == "text");
        assert!(
            words.all(|block| block["text"].as_str().is_some_and(|text| !text.trim().is_empty())),
            "blank"
        );
    }
    assert!(open.is_empty(), "{open:?} stay unanswered at the end");
    let marks = String::from_utf8_lossy(body).matches(r#""cache_control":{"type":"ephemeral""#).count();
    assert!(marks <= 4, "{marks} marks");
}

/// A provider of the dialect with any quirks that any bundled one has.
fn provider(dialect: Dialect, input: &mut Input<'_>) -> Provider {
    let mut known: Vec<Quirk> = Vec::new();
    for quirk in bundled_providers().iter().flat_map(|provider| provider.quirks.iter()) {
        if !known.contains(&quirk) {
            known.push(quirk);
        }
    }
    known.retain(|_| input.one_in(4));
    Provider { dialect, quirks: Quirks::of(known), ..Provider::new("fuzz", "http://localhost/v1") }
}

fn card(provider: &Provider, input: &mut Input<'_>) -> ModelCard {
    let mut card = provider.unknown_card("m");
    let abilities = &mut card.abilities;
    for ability in [
        &mut abilities.tools,
        &mut abilities.vision,
        &mut abilities.audio,
        &mut abilities.files,
        &mut abilities.reasoning,
        &mut abilities.structured_output,
    ] {
        *ability = input.one_in(2);
    }
    card
}

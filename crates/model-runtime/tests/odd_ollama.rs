//! Answers in Ollama's own format that are seldom, broken, or documented and not recorded.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "the form in which expectations are written by the tool"
)]

#[path = "support/heard.rs"]
mod heard;
#[path = "support/lines.rs"]
mod lines;

use expect_test::{Expect, expect};
use heard::hear;
use lines::lines;
use thermidor_model_runtime::{Dialect, Quirk, Quirks};
use thermidor_types::ModelId;

/// Whole, and cut at several sizes: the same lines.
fn check(bytes: &str, expected: Expect) {
    let (model, quirks) = (ModelId::new("ollama", "m"), Quirks::of([Quirk::ThinkTags]));
    let hear = |size: usize| hear(Dialect::OllamaChat, &model, &quirks, bytes.as_bytes().chunks(size));
    let whole = hear(bytes.len().max(1));
    for size in [1, 2, 3, 5, 7, 64] {
        assert_eq!(hear(size), whole, "cut at {size}");
    }
    expected.assert_eq(&lines(&whole.end));
}

fn said(message: &str) -> String {
    format!(
        r#"{{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{{"role":"assistant",{message}}},"done":false}}"#
    )
}

const DONE: &str = r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}"#;

#[test]
fn thoughts_then_words() {
    check(
        &[
            said(r#""content":"","thinking":"Hm""#),
            said(r#""content":"","thinking":"m.""#),
            said(r#""content":"It is 7.""#),
            DONE.to_owned(),
        ]
        .join("\n"),
        expect![[r#"
            thought "Hmm."
            text "It is 7."
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn thoughts_in_tags() {
    check(
        &[said(r#""content":"<think>Hm</th""#), said(r#""content":"ink>\n\n7""#), DONE.to_owned()]
            .join("\r\n"),
        expect![[r#"
            thought "Hm"
            text "7"
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn calls_with_one_index_and_without_ids() {
    check(
        &[
            said(r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{"x":1.10}}},{"function":{"name":"f","arguments":{"x":1.10}}}]"#),
            said(r#""content":"","tool_calls":[{"id":"c","function":{"index":0,"name":"g","arguments":{}}}]"#),
            DONE.to_owned(),
        ]
        .join("\n"),
        expect![[r#"
            call f {"x":1.10}
            call f {"x":1.10}
            call g {} id c
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn arguments_as_text_and_a_call_without_any() {
    check(
        &[
            said(r#""tool_calls":{"function":{"name":"f","arguments":"{\"x\":1}"}}"#),
            said(r#""tool_calls":[{"function":{"name":"g"}}]"#),
            DONE.to_owned(),
        ]
        .join("\n"),
        expect![[r#"
            call f {"x":1}
            call g {}
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn a_call_without_a_name() {
    check(
        &[
            said(r#""tool_calls":[{"function":{"arguments":{}}}, 7]"#),
            said(r#""tool_calls":[{"function":{"arguments":{}}}]"#),
            DONE.to_owned(),
        ]
        .join("\n"),
        expect![[r#"
            finished; stop; 3(0) in 4(0) out
            ? a tool call x1: "7"
            ? a call without a name x2: ""
        "#]],
    );
}

#[test]
fn the_length_is_reached() {
    check(
        &[said(r#""content":"Well""#), DONE.replace("\"stop\"", "\"length\"")].join("\n"),
        expect![[r#"
        text "Well"
        length; length; 3(0) in 4(0) out
    "#]],
    );
}

#[test]
fn a_last_line_without_a_reason() {
    check(
        &[said(r#""content":"Hi""#), r#"{"done":true}"#.to_owned()].join("\n"),
        expect![[r#"
        text "Hi"
        finished; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_model_that_was_only_loaded() {
    check(
        &DONE.replace("\"stop\"", "\"load\""),
        expect![[r#"
        finished; load; 3(0) in 4(0) out
    "#]],
    );
}

#[test]
fn a_failure_before_all() {
    check(
        r#"{"error":"no space left on device"}"#,
        expect![[r#"
        failed: server error: no space left on device; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_failure_in_the_middle() {
    check(
        &[
            said(r#""content":"Well""#),
            r#"{"error":"llama runner process has terminated: exit status 2"}"#.to_owned(),
            said(r#""content":"late""#),
        ]
        .join("\n"),
        expect![[r#"
            text "Well"
            failed: server error: llama runner process has terminated: exit status 2; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn a_stream_that_breaks_off() {
    check(
        &[said(r#""content":"Well""#), said(r#""content":" then""#)[..60].to_owned()].join("\n"),
        expect![[r#"
            text "Well"
            cut off: network error: the stream closed before the answer was complete; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn one_document_over_several_lines() {
    check(
        "{\n  \"model\": \"m\",\n  \"message\": {\n    \"role\": \"assistant\",\n    \"content\": \"Hi\"\n  },\n  \"done\": true,\n  \"done_reason\": \"stop\",\n  \"prompt_eval_count\": 1,\n  \"eval_count\": 2\n}\n",
        expect![[r#"
            text "Hi"
            finished; stop; 1(0) in 2(0) out
        "#]],
    );
}

#[test]
fn lines_nobody_knows() {
    check(
        &[
            r#"{"status":"pulling manifest"}"#.to_owned(),
            said(r#""content":"Hi","images":["aGk="]"#),
            r#"{"message":7,"done":false}"#.to_owned(),
            DONE.to_owned(),
        ]
        .join("\n"),
        expect![[r#"
            text "Hi"
            finished; stop; 3(0) in 4(0) out
            ? a line without a message x1: "{\"status\":\"pulling manifest\"}"
            ? an image of unknown type x1: "[\"aGk=\"]"
            ? a line of another kind x1: "{\"message\":7,\"done\":false}"
        "#]],
    );
}

#[test]
fn nothing_where_something_is_usual() {
    check(
        &[
            said(r#""content":null,"thinking":null,"tool_calls":null,"images":null"#),
            r#"{"message":null,"done":false}"#.to_owned(),
            said(r#""content":"Hi""#),
            DONE.replace("\"eval_count\":4", "\"eval_count\":null"),
        ]
        .join("\n\n"),
        expect![[r#"
            text "Hi"
            finished; stop; 3(0) in 0(0) out
        "#]],
    );
}

#[test]
fn halves_of_characters() {
    check(
        &[said(r#""content":"a\ud83e b""#), said(r#""content":"\ud83e\udd80 🦀""#), DONE.to_owned()]
            .join("\n"),
        expect![[r#"
            text "a� b🦀 🦀"
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn what_follows_the_end_is_not_read() {
    check(
        &[said(r#""content":"Hi""#), DONE.to_owned(), said(r#""content":" again""#)].join("\n"),
        expect![[r#"
            text "Hi"
            finished; stop; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn a_proxy_that_frames_the_lines_as_events() {
    check(
        &format!("data: {}\n\ndata: {DONE}\n\n", said(r#""content":"Hi""#)),
        expect![[r#"
        text "Hi"
        finished; stop; 3(0) in 4(0) out
    "#]],
    );
}

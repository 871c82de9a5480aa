//! Answers in Anthropic's format that are seldom, broken, or documented and not recorded.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "the form in which expectations are written by the tool"
)]

#[path = "odd_anthropic/blocks.rs"]
mod blocks;
#[path = "support/heard.rs"]
mod heard;
#[path = "support/lines.rs"]
mod lines;

use expect_test::{Expect, expect};
use heard::{Heard, hear};
use lines::lines;
use thermidor_model_runtime::{Dialect, Quirk, Quirks};
use thermidor_types::ModelId;

fn read(bytes: &str, quirks: &Quirks) -> Heard {
    let model = ModelId::new("anthropic", "claude");
    let hear = |size: usize| hear(Dialect::AnthropicMessages, &model, quirks, bytes.as_bytes().chunks(size));
    let whole = hear(bytes.len().max(1));
    for size in [1, 2, 3, 5, 7, 64] {
        assert_eq!(hear(size), whole, "cut at {size}");
    }
    whole
}

/// Whole, and cut at several sizes: the same lines.
#[expect(clippy::needless_pass_by_value, reason = "so that a row reads as one call")]
fn check(bytes: &str, expected: Expect) {
    expected.assert_eq(&lines(&read(bytes, &Quirks::default()).end));
}

/// A stream of these events, each under the name of its type.
fn stream(events: &[&str]) -> String {
    let mut all = String::new();
    for event in events {
        let kind = event.split("\"type\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("odd");
        all += "event: ";
        all += kind;
        all += "\ndata: ";
        all += event;
        all += "\n\n";
    }
    all
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}"#;
const TOOLS: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#;
const END: &str = r#"{"type":"message_stop"}"#;

fn start(index: usize, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn delta(index: usize, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn stop(index: usize) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

/// A block of words, whole.
fn words(index: usize, text: &str) -> [String; 3] {
    [
        start(index, r#"{"type":"text","text":""}"#),
        delta(index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#)),
        stop(index),
    ]
}

/// A stream with these events between its start and its end.
fn framed(events: impl IntoIterator<Item = String>, last: &str) -> String {
    let events: Vec<String> = events.into_iter().collect();
    let inner = events.iter().map(String::as_str);
    stream(&std::iter::once(START).chain(inner).chain([last, END]).collect::<Vec<_>>())
}

#[test]
fn an_error_after_words_fails_the_answer() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let [first, second, _] = words(0, "Partial");
    check(
        &stream(&[START, &first, &second, error]),
        expect![[r#"
        text "Partial"
        failed: overloaded: Overloaded; -; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn an_error_as_the_first_event_leaves_no_message() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    check(
        &stream(&[error]),
        expect![[r#"
        failed: overloaded: Overloaded; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn an_error_without_the_name_of_its_event() {
    check(
        "data: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slow down\"}}\n\n",
        expect![[r#"
            failed: rate limited: Slow down; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn an_error_as_a_document() {
    check(
        r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
        expect![[r#"
            failed: server error: Internal server error; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn an_error_of_another_form() {
    check(
        "data: {\"error\":{\"message\":\"model is loading\",\"code\":503}}\n\n",
        expect![[r#"
        failed: overloaded: model is loading; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_whole_message_instead_of_a_stream() {
    check(
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"t1","name":"f","input":{"a": 1.10}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":2}}"#,
        expect![[r#"
            thought "Hm" signed s
            text "Hi"
            call f {"a": 1.10} id t1
            finished; tool_use; 7(4) in 2(0) out
        "#]],
    );
}

#[test]
fn a_whole_message_that_breaks_off() {
    check(
        r#"{"id":"msg_1","type":"message","content":[{"type":"text","text":"Hi"}"#,
        expect![[r#"
        cut off: network error: the stream closed before the answer was complete; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_stream_that_closes_before_the_reason() {
    let [first, second, _] = words(0, "Hello");
    check(
        &stream(&[START, &first, &second]),
        expect![[r#"
        text "Hello"
        cut off: network error: the stream closed before the answer was complete; -; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn a_stream_that_closes_after_the_reason() {
    let [first, second, third] = words(0, "Hello");
    check(
        &stream(&[START, &first, &second, &third, STOP]),
        expect![[r#"
        text "Hello"
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn figures_are_replaced_and_never_added() {
    let begin = r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":12,"ephemeral_1h_input_tokens":8},"output_tokens":4}}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":30,"output_tokens_details":{"thinking_tokens":11}}}"#;
    let [first, second, third] = words(0, "Hi");
    let bytes = stream(&[begin, &first, &second, &third, end, END]);
    check(
        &bytes,
        expect![[r#"
        text "Hi"
        finished; end_turn; 127(100) in 30(11) out
    "#]],
    );
    let usage = read(&bytes, &Quirks::default()).end.message.usage;
    assert_eq!((usage.cache_write.0, usage.cache_write_hour.0), (20, 8));
}

#[test]
fn figures_that_come_at_the_end_alone() {
    let begin =
        r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":0,"output_tokens":0}}}"#;
    let middle = r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":3}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":12,"output_tokens":6}}"#;
    let [first, second, third] = words(0, "Hi");
    check(
        &stream(&[begin, &first, &second, middle, &third, end, END]),
        expect![[r#"
        text "Hi"
        finished; end_turn; 12(0) in 6(0) out
    "#]],
    );
}

#[test]
fn a_refusal() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal"}},"usage":{"output_tokens":1}}"#;
    check(
        &framed(words(0, "I "), last),
        expect![[r#"
        text "I "
        failed: refused by content rules: the provider's content rules stopped the answer; refusal; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn a_pause() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":1}}"#;
    check(
        &framed(
            [
                start(
                    0,
                    r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"sky"}}"#,
                ),
                stop(0),
            ],
            last,
        ),
        expect![[r#"
            native {"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"sky"}}
            finished; pause_turn; 5(0) in 1(0) out
        "#]],
    );
}

#[test]
fn a_full_window() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":1}}"#;
    check(
        &framed(words(0, "Hi"), last),
        expect![[r#"
        text "Hi"
        length; model_context_window_exceeded; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn a_reason_nobody_knows() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"bored"},"usage":{"output_tokens":1}}"#;
    check(
        &framed(words(0, "Hi"), last),
        expect![[r#"
        text "Hi"
        finished; bored; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn what_nobody_knows_is_counted() {
    let events = [
        r#"{"type":"weather","sun":true}"#.to_owned(),
        start(0, r#"{"type":"hologram","light":1}"#),
        delta(0, r#"{"type":"light_delta","light":2}"#),
        stop(0),
        delta(1, r#"{"type":"gravity_delta"}"#),
        "[1]".to_owned(),
        r#"{"no":"type"}"#.to_owned(),
    ];
    let mut all: Vec<String> = events.into();
    all.extend(words(1, "Hi"));
    check(
        &framed(all, STOP),
        expect![[r#"
        text "Hi"
        finished; end_turn; 5(0) in 9(0) out
        ? an event of type weather x1: "{\"type\":\"weather\",\"sun\":true}"
        ? a content block of type hologram x1: "{\"type\":\"hologram\",\"light\":1}"
        ? a delta of type gravity_delta x1: "{\"type\":\"gravity_delta\"}"
        ? an event of type odd x2: "[1]"
    "#]],
    );
}

#[test]
fn deltas_without_a_start_count() {
    check(
        &framed(
            [
                delta(0, r#"{"type":"thinking_delta","thinking":"Hm"}"#),
                delta(0, r#"{"type":"signature_delta","signature":"s"}"#),
                stop(0),
                delta(1, r#"{"type":"text_delta","text":"Hi"}"#),
                delta(2, r#"{"type":"input_json_delta","partial_json":"{}"}"#),
            ],
            STOP,
        ),
        expect![[r#"
            thought "Hm" signed s
            text "Hi"
            finished; end_turn; 5(0) in 9(0) out
            ? a delta of type input_json_delta x1: "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}"
        "#]],
    );
}

#[test]
fn keep_alives_and_events_without_names() {
    let [first, second, third] = words(0, "Hi");
    let events = [START, r#"{"type": "ping"}"#, &first, &second, r#"{"type": "ping"}"#, &third, STOP, END];
    let framed = events.map(|event| format!(": still here\r\ndata: {event}\r\n\r\n"));
    let bytes = framed.concat();
    check(
        &bytes,
        expect![[r#"
        text "Hi"
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn what_follows_the_end_is_no_news() {
    let mut bytes = framed(words(0, "Hi"), STOP);
    bytes += &stream(&[&delta(0, r#"{"type":"text_delta","text":" again"}"#)]);
    bytes += "data: [DONE]\n\n";
    check(
        &bytes,
        expect![[r#"
        text "Hi"
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn types_that_only_the_frame_names() {
    check(
        "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {}\n\n",
        expect![[r#"
            text "Hi"
            finished; end_turn; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn blocks_inside_the_start() {
    let begin = r#"{"type":"message_start","message":{"content":[{"type":"text","text":"Hel"}],"usage":{"input_tokens":5}}}"#;
    let [first, second, third] = words(1, "lo");
    check(
        &stream(&[begin, &first, &second, &third, STOP, END]),
        expect![[r#"
        text "Hello"
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn a_web_page() {
    check(
        "<html><body>Bad gateway</body></html>",
        expect![[r#"
        failed: malformed answer: a web page came instead of an answer; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn an_event_that_is_no_json() {
    let [first, second, _] = words(0, "Hi");
    check(
        &stream(&[START, &first, &second, "{\"type\":\"content_block"]),
        expect![[r#"
        text "Hi"
        failed: malformed answer: an event of the stream is no JSON; -; 5(0) in 1(0) out
    "#]],
    );
}

#[test]
fn halves_of_characters_and_odd_fields() {
    check(
        &framed(
            [
                start(0, r#"{"type":"text","text":null}"#),
                delta(0, r#"{"type":"text_delta","text":"\ud83d\ude00 \ud83d"}"#),
                delta(0, r#"{"type":"text_delta","text":7}"#),
                stop(0),
            ],
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3.0,"cache_read_input_tokens":null}}"#,
        ),
        expect![[r#"
            text "😀 �"
            finished; end_turn; 5(0) in 3(0) out
        "#]],
    );
}

#[test]
fn thoughts_between_tags() {
    let heard = read(&framed(words(0, "<think>Hm</think>Hi"), STOP), &Quirks::of([Quirk::ThinkTags]));
    expect![[r#"
        thought "Hm"
        text "Hi"
        finished; end_turn; 5(0) in 9(0) out
    "#]]
    .assert_eq(&lines(&heard.end));
}

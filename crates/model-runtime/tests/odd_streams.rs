//! Streams that other programs stumbled over, and what is to be heard of them.

use expect_test::{Expect, expect};
use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirk, Quirks, StreamEnding,
    dialect::{Close, Decoder},
};
use thermidor_types::{ModelId, Part};

/// One line per part, then the ending.
fn heard(stream: &str, quirks: &[Quirk]) -> String {
    let decode = |size: usize| {
        let mut decoder = Decoder::new(
            Dialect::OpenaiChat,
            ModelId::new("test", "m"),
            "p",
            &Quirks::of(quirks.iter().copied()),
        );
        stream.as_bytes().chunks(size.max(1)).for_each(|chunk| decoder.feed(chunk));
        let events = decoder.finish(Close::EndOfStream);
        let Some(ChatEvent::Ended(end)) = events.last() else { panic!("no end") };
        let part = |part: &Part| match part {
            Part::Text(text) => format!("text {text:?}\n"),
            Part::Reasoning(reasoning) => format!("reasoning {:?}\n", reasoning.text),
            Part::Exchange(exchange) => {
                let call = &exchange.call;
                let wire_id = call.wire_id.as_deref().unwrap_or("-");
                format!("call {} {} {} ({wire_id})\n", call.id, call.name, call.arguments)
            }
            Part::Media(_) => "media\n".to_owned(),
            Part::Native(_) => "native\n".to_owned(),
        };
        let mut lines: Vec<String> = end.message.parts.iter().map(part).collect();
        lines.push(match &end.ending {
            StreamEnding::Finished | StreamEnding::Length => format!("{:?}", end.ending),
            StreamEnding::CutOff(failure) => format!("CutOff {failure}"),
            StreamEnding::Failed(failure) => format!("Failed {failure}"),
        });
        lines.extend(decoder.finish_reason().map(|reason| format!(" ({reason})")));
        let unknown: u64 = decoder.unknown_shapes().iter().map(|shape| shape.count).sum();
        lines.extend((unknown > 0).then(|| format!(", {unknown} unknown")));
        lines.concat() + "\n"
    };
    let whole = decode(stream.len());
    assert_eq!(decode(1), whole, "cut at 1");
    whole
}

/// `events` are the data of one event each.
fn check(events: &[&str], expected: Expect) {
    let stream = events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
    expected.assert_eq(&heard(&stream, &[]));
}

fn words(text: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#)
}

fn calls(calls: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}},"finish_reason":null}}]}}"#)
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;

/// Which endings are complete and which are cut off.
#[test]
fn endings() {
    let hello = words("Hello");
    check(
        &[&hello],
        expect![[r#"
        text "Hello"
        CutOff network error: the stream closed before the answer was complete
    "#]],
    );
    check(
        &[&hello, "[DONE]"],
        expect![[r#"
        text "Hello"
        Finished
    "#]],
    );
    check(
        &[&hello, STOP],
        expect![[r#"
        text "Hello"
        Finished (stop)
    "#]],
    );
    check(
        &[&hello, USAGE, "[DONE]"],
        expect![[r#"
        text "Hello"
        Finished
    "#]],
    );
    check(
        &[],
        expect![[r"
        CutOff network error: the stream closed before the answer was complete
    "]],
    );
}

/// After `[DONE]` nothing is waited for.
#[test]
fn done_is_the_end_while_the_socket_stays_open() {
    let mut decoder = Decoder::new(Dialect::OpenaiChat, ModelId::new("test", "m"), "p", &Quirks::default());
    decoder.feed(format!("data: {STOP}\n\ndata: [DO").as_bytes());
    assert!(!decoder.is_complete());
    decoder.feed(b"NE]\n\n");
    assert!(decoder.is_complete());
}

/// A failure inside a 200 is one, before and after words.
#[test]
fn failures_inside_a_stream() {
    let error = r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#;
    check(
        &[error],
        expect![[r"
        Failed overloaded: Overloaded
    "]],
    );
    check(
        &[&words("Partial"), error, STOP, "[DONE]"],
        expect![[r#"
        text "Partial"
        Failed overloaded: Overloaded
    "#]],
    );
    check(
        &[r#"{"error":"model went away"}"#],
        expect![[r"
        Failed server error: model went away
    "]],
    );
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"up"}}"#,
        ],
        expect![[r"
            Failed server error: up
        "]],
    );
    check(
        &[r#"{"base_resp":{"status_code":1002,"status_msg":"slow"},"choices":null}"#],
        expect![[r"
        Failed rate limited: slow
    "]],
    );
    expect![[r"
        Failed overloaded: Overloaded
    "]]
    .assert_eq(&heard(
        "event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}\n\n",
        &[],
    ));
    expect![[r"
        Failed quota used up: pay
    "]]
    .assert_eq(&heard(r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#, &[]));
    expect![[r"
        Failed malformed answer: a web page came instead of an answer
    "]]
    .assert_eq(&heard("\n<html>login</html>", &[]));
    check(
        &[&words("a"), "{broken", STOP],
        expect![[r#"
        text "a"
        Failed malformed answer: an event of the stream is no JSON
    "#]],
    );
}

/// Empty finish reasons, unknown ones, streamed and whole, and what providers say.
#[test]
fn finish_reasons() {
    let ends = |reason: &str| {
        format!(r#"{{"choices":[{{"delta":{{"content":"Done"}},"finish_reason":"{reason}"}}]}}"#)
    };
    check(
        &[&ends(""), &words(" there"), &ends(""), STOP, "[DONE]"],
        expect![[r#"
        text "Done thereDone"
        Finished (stop)
    "#]],
    );
    check(
        &[&ends("")],
        expect![[r#"
        text "Done"
        CutOff network error: the stream closed before the answer was complete
    "#]],
    );
    check(
        &[&ends("eos_token")],
        expect![[r#"
        text "Done"
        Finished (eos_token)
    "#]],
    );
    check(
        &[&ends("length")],
        expect![[r#"
        text "Done"
        Length (length)
    "#]],
    );
    check(
        &[&ends("content_filter")],
        expect![[r#"
        text "Done"
        Failed refused by content rules: the provider's content rules stopped the answer (content_filter)
    "#]],
    );
    check(
        &[&ends("insufficient_system_resource")],
        expect![[r#"
        text "Done"
        Failed overloaded: the provider ran out of resources in the middle of the answer (insufficient_system_resource)
    "#]],
    );
    let whole = r#"{"choices":[{"index":0,"message":{"content":"Done"},"finish_reason":"eos_token"}],"usage":{"prompt_tokens":1}}"#;
    expect![[r#"
        text "Done"
        Finished (eos_token)
    "#]]
    .assert_eq(&heard(whole, &[]));
    expect![[r"
        CutOff network error: the stream closed before the answer was complete
    "]]
    .assert_eq(&heard(&whole[..60], &[]));
}

/// Absent arguments are none; anything broken stays as it came.
#[test]
fn arguments_of_every_form() {
    for arguments in [r#","arguments":"""#, r#","arguments":"  ""#, r#","arguments":null"#, ""] {
        let call = calls(&format!(r#"{{"index":0,"id":"c","function":{{"name":"get_time"{arguments}}}}}"#));
        check(
            &[&call, STOP],
            expect![[r"
            call p.0 get_time {} (c)
            Finished (stop)
        "]],
        );
    }
    check(
        &[&calls(r#"{"index":0,"function":{"name":"f","arguments":{"b": 1.10,"a":2}}}"#), STOP],
        expect![[r#"
        call p.0 f {"b": 1.10,"a":2} (-)
        Finished (stop)
    "#]],
    );
    check(
        &[&calls(r#"{"index":0,"function":{"name":"f","arguments":"{\"a\":"}}"#), STOP],
        expect![[r#"
        call p.0 f {"a": (-)
        Finished (stop)
    "#]],
    );
}

/// What servers leave out or repeat in calls costs none and doubles none.
#[test]
fn calls_are_told_apart() {
    // Later deltas send an empty name and id.
    check(
        &[
            &calls(r#"{"index":0,"id":"call_1","function":{"name":"make_outline","arguments":""}}"#),
            &calls(r#"{"index":0,"id":"","function":{"name":"","parameters":null,"arguments":"{\"a\":1}"}}"#),
            STOP,
        ],
        expect![[r#"
            call p.0 make_outline {"a":1} (call_1)
            Finished (stop)
        "#]],
    );
    // Index 0 for every call.
    check(
        &[
            &calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
            &calls(r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}"#),
            STOP,
        ],
        expect![[r#"
            call p.0 f {} (a)
            call p.1 f {"x":2} (b)
            Finished (stop)
        "#]],
    );
    // No index, or -1: by id, then the last open one.
    check(
        &[
            &calls(r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#),
            &calls(r#"{"index":-1,"id":"b","function":{"name":"g","arguments":"["}}"#),
            &calls(r#"{"id":"a","function":{"arguments":"}"}}"#),
            &calls(r#"{"function":{"arguments":"!"}}"#),
            STOP,
        ],
        expect![[r"
            call p.0 f {} (a)
            call p.1 g [! (b)
            Finished (stop)
        "]],
    );
    // Whole calls in one list, without index.
    check(
        &[
            &calls(
                r#"{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}"#,
            ),
            STOP,
        ],
        expect![[r"
            call p.0 f {} (-)
            call p.1 f {} (-)
            Finished (stop)
        "]],
    );
    // The name comes late; a call that never gets one is none.
    check(
        &[
            &calls(r#"{"index":1,"function":{"arguments":"{\"a\""}}"#),
            &calls(r#"{"index":0,"function":{"arguments":"lost"}}"#),
            &calls(r#"{"index":1,"function":{"name":"f","arguments":":1}"}}"#),
            STOP,
        ],
        expect![[r#"
            call p.0 f {"a":1} (-)
            Finished (stop), 1 unknown
        "#]],
    );
    // Two calls of a whole answer share one id.
    let whole = r#"{"choices":[{"message":{"tool_calls":[
        {"id":"call_same","type":"function","function":{"name":"think","arguments":"{\"thought\":\"t\"}"}},
        {"id":"call_same","type":"function","function":{"name":"get_context","arguments":"{\"key\":\"k\"}"}}]},
        "finish_reason":"tool_calls"}]}"#;
    expect![[r#"
        call p.0 think {"thought":"t"} (call_same)
        call p.1 get_context {"key":"k"} (call_same)
        Finished (tool_calls)
    "#]]
    .assert_eq(&heard(whole, &[]));
    // One call as an object, and the legacy form.
    check(
        &[r#"{"choices":[{"delta":{"tool_calls":{"function":{"name":"f","arguments":"{}"}}}}]}"#, STOP],
        expect![[r"
            call p.0 f {} (-)
            Finished (stop)
        "]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{"}}}]}"#,
            r#"{"choices":[{"delta":{"function_call":{"arguments":"}"}},"finish_reason":"function_call"}]}"#,
        ],
        expect![[r"
            call p.0 f {} (-)
            Finished (function_call)
        "]],
    );
}

#[test]
fn words_and_thoughts_of_every_form() {
    check(
        &[
            r#"{"choices":[{"delta":{"content":"both","reasoning_content":"at once","reasoning":"at once"}}]}"#,
            STOP,
        ],
        expect![[r#"
            reasoning "at once"
            text "both"
            Finished (stop)
        "#]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"so"}]}}]}"#,
            STOP,
        ],
        expect![[r#"
            reasoning "hm"
            text "so"
            Finished (stop)
        "#]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"text":"b"}]}}]}"#,
            STOP,
        ],
        expect![[r#"
            reasoning "ab"
            Finished (stop)
        "#]],
    );
    // Half an emoji, as some servers cut it; the message once more at the end; a second choice; a strange event.
    check(
        &[r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#, STOP],
        expect![[r#"
        text "a�"
        Finished (stop)
    "#]],
    );
    check(
        &[&words("once"), r#"{"choices":[{"message":{"content":"once"},"finish_reason":"stop"}]}"#],
        expect![[r#"
            text "once"
            Finished (stop)
        "#]],
    );
    check(
        &[r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#, r#"{"ping":1}"#, "3", STOP],
        expect![[r"
            Finished (stop), 3 unknown
        "]],
    );
    // Documents on neighbouring lines of one event.
    let lines = format!("data: {}\ndata: {STOP}\ndata: [DONE]\n\n", words("x"));
    expect![[r#"
        text "x"
        Finished (stop)
    "#]]
    .assert_eq(&heard(&lines, &[]));
}

/// The quirks that concern reading.
#[test]
fn quirks_of_answers() {
    let stream =
        format!("data: {}\n\ndata: {}\n\ndata: {STOP}\n\n", words("<think>hm</th"), words("ink>\\nso"));
    expect![[r#"
        reasoning "hm"
        text "so"
        Finished (stop)
    "#]]
    .assert_eq(&heard(&stream, &[Quirk::ThinkTags]));
    expect![[r#"
        text "<think>hm</think>\nso"
        Finished (stop)
    "#]]
    .assert_eq(&heard(&stream, &[]));

    let cost = |quirks: &[Quirk], fields: &str| {
        let quirks = Quirks::of(quirks.iter().copied());
        let mut decoder = Decoder::new(Dialect::OpenaiChat, ModelId::new("test", "m"), "p", &quirks);
        decoder.feed(format!("data: {{\"choices\":[],{fields}}}\n\n").as_bytes());
        // Figures that come later without a bill leave it as it was.
        decoder.feed(b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9}}\n\n");
        match decoder.finish(Close::EndOfStream).pop() {
            Some(ChatEvent::Ended(end)) => end.message.usage.cost.map(|cost| cost.to_string()),
            other => panic!("{other:?}"),
        }
    };
    let inside = r#""usage":{"prompt_tokens":9,"cost":0.00099,"cost_in_usd_ticks":6881000}"#;
    let (total, beside) =
        (r#""usage":{"cost":{"total_cost":0.00504}}"#, r#""cost":{"diem":0,"usd":2.55e-6}"#);
    assert_eq!(cost(&[Quirk::BilledCost], inside).as_deref(), Some("0.00099 USD"));
    assert_eq!(cost(&[Quirk::BilledTicks], inside).as_deref(), Some("0.000689 USD"));
    assert_eq!(cost(&[Quirk::BilledTotal], total).as_deref(), Some("0.00504 USD"));
    assert_eq!(cost(&[Quirk::BilledBeside], beside).as_deref(), Some("0.000003 USD"));
    for fields in [inside, total, beside] {
        assert_eq!(cost(&[], fields), None, "nobody said what that field means");
    }
}

/// Reasoning counted beside the completion is told by the total; the last usage counts.
#[test]
fn usage_figures() {
    let usage = |text: &str| {
        let mut decoder =
            Decoder::new(Dialect::OpenaiChat, ModelId::new("test", "m"), "p", &Quirks::default());
        decoder.feed(format!("data: {USAGE}\n\ndata: {{\"choices\":[],\"usage\":{text}}}\n\n").as_bytes());
        match decoder.finish(Close::EndOfStream).pop() {
            Some(ChatEvent::Ended(end)) => end.message.usage,
            other => panic!("{other:?}"),
        }
    };
    let inside = usage(
        r#"{"prompt_tokens":10,"completion_tokens":8,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":5}}"#,
    );
    assert_eq!((inside.output.0, inside.reasoning.0), (8, 5));
    let beside = usage(
        r#"{"prompt_tokens":10,"completion_tokens":8,"total_tokens":23,"completion_tokens_details":{"reasoning_tokens":5}}"#,
    );
    assert_eq!((beside.output.0, beside.reasoning.0), (13, 5));
    let cached = usage(
        r#"{"prompt_tokens":10.0,"completion_tokens":1,"prompt_cache_hit_tokens":7,"prompt_tokens_details":null}"#,
    );
    assert_eq!((cached.input.0, cached.cached_input.0), (10, 7));
    assert_eq!(usage("null").output.0, 1);
}

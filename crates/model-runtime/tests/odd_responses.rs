//! Answers in the format of `POST /responses` that are out of the ordinary, and what is to be heard of them.

use expect_test::{Expect, expect};
use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirks, StreamEnding,
    dialect::{Close, Decoder},
};
use thermidor_types::{MediaSource, ModelId, Part};

/// One line per part and per citation, then the ending.
fn heard(stream: &str) -> String {
    let decode = |size: usize| {
        let model = ModelId::new("test", "m");
        let mut decoder = Decoder::new(Dialect::OpenaiResponses, model, "p", &Quirks::default());
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
            Part::Media(media) => match &media.source {
                MediaSource::Base64(data) => format!("media {} {data}\n", media.media_type),
                MediaSource::Url(_) | MediaSource::Blob { .. } => panic!("images come inside the answer"),
            },
            Part::Native(native) => format!("native {}\n", native.item),
        };
        let mut lines: Vec<String> = end.message.parts.iter().map(part).collect();
        for citation in &end.message.citations {
            let span = citation
                .span
                .clone()
                .map(|span| &end.message.parts.iter().find_map(text).expect("text")[span]);
            let (url, title) = (citation.url.as_deref(), citation.title.as_deref());
            lines.push(format!("citation {url:?} {title:?} {span:?}\n"));
        }
        lines.push(match &end.ending {
            StreamEnding::Finished | StreamEnding::Length => format!("{:?}", end.ending),
            StreamEnding::CutOff(failure) => format!("CutOff {failure}"),
            StreamEnding::Failed(failure) => format!("Failed {failure}"),
        });
        lines.extend(decoder.finish_reason().map(|reason| format!(" ({reason})")));
        lines.extend(end.unknown.iter().map(|shape| format!(", {} of {}", shape.count, shape.what)));
        lines.concat() + "\n"
    };
    let whole = decode(stream.len());
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(decode(size), whole, "cut at {size}");
    }
    whole
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    }
}

/// `events` are a type, without what all types begin with, and the fields of one event each.
fn stream(events: &[(&str, &str)]) -> String {
    let event = |(kind, fields): &(&str, &str)| {
        let comma = if fields.is_empty() { "" } else { "," };
        format!("event: response.{kind}\ndata: {{\"type\":\"response.{kind}\"{comma}{fields}}}\n\n")
    };
    events.iter().map(event).collect::<Vec<_>>().concat()
}

fn check(events: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&heard(&stream(events)));
}

/// All of `ways` say the same.
fn check_alike(ways: &[&[(&str, &str)]], expected: Expect) {
    let first = heard(&stream(ways[0]));
    for way in ways {
        assert_eq!(heard(&stream(way)), first, "{way:?}");
    }
    expected.assert_eq(&first);
}

fn check_whole(document: &str, expected: Expect) {
    expected.assert_eq(&heard(document));
}

const CREATED: (&str, &str) = ("created", r#""response":{"id":"r","status":"in_progress","output":[]}"#);
const COMPLETED: (&str, &str) = ("completed", r#""response":{"status":"completed","output":[]}"#);
const HELLO: (&str, &str) = ("output_text.delta", r#""output_index":0,"content_index":0,"delta":"Hello""#);
const CALL: (&str, &str) = (
    "output_item.added",
    r#""output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c1","name":"look","arguments":""}"#,
);

/// Which endings are complete and which are not.
#[test]
fn endings() {
    check(
        &[CREATED, HELLO],
        expect![[r#"
        text "Hello"
        CutOff network error: the stream closed before the answer was complete
    "#]],
    );
    check(
        &[CREATED, HELLO, COMPLETED],
        expect![[r#"
        text "Hello"
        Finished (completed)
    "#]],
    );
    check(
        &[CREATED, ("queued", ""), HELLO, ("in_progress", ""), COMPLETED, HELLO],
        expect![[r#"
        text "Hello"
        Finished (completed)
    "#]],
    );
    check(
        &[HELLO, ("incomplete", r#""response":{"incomplete_details":{"reason":"max_output_tokens"}}"#)],
        expect![[r#"
            text "Hello"
            Length (max_output_tokens)
        "#]],
    );
    check(
        &[HELLO, ("incomplete", r#""response":{"incomplete_details":{"reason":"content_filter"}}"#)],
        expect![[r#"
            text "Hello"
            Failed refused by content rules: the provider's content rules stopped the answer (content_filter)
        "#]],
    );
    check(
        &[HELLO, ("incomplete", r#""response":{"incomplete_details":null}"#)],
        expect![[r#"
        text "Hello"
        Failed server error: the provider stopped before the answer was complete (incomplete)
    "#]],
    );
    check(
        &[HELLO, ("cancelled", r#""response":{"status":"cancelled"}"#)],
        expect![[r#"
        text "Hello"
        Failed cancelled: the answer was cancelled at the provider (cancelled)
    "#]],
    );
    check(
        &[
            HELLO,
            (
                "done",
                r#""response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#,
            ),
        ],
        expect![[r#"
            text "Hello"
            Length (max_output_tokens)
        "#]],
    );
    check(
        &[HELLO, ("completed", "")],
        expect![[r#"
        text "Hello"
        Finished (completed)
    "#]],
    );
    check(
        &[HELLO, ("completed", r#""response":7"#)],
        expect![[r#"
        text "Hello"
        Failed malformed answer: the last event of the answer cannot be read
    "#]],
    );
    expect![[r#"
        text "Hi"
        Finished
    "#]]
    .assert_eq(&heard(
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\ndata: [DONE]\n\n",
    ));
    expect![[r"
        CutOff network error: the stream closed before the answer was complete
    "]]
    .assert_eq(&heard(""));
}

/// A failure inside a 200 is one, before and after words, and its kind says what helps.
#[test]
fn failures_inside_an_answer() {
    let failed = |error: &'static str| ("failed", error);
    check(
        &[
            HELLO,
            failed(r#""response":{"status":"failed","error":{"code":"server_error","message":"Sorry."}}"#),
        ],
        expect![[r#"
            text "Hello"
            Failed server error: Sorry.
        "#]],
    );
    check(
        &[failed(
            r#""response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Try again in 6 s."}}"#,
        )],
        expect![[r"
            Failed rate limited: Try again in 6 s.
        "]],
    );
    check(
        &[failed(
            r#""response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Too long."}}"#,
        )],
        expect![[r"
            Failed prompt longer than the context window: Too long.
        "]],
    );
    check(
        &[failed(r#""response":{"status":"failed","error":{"code":"insufficient_quota","message":"Pay."}}"#)],
        expect![[r"
            Failed quota used up: Pay.
        "]],
    );
    check(
        &[failed(
            r#""response":{"status":"failed","error":{"code":"server_is_overloaded","message":"Busy."}}"#,
        )],
        expect![[r"
            Failed overloaded: Busy.
        "]],
    );
    check(
        &[failed(r#""response":{"status":"failed","error":{"code":"invalid_prompt","message":"No."}}"#)],
        expect![[r"
            Failed invalid request: No.
        "]],
    );
    check(
        &[failed(
            r#""response":{"status":"failed","error":{"code":"image_content_policy_violation","message":"No."}}"#,
        )],
        expect![[r"
            Failed refused by content rules: No.
        "]],
    );
    check(
        &[failed(r#""response":{"status":"failed","error":null}"#)],
        expect![[r"
        Failed server error: the provider failed without saying why
    "]],
    );
    let named = |data: &str| heard(&format!("event: error\ndata: {data}\n\n"));
    let nameless = |data: &str| heard(&format!("data: {data}\n\n"));
    let flat = r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow down.","param":null}"#;
    let nested = r#"{"type":"error","error":{"type":"server_error","code":null,"message":"Sorry."}}"#;
    assert_eq!(named(flat), nameless(flat));
    assert_eq!(named(nested), nameless(nested));
    expect![[r"
        Failed rate limited: Slow down.
    "]]
    .assert_eq(&named(flat));
    expect![[r"
        Failed server error: Sorry.
    "]]
    .assert_eq(&named(nested));
    expect![[r"
        Failed credentials refused: Incorrect API key
    "]]
    .assert_eq(&nameless(r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#));
    expect![[r"
        Failed credentials refused: Incorrect API key provided.
    "]]
    .assert_eq(&heard("{\"code\":\"invalid-argument\",\"error\":\"Incorrect API key provided.\"}"));
    expect![[r"
        Failed malformed answer: an event of the stream is no JSON
    "]]
    .assert_eq(&heard("data: {\"type\":\"response.output_text.del\n\n"));
}

/// What `done` events repeat is said once, and said at all where no delta came.
#[test]
fn repetitions() {
    let done = ("output_text.done", r#""output_index":0,"content_index":0,"text":"Hello""#);
    let part = (
        "content_part.done",
        r#""output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello","annotations":[]}"#,
    );
    let item = (
        "output_item.done",
        r#""output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}"#,
    );
    let end = (
        "completed",
        r#""response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}"#,
    );
    let ways = [
        &[HELLO, done, part, item, end][..],
        &[done, part, item, end],
        &[part, item, end],
        &[item, end],
        &[end],
        &[HELLO, item, item, end],
    ];
    check_alike(
        &ways,
        expect![[r#"
        text "Hello"
        Finished (completed)
    "#]],
    );
}

/// A call is put together by its place, whatever the ids of its item.
#[test]
fn calls() {
    let more = ("function_call_arguments.delta", r#""output_index":0,"item_id":"other","delta":"{\"a\":1}""#);
    let done =
        ("function_call_arguments.done", r#""output_index":0,"item_id":"third","arguments":"{\"a\":1}""#);
    let item = (
        "output_item.done",
        r#""output_index":0,"item":{"type":"function_call","id":"fourth","call_id":"c1","name":"look","arguments":"{\"a\":1}"}"#,
    );
    let ways = [
        &[CALL, more, done, item, COMPLETED][..],
        &[CALL, done, item, COMPLETED],
        &[CALL, item, COMPLETED],
        &[item, COMPLETED],
        &[more, item, COMPLETED],
    ];
    check_alike(
        &ways,
        expect![[r#"
        call p.0 look {"a":1} (c1)
        Finished (completed)
    "#]],
    );
    check(
        &[CALL, COMPLETED],
        expect![[r"
        call p.0 look {} (c1)
        Finished (completed)
    "]],
    );
    check(
        &[CALL, ("function_call_arguments.delta", r#""output_index":0,"delta":"{\"a\"""#)],
        expect![[r#"
        call p.0 look {"a" (c1)
        CutOff network error: the stream closed before the answer was complete
    "#]],
    );
    check(
        &[more, COMPLETED],
        expect![[r"
        Finished (completed), 1 of a call without a name
    "]],
    );
}

/// Two calls whose fragments come mixed; the same two where every item has index 0; and without any index.
#[test]
fn calls_side_by_side() {
    let second = (
        "output_item.added",
        r#""output_index":1,"item":{"type":"function_call","id":"g","call_id":"c2","name":"hear","arguments":""}"#,
    );
    let delta = ("function_call_arguments.delta", r#""output_index":0,"delta":"{}""#);
    let other = ("function_call_arguments.delta", r#""output_index":1,"delta":"[]""#);
    check(
        &[CALL, second, other, delta, COMPLETED],
        expect![[r"
        call p.0 look {} (c1)
        call p.1 hear [] (c2)
        Finished (completed)
    "]],
    );
    let whole = |id: &str, index: &str| {
        format!(
            r#"{index}"item":{{"type":"function_call","id":"{id}","call_id":"{id}","name":"look","arguments":"{{}}"}}"#
        )
    };
    let both = |index: &str| {
        let (a, b) = (whole("a", index), whole("b", index));
        stream(&[
            ("output_item.added", &a),
            ("output_item.done", &a),
            ("output_item.added", &b),
            ("output_item.done", &b),
            COMPLETED,
        ])
    };
    let one_index = heard(&both(r#""output_index":0,"#));
    assert_eq!(heard(&both("")), one_index);
    expect![[r"
        call p.0 look {} (a)
        call p.1 look {} (b)
        Finished (completed)
    "]]
    .assert_eq(&one_index);
}

/// Parts of a summary are paragraphs; the item is kept byte for byte when it is whole, and not before.
#[test]
fn reasoning() {
    let thought =
        |number: &str, text: &str| format!(r#""output_index":0,"summary_index":{number},"delta":"{text}""#);
    let (a, b, c) = (thought("0", "One"), thought("0", "."), thought("1", "Two."));
    let kind = "reasoning_summary_text.delta";
    let item = (
        "output_item.done",
        r#""output_index":0,"item":{"type":"reasoning", "id":"rs","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"x"}"#,
    );
    check(
        &[(kind, &a), (kind, &b), (kind, &c), item, COMPLETED],
        expect![[r#"
        reasoning "One.\n\nTwo."
        native {"type":"reasoning", "id":"rs","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"x"}
        Finished (completed)
    "#]],
    );
    check(
        &[item, COMPLETED],
        expect![[r#"
        reasoning "One.\n\nTwo."
        native {"type":"reasoning", "id":"rs","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"x"}
        Finished (completed)
    "#]],
    );
    check(
        &[(kind, &a), (kind, &b)],
        expect![[r#"
        reasoning "One."
        CutOff network error: the stream closed before the answer was complete
    "#]],
    );
    check(
        &[
            ("reasoning_text.delta", r#""output_index":0,"content_index":0,"delta":"Hm""#),
            ("reasoning_text.done", r#""output_index":0,"content_index":0,"text":"Hm""#),
            COMPLETED,
        ],
        expect![[r#"
            reasoning "Hm"
            Finished (completed)
        "#]],
    );
    let both = (
        "output_item.done",
        r#""item":{"type":"reasoning","summary":[{"type":"summary_text","text":"Short."}],"content":[{"type":"reasoning_text","text":"Long."}]}"#,
    );
    check(
        &[both, COMPLETED],
        expect![[r#"
        reasoning "Short."
        native {"type":"reasoning","summary":[{"type":"summary_text","text":"Short."}],"content":[{"type":"reasoning_text","text":"Long."}]}
        Finished (completed)
    "#]],
    );
    let sealed = ("output_item.done", r#""item":{"type":"reasoning","summary":[],"encrypted_content":"x"}"#);
    check(
        &[sealed, HELLO, COMPLETED],
        expect![[r#"
        native {"type":"reasoning","summary":[],"encrypted_content":"x"}
        text "Hello"
        Finished (completed)
    "#]],
    );
}

/// What only the provider understands is kept; what nobody knows is counted.
#[test]
fn items_of_the_provider_and_unknown_things() {
    let search = (
        "output_item.done",
        r#""output_index":0,"item":{"type":"web_search_call","id":"ws","action":{"query":"x"}}"#,
    );
    check(
        &[
            ("web_search_call.in_progress", r#""output_index":0"#),
            ("web_search_call.searching", ""),
            search,
            COMPLETED,
        ],
        expect![[r#"
            native {"type":"web_search_call","id":"ws","action":{"query":"x"}}
            Finished (completed)
        "#]],
    );
    check(
        &[
            ("code_interpreter_call_code.delta", r#""delta":"1""#),
            ("mcp_call.failed", ""),
            ("custom_tool_call_input.delta", r#""delta":"x""#),
            COMPLETED,
        ],
        expect![[r"
            Finished (completed)
        "]],
    );
    let image = (
        "output_item.done",
        r#""output_index":0,"item":{"type":"image_generation_call","id":"ig","output_format":"webp","result":"AAAA"}"#,
    );
    check(
        &[("image_generation_call.partial_image", r#""partial_image_b64":"BBBB""#), image, COMPLETED],
        expect![[r"
            media image/webp AAAA
            Finished (completed)
        "]],
    );
    check(
        &[
            (
                "output_item.done",
                r#""item":{"type":"image_generation_call","status":"failed","result":null}"#,
            ),
            COMPLETED,
        ],
        expect![[r#"
            native {"type":"image_generation_call","status":"failed","result":null}
            Finished (completed)
        "#]],
    );
    check(
        &[("weather.changed", r#""to":"rain""#), ("weather.changed", ""), HELLO, COMPLETED],
        expect![[r#"
        text "Hello"
        Finished (completed), 2 of an event of type response.weather.changed
    "#]],
    );
    check(
        &[("output_item.done", r#""item":{"type":"message","content":[{"type":"smell"}]}"#), COMPLETED],
        expect![[r"
            Finished (completed), 1 of a part of type smell
        "]],
    );
    check(
        &[
            ("output_item.done", r#""item":7"#),
            ("output_text.annotation.added", r#""annotation":{"type":"rumour"}"#),
            COMPLETED,
        ],
        expect![[r"
            Finished (completed), 1 of an item, 1 of an annotation
        "]],
    );
    expect![[r"
        CutOff network error: the stream closed before the answer was complete, 1 of an event that is no event, 1 of an answer without output
    "]].assert_eq(&heard(
        "data: {\"type\":\"keepalive\",\"sequence_number\":3}\n\ndata: [1]\n\ndata: {\"choices\":[]}\n\n",
    ));
}

/// A refusal is words; so is a message without a type.
#[test]
fn refusals_and_bare_messages() {
    check(
        &[
            ("refusal.delta", r#""delta":"I'm sor""#),
            ("refusal.delta", r#""delta":"ry""#),
            ("refusal.done", r#""refusal":"I'm sorry""#),
            COMPLETED,
        ],
        expect![[r#"
            text "I'm sorry"
            Finished (completed)
        "#]],
    );
    check(
        &[("output_item.done", r#""item":{"role":"assistant","content":"Hello"}"#), COMPLETED],
        expect![[r#"
            text "Hello"
            Finished (completed)
        "#]],
    );
    check(
        &[HELLO, ("output_text.delta", r#""output_index":0,"content_index":1,"delta":"Again""#), COMPLETED],
        expect![[r#"
            text "Hello"
            text "Again"
            Finished (completed)
        "#]],
    );
}

/// Places in the text are counted in characters there, in bytes here; a source is told once.
#[test]
fn citations() {
    let words =
        ("output_text.delta", r#""output_index":0,"content_index":0,"delta":"日本 is far, 東京 is big""#);
    let tokyo =
        r#"{"type":"url_citation","url":"https://a.example","title":"A","start_index":11,"end_index":13}"#;
    let added = format!(r#""output_index":0,"content_index":0,"annotation_index":0,"annotation":{tokyo}"#);
    let files = r#"{"type":"file_citation","file_id":"f","filename":"b.pdf","index":3},{"type":"container_file_citation","file_id":"g","start_index":0,"end_index":2},{"type":"file_path","file_id":"h"}"#;
    let part = format!(
        r#""output_index":0,"content_index":0,"part":{{"type":"output_text","text":"日本 is far, 東京 is big","annotations":[{tokyo},{files}]}}"#
    );
    let beyond = r#""output_index":0,"content_index":0,"annotation":{"type":"url_citation","url":"https://b.example","start_index":5,"end_index":500}"#;
    check(
        &[words, ("output_text.annotation.added", &added), ("content_part.done", &part), COMPLETED],
        expect![[r#"
            text "日本 is far, 東京 is big"
            citation Some("https://a.example") Some("A") Some("東京")
            citation None Some("b.pdf") None
            citation None Some("g") Some("日本")
            citation None Some("h") None
            Finished (completed)
        "#]],
    );
    check(
        &[words, ("output_text.annotation.added", beyond), COMPLETED],
        expect![[r#"
        text "日本 is far, 東京 is big"
        citation Some("https://b.example") None None
        Finished (completed)
    "#]],
    );
}

/// Some servers answer a request for a stream with one document.
#[test]
fn whole_answers() {
    check_whole(
        r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1}}"#,
        expect![[r#"
            text "Hi"
            Finished (completed)
        "#]],
    );
    check_whole(
        r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","call_id":"c","name":"look","arguments":"{\"a"}]}"#,
        expect![[r#"
            call p.0 look {"a (c)
            Length (max_output_tokens)
        "#]],
    );
    check_whole(
        r#"{"object":"response","status":"failed","error":{"code":"server_error","message":"Sorry."},"output":[]}"#,
        expect![[r"
            Failed server error: Sorry.
        "]],
    );
    check_whole(
        r#"{"object":"response","status":"queued","output":[]}"#,
        expect![[r"
        CutOff network error: the stream closed before the answer was complete
    "]],
    );
    check_whole(
        r#"{"output":[{"type":"function_call","call_id":"c","name":"look","arguments":{"a":1}}]}"#,
        expect![[r#"
            call p.0 look {"a":1} (c)
            Finished (completed)
        "#]],
    );
    check_whole(
        r#"{"object":"response","status":"completed","output":[{"type":"mess"#,
        expect![[r"
        CutOff network error: the stream closed before the answer was complete
    "]],
    );
}

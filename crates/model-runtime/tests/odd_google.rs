//! Answers in Google's format that are seldom, broken, or documented and not recorded.

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
use thermidor_model_runtime::{Dialect, Quirks};
use thermidor_types::ModelId;

/// Whole, and cut at several sizes: the same lines.
fn check(bytes: &str, expected: Expect) {
    let model = ModelId::new("google", "gemini");
    let hear = |size: usize| {
        hear(Dialect::GoogleGenerate, &model, &Quirks::default(), bytes.as_bytes().chunks(size))
    };
    let whole = hear(bytes.len().max(1));
    for size in [1, 2, 3, 5, 7, 64] {
        assert_eq!(hear(size), whole, "cut at {size}");
    }
    expected.assert_eq(&lines(&whole.end));
}

fn stream(documents: &[&str]) -> String {
    format!("data: {}\r\n\r\n", documents.join("\r\n\r\ndata: "))
}

fn parts(parts: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}]}}"#)
}

fn words(text: &str) -> String {
    parts(&format!(r#"{{"text":"{text}"}}"#))
}

const STOP: &str = r#"{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}"#;

#[test]
fn a_list_instead_of_a_stream() {
    check(
        &format!("[{},\n{},\n{STOP}\n]", words("Hel"), words("lo")),
        expect![[r#"
        text "Hello"
        finished; STOP; 3(0) in 4(0) out
    "#]],
    );
}

#[test]
fn a_list_that_breaks_off() {
    let bytes = format!("[{},\n{},\n{STOP}", words("Hel"), words("lo"));
    check(
        bytes.split_once("finishReason").expect("there").0,
        expect![[r#"
        text "Hello"
        cut off: network error: the stream closed before the answer was complete; -; 0(0) in 0(0) out
    "#]],
    );
    check(
        &bytes,
        expect![[r#"
        text "Hello"
        finished; STOP; 3(0) in 4(0) out
    "#]],
    );
}

#[test]
fn a_refused_prompt_with_words() {
    check(
        &stream(&[
            r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"Not this."},"usageMetadata":{"promptTokenCount":9}}"#,
        ]),
        expect![[r#"
            failed: refused by content rules: the prompt was refused (PROHIBITED_CONTENT): Not this.; PROHIBITED_CONTENT; 9(0) in 0(0) out
        "#]],
    );
}

#[test]
fn a_refused_prompt_without_words() {
    check(
        r#"{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[]},"modelVersion":"m"}"#,
        expect![[r#"
            failed: refused by content rules: the prompt was refused by the provider's content rules (SAFETY); SAFETY; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn feedback_that_refuses_nothing() {
    check(
        &stream(&[
            r#"{"promptFeedback":{"safetyRatings":[]},"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#,
        ]),
        expect![[r#"
            text "Hi"
            finished; STOP; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn content_rules_stop_an_answer() {
    check(
        &stream(&[&words("Well"), r#"{"candidates":[{"finishReason":"SAFETY","index":0}]}"#]),
        expect![[r#"
        text "Well"
        failed: refused by content rules: the provider's content rules stopped the answer; SAFETY; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_call_that_the_service_could_not_read() {
    check(
        &stream(&[
            r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x"}],"usageMetadata":{"promptTokenCount":5}}"#,
        ]),
        expect![[r#"
            failed: malformed answer: Malformed function call: print(x; MALFORMED_FUNCTION_CALL; 5(0) in 0(0) out
        "#]],
    );
}

#[test]
fn a_message_beside_a_good_reason_is_no_failure() {
    check(
        &stream(&[
            &parts(r#"{"functionCall":{"name":"f","args":{"a":1.10}}}"#),
            r#"{"candidates":[{"finishReason":"STOP","finishMessage":"Model generated function call(s)."}]}"#,
        ]),
        expect![[r#"
            call f {"a":1.10}
            finished; STOP; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn a_failure_in_the_middle() {
    check(
        &stream(&[
            &words("Well"),
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        ]),
        expect![[r#"
            text "Well"
            failed: overloaded: The model is overloaded.; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn a_failure_in_a_list() {
    check(
        "[{\n  \"error\": {\"code\": 429, \"message\": \"Slow down.\", \"status\": \"RESOURCE_EXHAUSTED\"}\n}\n]",
        expect![[r#"
            failed: rate limited: Slow down.; -; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn signed_words_and_a_signature_alone() {
    check(
        &stream(&[
            &parts(r#"{"text":"A","thoughtSignature":"s1"}"#),
            &words("B"),
            &words("C"),
            &parts(r#"{"text":"","thoughtSignature":"s2"}"#),
            STOP,
        ]),
        expect![[r#"
            text "A"
            thought "" signed s1
            text "BC"
            thought "" signed s2
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn each_signed_thought_stays_itself() {
    check(
        &stream(&[
            &parts(r#"{"text":"a","thought":true},{"text":"b","thought":true,"thoughtSignature":"s1"}"#),
            &parts(r#"{"text":"c","thought":true,"thoughtSignature":"s2"},{"text":"d","thought":true}"#),
            STOP,
        ]),
        expect![[r#"
            thought "ab" signed s1
            thought "c" signed s2
            thought "d"
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn two_calls_of_one_tool_and_one_without_arguments() {
    check(
        &stream(&[
            &parts(
                r#"{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"s"},{"functionCall":{"name":"f","args":{"x":1}}}"#,
            ),
            &parts(r#"{"functionCall":{"id":"c","name":"g"}}"#),
            STOP,
        ]),
        expect![[r#"
            call f {"x":1} signed s
            call f {"x":1}
            call g {} id c
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn a_call_without_a_name() {
    check(
        &stream(&[&parts(r#"{"functionCall":{"args":{"x":1}}}"#), STOP]),
        expect![[r#"
            finished; STOP; 3(0) in 4(0) out
            ? a call without a name x1: ""
        "#]],
    );
}

#[test]
fn a_signed_image() {
    check(
        &stream(&[
            &words("Here:"),
            &parts(r#"{"inlineData":{"mimeType":"image/png","data":"iVBORw0="},"thoughtSignature":"s"}"#),
            STOP,
        ]),
        expect![[r#"
            text "Here:"
            medium image/png iVBORw0=
            thought "" signed s
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn an_image_at_an_address_and_a_sketch() {
    check(
        &stream(&[
            &parts(
                r#"{"fileData":{"mimeType":"image/png","fileUri":"https://example.org/a.png"}},{"thought":true,"inlineData":{"mimeType":"image/png","data":"aa"}}"#,
            ),
            STOP,
        ]),
        expect![[r#"
            medium image/png at https://example.org/a.png
            native {"thought":true,"inlineData":{"mimeType":"image/png","data":"aa"}}
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn code_and_what_it_gave() {
    check(
        &stream(&[
            &parts(
                r#"{"executableCode":{"language":"PYTHON","code":"print(1.10)"},"thoughtSignature":"s"},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1.1\n"}},{"text":"1.1"}"#,
            ),
            STOP,
        ]),
        expect![[r#"
            native {"executableCode":{"language":"PYTHON","code":"print(1.10)"},"thoughtSignature":"s"}
            native {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1.1\n"}}
            text "1.1"
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn sources_of_a_search_in_bytes() {
    let grounding = r#"{"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}},{"web":{"uri":"https://b.example","title":"B"}},{"retrievedContext":{"uri":"gs://c","title":"C","text":"as it says"}}],"groundingSupports":[{"segment":{"endIndex":7,"text":"Grüße"},"groundingChunkIndices":[0,1]},{"segment":{"startIndex":9,"endIndex":12,"text":"you"},"groundingChunkIndices":[0,9]},{"segment":{"startIndex":9,"endIndex":99},"groundingChunkIndices":[1]}]}"#;
    let last = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"you"}}]}},"finishReason":"STOP","groundingMetadata":{grounding}}}]}}"#
    );
    check(
        &stream(&[&words("Grüße, "), &last, &last.replace("\"text\":\"you\"}]}", "\"text\":\"\"}]}")]),
        expect![[r#"
            text "Grüße, you"
            source Some("https://a.example") Some("A") None for Some("Grüße")
            source Some("https://b.example") Some("B") None for Some("Grüße")
            source Some("https://a.example") Some("A") None for Some("you")
            source Some("https://b.example") Some("B") None for None
            source Some("gs://c") Some("C") Some("as it says") for None
            finished; STOP; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn segments_count_from_their_part() {
    check(
        r#"{"candidates":[{"content":{"parts":[{"text":"think","thought":true},{"text":"One. "},{"functionCall":{"name":"f"}},{"text":"Two."}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"maps":{"uri":"https://m.example","title":"M"}}],"groundingSupports":[{"segment":{"partIndex":3,"endIndex":3},"groundingChunkIndices":[0]}]}}]}"#,
        expect![[r#"
            thought "think"
            text "One. "
            call f {}
            text "Two."
            source Some("https://m.example") Some("M") None for Some("Two")
            finished; STOP; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn what_an_answer_recites_in_both_spellings() {
    check(
        &stream(&[
            &words("abcdef"),
            r#"{"candidates":[{"citationMetadata":{"citationSources":[{"startIndex":1,"endIndex":3,"uri":"https://a.example","license":"mit"}]}}]}"#,
            r#"{"candidates":[{"finishReason":"STOP","citationMetadata":{"citations":[{"endIndex":2,"uri":"https://b.example","title":"B"}]}}]}"#,
        ]),
        expect![[r#"
            text "abcdef"
            source Some("https://a.example") None None for Some("bc")
            source Some("https://b.example") Some("B") None for Some("ab")
            finished; STOP; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn figures_that_come_bit_by_bit() {
    check(
        &stream(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"toolUsePromptTokenCount":5,"thoughtsTokenCount":7}}"#,
            r#"{"candidates":[{"finishReason":"STOP"}]}"#,
            r#"{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2}}"#,
        ]),
        expect![[r#"
            text "Hi"
            finished; STOP; 15(4) in 9(7) out
        "#]],
    );
}

#[test]
fn nonsense_in_the_figures_costs_no_words() {
    check(
        &stream(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":"many"}}"#,
        ]),
        expect![[r#"
            text "Hi"
            finished; STOP; 0(0) in 0(0) out
            ? a usage x1: "{\"promptTokenCount\":\"many\"}"
        "#]],
    );
}

#[test]
fn parts_nobody_knows() {
    check(
        &stream(&[
            &parts(r#"{"text":"Hi"},{"hologram":{"x":1}},{"text":{"a":1}},{},7"#),
            r#"{"weather":"fine"}"#,
            r#"[1]"#,
            STOP,
        ]),
        expect![[r#"
            text "Hi"
            finished; STOP; 3(0) in 4(0) out
            ? a part of another kind x1: "{\"hologram\":{\"x\":1}}"
            ? a part's text x1: "{\"text\":{\"a\":1}}"
            ? a part x1: "7"
            ? an event without candidates and usage x2: "{\"weather\":\"fine\"}"
        "#]],
    );
}

#[test]
fn a_second_candidate() {
    check(
        &stream(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"one"}]},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":"two"}]},"finishReason":"MAX_TOKENS","index":1}]}"#,
        ]),
        expect![[r#"
            text "one"
            finished; STOP; 0(0) in 0(0) out
            ? a second candidate x1: ""
        "#]],
    );
}

#[test]
fn a_reason_nobody_knows() {
    check(
        &stream(&[
            &words("Hi"),
            r#"{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}"#,
            r#"{"candidates":[{"finishReason":"BORED"}]}"#,
        ]),
        expect![[r#"
            text "Hi"
            finished; BORED; 0(0) in 0(0) out
        "#]],
    );
}

#[test]
fn all_thought_and_no_answer() {
    check(
        &stream(&[
            r#"{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}],"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":60}}"#,
        ]),
        expect![[r#"
            length; MAX_TOKENS; 3(0) in 60(60) out
        "#]],
    );
}

#[test]
fn nothing_where_something_is_usual() {
    check(
        &stream(&[
            r#"{"candidates":null}"#,
            r#"{"candidates":[{"content":null}],"usageMetadata":null}"#,
            r#"{"candidates":[{"content":{"parts":null}}],"responseId":"r"}"#,
            r#"{"candidates":{"content":{"parts":{"text":"Hi","thought":null}},"finishReason":"STOP"}}"#,
        ]),
        expect![[r#"
            text "Hi"
            finished; STOP; 0(0) in 0(0) out
            ? an event without candidates and usage x1: "{\"candidates\":null}"
        "#]],
    );
}

#[test]
fn an_event_that_is_no_json() {
    check(
        &stream(&[&words("Hi"), "{\"candidates\":", STOP]),
        expect![[r#"
        text "Hi"
        failed: malformed answer: an event of the stream is no JSON; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn halves_of_characters_and_comments() {
    check(
        &format!(": hello\n\ndata: {}\ndata:\n\n\ndata:{STOP}", words("a\\ud83e b \\ud83e\\udd80 🦀")),
        expect![[r#"
            text "a� b 🦀 🦀"
            finished; STOP; 3(0) in 4(0) out
        "#]],
    );
}

#[test]
fn nothing_at_all() {
    check(
        "",
        expect![[r#"
        cut off: network error: the stream closed before the answer was complete; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_web_page() {
    check(
        "<!DOCTYPE html><title>502</title>",
        expect![[r#"
        failed: malformed answer: a web page came instead of an answer; -; 0(0) in 0(0) out
    "#]],
    );
}

#[test]
fn a_stream_that_breaks_off() {
    let bytes = stream(&[&words("Hi"), STOP]);
    check(
        bytes.split_once("finishReason").expect("there").0,
        expect![[r#"
        text "Hi"
        cut off: network error: the stream closed before the answer was complete; -; 0(0) in 0(0) out
    "#]],
    );
}

//! Anthropic's format over real sockets.

#[path = "support/socket.rs"]
mod socket;

use socket::{ask, bundled, head};
use thermidor_model_runtime::{ChatEvent, Dialect, Provider, StreamEnding};
use thermidor_types::{Ending, FailureKind};

const KEY: &str = "sk-ant-very-secret-0123456789";

const START: &str =
    r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"output_tokens":1}}}"#;
const WORDS: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Partial"}}"#;
const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
const STOP: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}"#;
const END: &str = r#"{"type":"message_stop"}"#;

fn stream(events: &[&str]) -> Vec<String> {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    std::iter::once(head("200 OK", "text/event-stream; charset=utf-8")).chain(events).collect()
}

/// Would fail if the key went where another service reads it, or the version were not said.
#[tokio::test]
async fn a_request_has_its_key_its_version_and_its_path() {
    let (asked, answer) =
        ask(bundled("anthropic"), "claude-haiku-4-5", Some(KEY), stream(&[START, WORDS, STOP, END])).await;
    assert!(asked.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("x-api-key: {KEY}\r\n")) && !asked.contains("authorization"), "{asked}");
    assert_eq!(asked.matches("anthropic-version: 2023-06-01\r\n").count(), 1, "{asked}");
    assert!(!asked.contains("anthropic-beta"), "{asked}");
    let (_, end) = answer.expect("an answer");
    assert_eq!((end.message.text(), end.ending), ("Partial".to_owned(), StreamEnding::Finished));
    assert_eq!(end.message.usage.total().0, 9);
}

/// Would fail if half an answer were stored as a finished one.
#[tokio::test]
async fn an_error_after_words_fails_the_answer_and_keeps_them() {
    let row = || bundled("anthropic");
    let (_, answer) = ask(row(), "claude-haiku-4-5", Some(KEY), stream(&[START, WORDS, OVERLOADED])).await;
    let (events, end) = answer.expect("a beginning");
    assert_eq!(events, [ChatEvent::Text("Partial".into())]);
    let StreamEnding::Failed(failure) = end.ending else { panic!("{:?}", end.ending) };
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Overloaded, "Overloaded"));
    assert!(failure.kind.retryable());
    assert_eq!((end.message.text(), end.message.ending), ("Partial".to_owned(), Ending::CutOff));
}

/// Would fail if a failure without a word left an empty message behind.
#[tokio::test]
async fn an_error_as_the_first_event_is_an_error() {
    for events in [&[OVERLOADED][..], &[START, OVERLOADED]] {
        let (_, answer) = ask(bundled("anthropic"), "claude-haiku-4-5", Some(KEY), stream(events)).await;
        let error = answer.expect_err("no answer began");
        assert_eq!((error.kind(), error.message()), (FailureKind::Overloaded, "Overloaded"));
        assert!(error.kind().retryable());
    }
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_never_the_key() {
    let body = format!(
        r#"{{"type":"error","error":{{"type":"authentication_error","message":"invalid x-api-key {KEY}"}}}}"#
    );
    let pieces = vec![head("401 Unauthorized", "application/json"), body];
    let (_, answer) = ask(bundled("anthropic"), "claude-haiku-4-5", Some(KEY), pieces).await;
    let error = answer.expect_err("a refusal");
    assert_eq!((error.kind(), error.message()), (FailureKind::Credentials, "invalid x-api-key [key]"));
}

/// A local server of this format needs an address, and no key.
#[tokio::test]
async fn another_server_of_this_format_needs_an_address_only() {
    let row = Provider { dialect: Dialect::AnthropicMessages, ..Provider::new("lab", "http://127.0.0.1") };
    let (asked, answer) = ask(row, "qwen3", None, stream(&[START, WORDS])).await;
    assert!(asked.starts_with("POST /v1/messages HTTP/1.1\r\n") && !asked.contains("x-api-key"), "{asked}");
    let (_, end) = answer.expect("a beginning");
    assert!(matches!(end.ending, StreamEnding::CutOff(_)), "{:?}", end.ending);
}

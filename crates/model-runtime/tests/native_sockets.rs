//! Google's and Ollama's own formats over real sockets.

#[path = "support/socket.rs"]
mod socket;

use socket::{ask, bundled, head};
use thermidor_model_runtime::{Auth, ChatEvent, Dialect, Provider, StreamEnding};
use thermidor_types::FailureKind;

const KEY: &str = "AIza-very-secret-0123456789";

fn google(pieces: &[&str]) -> Vec<String> {
    let events = pieces.iter().map(|piece| format!("data: {piece}\r\n\r\n"));
    std::iter::once(head("200 OK", "text/event-stream")).chain(events).collect()
}

const WORDS: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}]}"#;
const REST: &str = r#"{"candidates":[{"content":{"parts":[{"text":"lo"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}"#;

#[tokio::test]
async fn google_streams_to_its_own_address_with_its_own_header() {
    let (asked, answer) = ask(bundled("google"), "gemini-2.5-flash", Some(KEY), google(&[WORDS, REST])).await;
    assert!(
        asked.starts_with("POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse HTTP/1.1\r\n")
    );
    assert!(
        asked.contains(&format!("x-goog-api-key: {KEY}\r\n")) && !asked.contains("authorization"),
        "{asked}"
    );
    assert!(asked.ends_with(r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#), "{asked}");
    let (_, end) = answer.expect("an answer");
    assert_eq!((end.message.text(), end.ending), ("Hello".to_owned(), StreamEnding::Finished));
    assert_eq!(end.message.usage.total().0, 7);
}

#[tokio::test]
async fn vertex_has_its_own_path_and_a_token() {
    let vertex = Provider {
        dialect: Dialect::GoogleGenerate,
        auth: Auth::Bearer,
        path: Some(
            "/v1/projects/p/locations/l/publishers/google/models/{model}:streamGenerateContent?alt=sse"
                .to_owned(),
        ),
        ..Provider::new("vertex", "http://127.0.0.1")
    };
    let (asked, answer) = ask(vertex, "gemini-2.5-pro", Some("ya29.token"), google(&[REST])).await;
    let path =
        "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    assert!(asked.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{asked}");
    assert!(asked.contains("authorization: Bearer ya29.token\r\n"), "{asked}");
    assert_eq!(answer.expect("an answer").1.message.text(), "lo");
}

#[tokio::test]
async fn google_refuses_before_and_fails_within() {
    let row = || bundled("google");
    let body = r#"[{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}]"#;
    let pieces = vec![head("404 Not Found", "application/json"), body.to_owned()];
    let error = ask(row(), "x", Some(KEY), pieces).await.1.expect_err("a refusal");
    assert_eq!((error.kind(), error.message()), (FailureKind::NotFound, "models/x is not found"));

    let blocked = google(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#]);
    let error = ask(row(), "x", Some(KEY), blocked).await.1.expect_err("a refusal in a 200");
    assert_eq!(error.kind(), FailureKind::ContentRefused);

    let failure =
        format!(r#"{{"error":{{"code":503,"message":"overloaded, {KEY}","status":"UNAVAILABLE"}}}}"#);
    let (_, end) = ask(row(), "x", Some(KEY), google(&[WORDS, &failure])).await.1.expect("a beginning");
    let StreamEnding::Failed(failure) = end.ending else { panic!("{:?}", end.ending) };
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Overloaded, "overloaded, [key]"));

    let (_, end) = ask(row(), "x", Some(KEY), google(&[WORDS])).await.1.expect("a beginning");
    assert!(matches!(end.ending, StreamEnding::CutOff(_)), "{:?}", end.ending);
}

fn ollama(lines: &[&str]) -> Vec<String> {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    std::iter::once(head("200 OK", "application/x-ndjson")).chain(lines).collect()
}

const THOUGHT: &str = r#"{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#;
const CALL: &str = r#"{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"x":1}}}]},"done":false}"#;
const DONE: &str = r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}"#;

#[tokio::test]
async fn ollama_streams_lines() {
    let (asked, answer) =
        ask(bundled("ollama-native"), "qwen3:4b", None, ollama(&[THOUGHT, CALL, DONE])).await;
    assert!(asked.starts_with("POST /api/chat HTTP/1.1\r\n") && !asked.contains("authorization"), "{asked}");
    let body = r#"{"model":"qwen3:4b","messages":[{"role":"user","content":"Hi"}],"stream":true}"#;
    assert!(asked.ends_with(body), "{asked}");
    let (events, end) = answer.expect("an answer");
    assert!(matches!(&events[0], ChatEvent::Reasoning(text) if *text == "Hm"), "{events:?}");
    let calls: Vec<_> = end.message.exchanges().map(|exchange| exchange.call.arguments.to_string()).collect();
    assert_eq!((calls, end.ending), (vec![r#"{"x":1}"#.to_owned()], StreamEnding::Finished));
}

#[tokio::test]
async fn ollama_refuses_before_and_fails_within() {
    let row = || bundled("ollama-native");
    let pieces =
        vec![head("404 Not Found", "application/json"), r#"{"error":"model 'x' not found"}"#.to_owned()];
    let error = ask(row(), "x", None, pieces).await.1.expect_err("a refusal");
    assert_eq!((error.kind(), error.message()), (FailureKind::NotFound, "model 'x' not found"));

    let error =
        ask(row(), "x", None, ollama(&[r#"{"error":"out of memory"}"#])).await.1.expect_err("in a 200");
    assert_eq!(error.message(), "out of memory");

    let (_, end) = ask(row(), "x", None, ollama(&[THOUGHT, CALL])).await.1.expect("a beginning");
    assert!(matches!(end.ending, StreamEnding::CutOff(_)), "{:?}", end.ending);
}

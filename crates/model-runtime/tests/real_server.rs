//! The client against a real language model behind llama.cpp's own server.
//!
//! `cargo xtask real-model` starts one and runs these tests; for another one, name it in
//! `THERMIDOR_REAL_SERVER` (`http://127.0.0.1:8080`) and run them with `-- --ignored --test-threads 1`. What the
//! model says is not judged.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, ChatStream, Error, ModelRuntime, Provider, ResponseSchema, StreamEnd,
    StreamEnding,
};
use thermidor_types::{FailureKind, Json, Measure, Message, Tokens};
use tokio::time::{Instant, sleep};

/// How soon the server must have noticed that nobody listens any more.
const SOON: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "a test that is run on demand has no other way to be told")]
fn server() -> String {
    let name = "THERMIDOR_REAL_SERVER";
    let address = std::env::var(name).unwrap_or_else(|_| panic!("{name} names no server"));
    address.trim_end_matches('/').to_owned()
}

async fn ask(request: ChatRequest) -> Result<ChatStream, Error> {
    let provider = Provider::new("local", format!("{}/v1", server()));
    let runtime = ModelRuntime::builder().provider(provider).build().expect("a runtime");
    runtime.model("local/small").expect("a local model needs no key").stream(request).await
}

fn request(words: &str, max_output: u64) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::user(words)],
        max_output: Some(Tokens(max_output)),
        temperature: Some(0.0),
        ..ChatRequest::default()
    }
}

/// The number of fragments, their text, and the end.
async fn listen(mut stream: ChatStream) -> (usize, String, StreamEnd) {
    let (mut fragments, mut text) = (0, String::new());
    while let Some(event) = stream.next().await {
        match event {
            ChatEvent::Text(fragment) => {
                fragments += 1;
                text.push_str(&fragment);
            }
            ChatEvent::Ended(end) => return (fragments, text, *end),
            ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => {}
        }
    }
    panic!("the stream had no end");
}

/// Would fail if fragments were gathered up, or the server's own figures were not the ones that count.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn an_answer_streams_and_the_server_counts() {
    let stream = ask(request("Tell a long story about a lighthouse.", 40)).await.expect("an answer");
    let (fragments, text, end) = listen(stream).await;
    assert!(fragments > 10, "{fragments} fragments: {text}");
    assert_eq!(end.ending, StreamEnding::Length, "{text}");
    let usage = end.message.usage;
    assert_eq!((usage.measure, usage.output), (Measure::Reported, Tokens(40)));
    assert!(usage.input > Tokens(5), "{usage:?}");
    assert_eq!(end.message.text(), text);
}

/// Would fail if the end of a short answer were taken for a cut.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_short_answer_is_finished() {
    let stream = ask(request("What is the capital of France? Answer in one short sentence.", 200)).await;
    let (_, text, end) = listen(stream.expect("an answer")).await;
    assert_eq!(end.ending, StreamEnding::Finished, "{text}");
}

/// Would fail if the schema did not reach the server in the form it understands.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn an_answer_keeps_its_schema() {
    let schema = r#"{"type":"object","properties":{"name":{"type":"string","maxLength":20},"age":{"type":"integer","maximum":99}},
        "required":["name","age"],"additionalProperties":false}"#;
    let schema = ResponseSchema { name: "person".into(), schema: Json::parse(schema).expect("JSON") };
    let request = ChatRequest {
        response_schema: Some(schema),
        ..request("Tom is 7 years old. Extract name and age as JSON.", 100)
    };
    let (_, text, _) = listen(ask(request).await.expect("an answer")).await;
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(value["name"].is_string() && value["age"].is_u64(), "{text}");
}

/// Would fail if a prompt that no retry can make fit were taken for any other bad request.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_prompt_longer_than_the_window_is_called_that() {
    let error = ask(request(&"word ".repeat(40_000), 4)).await.err().expect("refused");
    assert_eq!((error.kind(), error.status()), (FailureKind::ContextTooLong, Some(400)), "{error}");
    assert!(error.to_string().contains("tokens"), "{error}");
}

/// Would fail if the server went on writing for nobody.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_stream_that_is_dropped_ends_at_the_server() {
    let mut stream =
        ask(request("Tell a very long story about a lighthouse.", 4_000)).await.expect("an answer");
    for _ in 0..5 {
        let event = stream.next().await.expect("more");
        assert!(matches!(event, ChatEvent::Text(_)), "{event:?}");
    }
    assert!(busy().await, "the server should be at work");
    drop(stream);
    let start = Instant::now();
    while busy().await {
        assert!(start.elapsed() < SOON, "the server still writes");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Whether the server works on an answer.
async fn busy() -> bool {
    let response = reqwest::get(format!("{}/slots", server())).await.expect("the server answers");
    let slots: Value = serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON");
    slots.as_array().expect("a list of slots").iter().any(|slot| slot["is_processing"] == true)
}

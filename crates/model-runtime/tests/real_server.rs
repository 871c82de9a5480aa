//! The client against a real language model behind llama.cpp's own server.
//!
//! `cargo xtask real-model` starts one and runs these tests; for another one, name it in
//! `THERMIDOR_REAL_SERVER` (`http://127.0.0.1:8080`) and run them with `-- --ignored --test-threads 1`. What the
//! model says is not judged. Each answer that is listened to prints a line `tokens N`: what it cost to read and write.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, ChatStream, Dialect, Error, ModelRuntime, Provider, ResponseSchema, StreamEnd,
    StreamEnding, ToolChoice,
};
use thermidor_types::{
    AssistantMessage, FailureKind, Json, Measure, Message, ModelCard, Tokens, ToolResult, ToolSchema,
};
use tokio::time::{Instant, sleep};

/// How soon the server must have noticed that nobody listens any more.
const SOON: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "a test that is run on demand has no other way to be told")]
fn server() -> String {
    let name = "THERMIDOR_REAL_SERVER";
    let address = std::env::var(name).unwrap_or_else(|_| panic!("{name} names no server"));
    address.trim_end_matches('/').to_owned()
}

/// The same server behind the endpoint of a dialect.
fn provider(dialect: Dialect) -> Provider {
    let path = if dialect == Dialect::AnthropicMessages { "" } else { "/v1" };
    Provider { dialect, base_url: server() + path, ..Provider::new("local", server()) }
}

async fn ask_by(dialect: Dialect, request: ChatRequest) -> Result<ChatStream, Error> {
    let runtime = ModelRuntime::builder().provider(provider(dialect)).build().expect("a runtime");
    runtime.model("local/small").expect("a local model needs no key").stream(request).await
}

async fn ask(request: ChatRequest) -> Result<ChatStream, Error> {
    ask_by(Dialect::OpenaiChat, request).await
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
#[expect(clippy::print_stdout, reason = "the figures are what one runs these tests for")]
async fn listen(mut stream: ChatStream) -> (usize, String, StreamEnd) {
    let (mut fragments, mut text) = (0, String::new());
    while let Some(event) = stream.next().await {
        match event {
            ChatEvent::Text(fragment) => {
                fragments += 1;
                text.push_str(&fragment);
            }
            ChatEvent::Ended(end) => {
                let usage = end.message.usage;
                println!("\ntokens {}", usage.input.0 + usage.output.0);
                return (fragments, text, *end);
            }
            ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => {}
        }
    }
    panic!("the stream had no end");
}

/// Fails if fragments are gathered up, or if the server's own figures are not the ones that count.
async fn streams_and_counts(dialect: Dialect) -> StreamEnd {
    let stream =
        ask_by(dialect, request("Tell a long story about a lighthouse.", 40)).await.expect("an answer");
    let (fragments, text, end) = listen(stream).await;
    assert!(fragments > 10, "{fragments} fragments: {text}");
    let usage = end.message.usage;
    assert_eq!((usage.measure, usage.output), (Measure::Reported, Tokens(40)), "{text}");
    assert!(usage.input > Tokens(5), "{usage:?}");
    assert_eq!(end.message.text(), text);
    assert!(end.unknown.is_empty(), "{:?}", end.unknown);
    end
}

/// Would fail if the format's chunks of usage were not read, or if a cut answer were taken for a finished one.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn an_answer_streams_and_the_server_counts() {
    assert_eq!(streams_and_counts(Dialect::OpenaiChat).await.ending, StreamEnding::Length);
}

/// Would fail if the two halves of the usage, one at the start and one at the end, were not put together.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn messages_an_answer_streams_and_the_server_counts() {
    assert_eq!(streams_and_counts(Dialect::AnthropicMessages).await.ending, StreamEnding::Length);
}

/// Would fail if events without places and numbers were not put together. The server calls any answer of this
/// format completed, one that reached its limit too, so the ending is not judged.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn responses_an_answer_streams_and_the_server_counts() {
    streams_and_counts(Dialect::OpenaiResponses).await;
}

/// Would fail if the prompt were counted with its cached part in one format and without it in another.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn all_formats_count_the_same_prompt_alike() {
    let mut counted = Vec::new();
    for dialect in [Dialect::OpenaiChat, Dialect::AnthropicMessages, Dialect::OpenaiResponses] {
        let stream = ask_by(dialect, request("What is the capital of Italy?", 4)).await.expect("an answer");
        let usage = listen(stream).await.2.message.usage;
        counted.push(usage.input);
    }
    assert!(counted.iter().all(|input| *input == counted[0]), "{counted:?}");
}

async fn finishes(dialect: Dialect) {
    let stream =
        ask_by(dialect, request("What is the capital of France? Answer in one short sentence.", 200)).await;
    let (_, text, end) = listen(stream.expect("an answer")).await;
    assert_eq!(end.ending, StreamEnding::Finished, "{text}");
    assert!(!text.is_empty() && end.message.text() == text, "{text}");
}

/// Would fail if the end of a short answer were taken for a cut.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_short_answer_is_finished() {
    finishes(Dialect::OpenaiChat).await;
}

/// Would fail if the end of a turn in Anthropic's format were taken for a cut.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn messages_a_short_answer_is_finished() {
    finishes(Dialect::AnthropicMessages).await;
}

/// Would fail if a completed response were taken for a cut.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn responses_a_short_answer_is_finished() {
    finishes(Dialect::OpenaiResponses).await;
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

/// A tool that the server's own template could not offer to so small a model.
fn weather() -> ToolSchema {
    let parameters = r#"{"type":"object","properties":{"city":{"type":"string","maxLength":20},"unit":{"enum":["celsius","fahrenheit"]}},
        "required":["city","unit"],"additionalProperties":false}"#;
    ToolSchema {
        name: "weather".into(),
        description: "Tells the weather of a city.".into(),
        parameters: Json::parse(parameters).expect("JSON"),
    }
}

/// Would fail if the union of tools did not hold the model to a call, or if a call with its result made a
/// history that the server refuses.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_model_without_tools_calls_one_and_reads_its_result() {
    let local = provider(Dialect::OpenaiChat);
    let mut card: ModelCard = local.unknown_card("small");
    (card.abilities.tools, card.abilities.structured_output) = (false, true);
    let runtime = ModelRuntime::builder().provider(local).card(card).build().expect("a runtime");
    let model = runtime.model("local/small").expect("a local model needs no key");
    let first = ChatRequest {
        tools: vec![weather()],
        tool_choice: ToolChoice::Required,
        call_prefix: "turn".into(),
        ..request("What is the weather in Paris, in celsius?", 120)
    };
    let (_, text, end) = listen(model.stream(first.clone()).await.expect("an answer")).await;
    assert_eq!((end.ending, text.as_str()), (StreamEnding::Finished, ""));
    let mut turn: AssistantMessage = end.message;
    let exchange = turn.exchanges_mut().next().expect("a call");
    let call = &exchange.call;
    assert_eq!((call.name.as_str(), call.id.as_str()), ("weather", "turn.0"));
    let arguments: Value = serde_json::from_str(&call.arguments).expect("whole arguments");
    let fields = arguments.as_object().expect("an object");
    assert!(fields.len() == 2 && fields["city"].is_string(), "{arguments}");
    assert!(["celsius", "fahrenheit"].map(Value::from).contains(&fields["unit"]), "{arguments}");

    exchange.result = Some(ToolResult::text("18 degrees celsius, clear sky"));
    let mut second = ChatRequest { tool_choice: ToolChoice::None, call_prefix: "next".into(), ..first };
    second.messages.push(Message::Assistant(turn));
    let (_, text, end) = listen(model.stream(second).await.expect("the history is accepted")).await;
    assert!(matches!(end.ending, StreamEnding::Finished | StreamEnding::Length), "{:?}", end.ending);
    assert!(!text.is_empty() && end.message.exchanges().next().is_none(), "{text}");
}

async fn overflows(dialect: Dialect) {
    let error = ask_by(dialect, request(&"word ".repeat(40_000), 4)).await.err().expect("refused");
    assert_eq!((error.kind(), error.status()), (FailureKind::ContextTooLong, Some(400)), "{error}");
    assert!(error.to_string().contains("tokens"), "{error}");
}

/// Would fail if a prompt that no retry can make fit were taken for any other bad request.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_prompt_longer_than_the_window_is_called_that() {
    overflows(Dialect::OpenaiChat).await;
}

/// Would fail if the refusal were read in Anthropic's form alone, which is not the server's.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn messages_a_prompt_longer_than_the_window_is_called_that() {
    overflows(Dialect::AnthropicMessages).await;
}

/// Would fail if the refusal of a response were taken for any other bad request.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn responses_a_prompt_longer_than_the_window_is_called_that() {
    overflows(Dialect::OpenaiResponses).await;
}

/// Would fail if the window were that of the row, and not the one the server was started with.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn the_server_is_discovered_with_its_window() {
    let runtime =
        ModelRuntime::builder().base_url("llamacpp", format!("{}/v1", server())).build().expect("a runtime");
    let found = runtime.discover_local().await;
    let found = found.iter().find(|found| found.provider == "llamacpp").expect("the server");
    let [card] = &found.models[..] else { panic!("{found:?}") };
    let properties = json("/props").await;
    let window = properties["default_generation_settings"]["n_ctx"].as_u64().expect("a window");
    assert_eq!(card.context_window, Tokens(window));
    assert!(!card.id.model().is_empty(), "{card:?}");
}

async fn frees_its_slot(dialect: Dialect) {
    let long = request("Tell a very long story about a lighthouse.", 4_000);
    let mut stream = ask_by(dialect, long).await.expect("an answer");
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

/// Would fail if the server went on writing for nobody.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn a_stream_that_is_dropped_ends_at_the_server() {
    frees_its_slot(Dialect::OpenaiChat).await;
}

/// Would fail if the server went on writing a message for nobody.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn messages_a_stream_that_is_dropped_ends_at_the_server() {
    frees_its_slot(Dialect::AnthropicMessages).await;
}

/// Would fail if the server went on writing a response for nobody.
#[tokio::test]
#[ignore = "needs a real server: `cargo xtask real-model`"]
async fn responses_a_stream_that_is_dropped_ends_at_the_server() {
    frees_its_slot(Dialect::OpenaiResponses).await;
}

/// Whether the server works on an answer.
async fn busy() -> bool {
    let slots = json("/slots").await;
    slots.as_array().expect("a list of slots").iter().any(|slot| slot["is_processing"] == true)
}

/// What the server says of itself.
async fn json(path: &str) -> Value {
    let response = reqwest::get(server() + path).await.expect("the server answers");
    serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON")
}

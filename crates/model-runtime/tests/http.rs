//! The client against a server that does what it is told, byte by byte.

use std::{error::Error as _, time::Duration};

use futures_util::StreamExt;
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, Dialect, Error, ModelRuntime, Provider, RetryPolicy, StreamEnd,
    StreamEnding, Timeouts,
};
use thermidor_types::{Currency, Ending, FailureKind, Measure, Message, ModelCard, ModelId, Price, Tokens};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const KEY: &str = "sk-very-secret-0123456789";

/// One thing the server does on a connection.
#[derive(Clone)]
enum Act {
    Write(Vec<u8>),
    Wait(u64),
    /// Keeps the connection open until the client leaves.
    Hang,
    /// Expects another request on the same connection.
    NextRequest,
}

fn say(text: impl Into<Vec<u8>>) -> Act {
    Act::Write(text.into())
}

fn head(status: &str, headers: &str) -> Act {
    say(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n"))
}

fn stream_head() -> Act {
    head("200 OK", "content-type: text/event-stream\r\nx-request-id: req-7\r\n")
}

fn words(text: &str) -> Act {
    say(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"))
}

fn stop() -> Act {
    say("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
}

fn done() -> Act {
    say("data: [DONE]\n\n")
}

/// Answers one connection per script, in order, and keeps what was asked.
struct Server {
    base_url: String,
    tasks: JoinSet<Vec<String>>,
}

impl Server {
    async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("bound"));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut requests = Vec::new();
            for script in scripts {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                requests.push(read_request(&mut socket).await);
                act(&mut socket, script).await;
            }
            requests
        });
        Self { base_url, tasks }
    }

    async fn requests(mut self) -> Vec<String> {
        self.tasks.join_next().await.expect("one task").expect("no panic")
    }
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut block = [0; 4096];
        let read = socket.read(&mut block).await.expect("readable");
        text.extend_from_slice(&block[..read]);
        let seen = String::from_utf8_lossy(&text);
        if let Some((head, body)) = seen.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().expect("a number") {
                return seen.into_owned();
            }
        }
        assert!(read > 0, "the request was cut");
    }
}

async fn act(socket: &mut TcpStream, script: Vec<Act>) {
    for act in script {
        match act {
            Act::Write(bytes) => {
                if socket.write_all(&bytes).await.is_err() {
                    return; // the client left: some scripts wait for that
                }
            }
            Act::Wait(milliseconds) => tokio::time::sleep(Duration::from_millis(milliseconds)).await,
            Act::NextRequest => drop(read_request(socket).await),
            Act::Hang => {
                let mut rest = [0; 64];
                while matches!(socket.read(&mut rest).await, Ok(read) if read > 0) {}
            }
        }
    }
}

fn card() -> ModelCard {
    let price = Price::new(Currency::USD, 1_000_000, 2_000_000);
    ModelCard { price: Some(price), ..ModelCard::unknown(ModelId::new("lab", "m"), Tokens(8000)) }
}

fn model(base_url: &str, timeouts: Timeouts, attempts: u32) -> std::sync::Arc<dyn ChatModel> {
    model_of(Provider::new("lab", base_url), timeouts, attempts)
}

fn model_of(provider: Provider, timeouts: Timeouts, attempts: u32) -> std::sync::Arc<dyn ChatModel> {
    let retry = RetryPolicy { attempts, first_wait: Duration::from_millis(1), ..RetryPolicy::default() };
    let runtime = ModelRuntime::builder()
        .provider(provider)
        .card(card())
        .key("lab", KEY)
        .retry(retry)
        .timeouts(timeouts)
        .build()
        .expect("sound");
    runtime.model("lab/m").expect("known")
}

fn quick() -> Timeouts {
    let time = Duration::from_millis(150);
    Timeouts { connect: time, first_event: time, between_events: time, total: Duration::from_secs(5) }
}

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::user("Hi")],
        idempotency_key: Some("tree/run/1".into()),
        ..ChatRequest::default()
    }
}

async fn answer_within(script: Vec<Act>, timeouts: Timeouts) -> Result<(Vec<String>, StreamEnd), Error> {
    let server = Server::start(vec![script]).await;
    heard(model(&server.base_url, timeouts, 1).as_ref()).await
}

async fn heard(model: &dyn ChatModel) -> Result<(Vec<String>, StreamEnd), Error> {
    let stream = model.stream(request()).await?;
    let mut events: Vec<_> = stream.collect().await;
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("no end") };
    let texts = events.iter().map(|event| match event {
        ChatEvent::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    });
    Ok((texts.collect(), *end))
}

async fn answer(script: Vec<Act>) -> Result<(Vec<String>, StreamEnd), Error> {
    answer_within(script, Timeouts::default()).await
}

async fn refusal(script: Vec<Act>) -> Error {
    answer_within(script, quick()).await.expect_err("a failure before the first event is an error")
}

#[tokio::test]
async fn an_answer_is_streamed_metered_and_priced() {
    let usage = say("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\n");
    let server = Server::start(vec![vec![
        stream_head(),
        words("Hel"),
        Act::Wait(30),
        words("lo"),
        stop(),
        usage,
        done(),
    ]])
    .await;
    let model = model(&server.base_url, Timeouts::default(), 1);
    let events: Vec<_> = model.stream(request()).await.expect("an answer").collect().await;
    let [ChatEvent::Text(first), ChatEvent::Text(second), ChatEvent::Ended(end)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((first.as_str(), second.as_str()), ("Hel", "lo"));
    assert_eq!((end.ending.clone(), end.message.text().as_str()), (StreamEnding::Finished, "Hello"));
    assert_eq!(end.message.usage.measure, Measure::Reported);
    assert_eq!(end.message.usage.cost.map(|cost| cost.micros()), Some(20));

    let requests = server.requests().await;
    let [asked] = requests.as_slice() else { panic!("{requests:?}") };
    assert!(asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("authorization: Bearer {KEY}\r\n")), "{asked}");
    assert!(asked.contains("idempotency-key: tree/run/1\r\n"), "{asked}");
    assert!(asked.ends_with(r#""messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}}"#), "{asked}");
}

#[tokio::test]
async fn a_burst_of_small_chunks_is_one_event() {
    let burst: Vec<u8> = (0..500)
        .flat_map(|_| match words("x") {
            Act::Write(bytes) => bytes,
            Act::Wait(_) | Act::Hang | Act::NextRequest => Vec::new(),
        })
        .collect();
    let (texts, end) = answer(vec![stream_head(), say(burst), stop(), done()]).await.expect("an answer");
    assert!(texts.len() < 50, "{} events", texts.len());
    assert_eq!((texts.concat().len(), end.message.text().len()), (500, 500));
    // Nobody counted: 2 characters in, with 4 tokens around the message, and 500 out, 4 characters a token.
    let usage = end.message.usage;
    assert_eq!((usage.input.0, usage.output.0, usage.measure), (5, 125, Measure::Estimated));
}

#[tokio::test]
async fn a_character_cut_by_the_network_is_whole() {
    let Act::Write(bytes) = words("答案🦀") else { panic!("words are written") };
    let mut script = vec![stream_head()];
    for byte in bytes {
        script.extend([say([byte]), Act::Wait(1)]);
    }
    script.extend([stop(), done()]);
    let (texts, _) = answer(script).await.expect("an answer");
    assert_eq!(texts, ["答案🦀"]);
}

/// A server may keep the socket open after the end.
#[tokio::test]
async fn the_end_is_not_waited_for() {
    let start = std::time::Duration::from_secs(2);
    let open = answer(vec![stream_head(), words("Hello"), stop(), done(), Act::Hang]);
    let (_, end) = tokio::time::timeout(start, open).await.expect("at once").expect("an answer");
    assert_eq!(end.ending, StreamEnding::Finished);
    let silent = answer_within(vec![stream_head(), words("Hello"), stop(), Act::Hang], quick());
    let (_, end) = tokio::time::timeout(start, silent).await.expect("soon").expect("an answer");
    assert_eq!(end.ending, StreamEnding::Finished);
}

#[tokio::test]
async fn a_cut_and_a_silence_after_words_are_endings() {
    let kind = |end: &StreamEnd| match &end.ending {
        StreamEnding::CutOff(failure) => failure.kind,
        other => panic!("{other:?}"),
    };
    let (texts, end) = answer(vec![stream_head(), words("Par")]).await.expect("words came");
    assert_eq!((texts.concat().as_str(), kind(&end)), ("Par", FailureKind::Network));
    // The body is shorter than announced.
    let short = head("200 OK", "content-type: text/event-stream\r\ncontent-length: 9999\r\n");
    let (_, end) = answer(vec![short, words("Par")]).await.expect("words came");
    assert_eq!(kind(&end), FailureKind::Network);
    let (_, end) =
        answer_within(vec![stream_head(), words("Par"), Act::Hang], quick()).await.expect("words came");
    assert_eq!(kind(&end), FailureKind::Timeout);
    // Keep-alive comments are no events; an endless stream ends in time.
    let mut alive = vec![stream_head(), words("Par")];
    alive.extend((0..20).flat_map(|_| [say(": alive\n\n"), Act::Wait(40)]));
    let (_, end) = answer_within(alive, quick()).await.expect("words came");
    assert_eq!(kind(&end), FailureKind::Timeout);
    let mut endless = vec![stream_head()];
    endless.extend((0..200).flat_map(|_| [words("x"), Act::Wait(20)]));
    let times = Timeouts { total: Duration::from_millis(400), ..quick() };
    let (_, end) = answer_within(endless, times).await.expect("words came");
    assert_eq!(kind(&end), FailureKind::Timeout);
}

/// Would fail if a server that overlooks the longest answer, or a model in a loop there, could spend without end.
#[tokio::test]
async fn an_answer_far_beyond_its_limit_is_not_read_on() {
    let mut endless = vec![stream_head()];
    endless.extend((0..500).flat_map(|_| [words("again "), Act::Wait(5)]));
    let server = Server::start(vec![endless]).await;
    let request = ChatRequest { max_output: Some(Tokens(10)), ..request() };
    let stream = model(&server.base_url, Timeouts::default(), 1).stream(request).await.expect("words came");
    let mut events: Vec<_> = stream.collect().await;
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("no end") };
    assert_eq!((&end.ending, end.message.ending), (&StreamEnding::Length, Ending::Length));
    let text = end.message.text();
    assert!((160..400).contains(&text.len()), "ten tokens were asked for: {} bytes", text.len());
}

/// Would fail if a server that is not started looked like a name that is not known.
#[tokio::test]
async fn who_cannot_be_reached_is_named_with_port_and_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    drop(listener);
    let model = model(&format!("http://127.0.0.1:{port}/v1"), quick(), 1);
    let error = model.stream(request()).await.err().expect("nobody listens");
    let start = format!("127.0.0.1:{port} could not be reached: ");
    assert!(
        error.message().starts_with(&start) && error.message().contains("refused"),
        "{}",
        error.message()
    );
}

#[tokio::test]
async fn failures_before_the_first_word_are_errors() {
    let quiet = refusal(vec![stream_head(), Act::Hang]).await;
    assert_eq!(quiet.kind(), FailureKind::Timeout);
    let mute = refusal(vec![Act::Hang]).await;
    assert_eq!(mute.kind(), FailureKind::Timeout);
    let empty = refusal(vec![stream_head()]).await;
    assert_eq!(empty.kind(), FailureKind::Network);
    let page = refusal(vec![head("200 OK", "content-type: text/html\r\n"), say("<html>")]).await;
    assert_eq!(page.kind(), FailureKind::Malformed);

    let inside = refusal(vec![
        stream_head(),
        say("data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n"),
    ])
    .await;
    assert_eq!(
        (inside.kind(), inside.message(), inside.code()),
        (FailureKind::Overloaded, "Busy", Some("overloaded_error"))
    );
    assert_eq!(inside.request_id(), Some("req-7"));

    let limited = head("429 Too Many Requests", "retry-after: 3\r\nx-request-id: req-8\r\n");
    let limited = refusal(vec![limited, say("{\"error\":{\"message\":\"slow\"}}")]).await;
    assert_eq!(
        (limited.kind(), limited.status(), limited.request_id()),
        (FailureKind::RateLimited, Some(429), Some("req-8"))
    );
    assert_eq!(limited.retry_after(), Some(Duration::from_secs(3)));
}

/// Providers quote keys back. They must not reach logs, journals or screens.
#[tokio::test]
async fn the_key_is_in_no_message() {
    let wrong = head("401 Unauthorized", "");
    let error = refusal(vec![wrong, say(format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}"))]).await;
    assert_eq!((error.kind(), error.message()), (FailureKind::Credentials, "bad key [key]"));
    assert!(!format!("{error:?} {error} {}", error.to_failure()).contains(KEY));
    let late = say(format!("data: {{\"error\":{{\"message\":\"bad key {KEY}\"}}}}\n\n"));
    let (_, end) = answer(vec![stream_head(), words("a"), late]).await.expect("words came");
    assert!(
        matches!(&end.ending, StreamEnding::Failed(failure) if failure.message == "bad key [key]"),
        "{end:?}"
    );
    let model = model("http://127.0.0.1:9/v1", quick(), 1);
    let unreachable = model.stream(request()).await.err().expect("nobody is there");
    assert!(unreachable.source().is_some());
    assert_eq!(unreachable.kind(), FailureKind::Network);
    let runtime = ModelRuntime::builder().key("openai", KEY).build().expect("sound");
    assert!(!format!("{runtime:?}").contains(KEY));
}

#[tokio::test]
async fn a_failed_call_is_tried_again_over_a_new_connection() {
    let busy = vec![head("503 Service Unavailable", "")];
    let fine = vec![stream_head(), words("Hello"), stop(), done()];
    let server = Server::start(vec![busy, fine]).await;
    let stream = model(&server.base_url, quick(), 3).stream(request()).await.expect("the second try");
    assert_eq!(stream.count().await, 2);
    assert_eq!(server.requests().await.len(), 2);
}

#[tokio::test]
async fn a_whole_answer_to_a_request_for_a_stream_is_read() {
    let json = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let json_head =
        head("200 OK", &format!("content-type: application/json\r\ncontent-length: {}\r\n", json.len()));
    let (texts, end) = answer(vec![json_head, say(json)]).await.expect("an answer");
    assert_eq!((texts.concat().as_str(), end.ending), ("Hello", StreamEnding::Finished));
}

/// A handshake for every call would cost more than the call: the end of a body is read although `[DONE]` came.
#[tokio::test]
async fn a_connection_serves_the_next_call() {
    let head =
        say("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let one = [head, say(format!("{:x}\r\n{body}\r\n", body.len())), Act::Wait(10), say("0\r\n\r\n")];
    let script = one.iter().cloned().chain([Act::NextRequest]).chain(one.iter().cloned()).collect();
    let server = Server::start(vec![script]).await;
    let model = model(&server.base_url, quick(), 1);
    for _ in 0..2 {
        let events: Vec<_> = model.stream(request()).await.expect("an answer").collect().await;
        assert!(matches!(events.last(), Some(ChatEvent::Ended(end)) if end.ending == StreamEnding::Finished));
    }
    server.requests().await;
}

/// Dropping the answer closes the connection: the provider stops working for nobody.
#[tokio::test]
async fn dropping_the_answer_stops_the_request() {
    let server = Server::start(vec![vec![stream_head(), words("a"), Act::Hang]]).await;
    let stream = model(&server.base_url, Timeouts::default(), 1).stream(request()).await.expect("words came");
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), server.requests())
        .await
        .expect("the server saw the client leave");
}

#[tokio::test]
async fn servers_on_this_machine_are_found() {
    let json = r#"{"object":"list","data":[{"id":"qwen3"},{"id":"nomic-embed"},{"id":"llama","max_model_len":4096}]}"#;
    let listing = vec![head("200 OK", "content-type: application/json\r\n"), say(json)];
    let server = Server::start(vec![listing]).await;
    let other = Server::start(vec![vec![head("404 Not Found", "")]]).await;
    let runtime = ModelRuntime::builder()
        .base_url("vllm", &server.base_url)
        .base_url("ollama", &other.base_url)
        .base_url("xinference", "http://127.0.0.1:9/v1")
        .base_url("lmstudio", "http://127.0.0.1:9/v1")
        .base_url("llamacpp", "http://127.0.0.1:9/v1")
        .build()
        .expect("sound");
    let found = runtime.discover_local().await;
    let [vllm] = found.as_slice() else { panic!("{found:?}") };
    let models: Vec<_> =
        vllm.models.iter().map(|card| (card.id.to_string(), card.context_window.0)).collect();
    assert_eq!(models, [("vllm/qwen3".to_owned(), 8192), ("vllm/llama".to_owned(), 4096)]);
    let asked = server.requests().await;
    assert!(asked[0].starts_with("GET /v1/models "), "{asked:?}");
}

/// The same server, answering in the format of `POST /responses`.
mod openai_responses {
    use super::*;

    fn event(kind: &str, fields: &str) -> Act {
        say(format!("event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",{fields}}}\n\n"))
    }

    fn delta(text: &str) -> Act {
        event("output_text.delta", &format!(r#""output_index":0,"content_index":0,"delta":"{text}""#))
    }

    fn completed() -> Act {
        let usage = r#"{"input_tokens":3,"output_tokens":4,"total_tokens":7}"#;
        event("completed", &format!(r#""response":{{"status":"completed","output":[],"usage":{usage}}}"#))
    }

    async fn answer(script: Vec<Act>) -> Result<(Vec<String>, StreamEnd), Error> {
        let server = Server::start(vec![script]).await;
        let lab = Provider::new("lab", &server.base_url);
        let provider = Provider { dialect: Dialect::OpenaiResponses, ..lab };
        heard(model_of(provider, Timeouts::default(), 1).as_ref()).await
    }

    /// Would fail if the request went to another path, or asked the provider to keep it.
    #[tokio::test]
    async fn the_request_goes_to_its_own_path_and_nothing_is_stored() {
        let server = Server::start(vec![vec![stream_head(), delta("Hello"), completed()]]).await;
        let lab = Provider::new("lab", &server.base_url);
        let provider = Provider { dialect: Dialect::OpenaiResponses, ..lab };
        let (texts, end) =
            heard(model_of(provider, Timeouts::default(), 1).as_ref()).await.expect("an answer");
        assert_eq!((texts.concat().as_str(), end.ending), ("Hello", StreamEnding::Finished));
        assert_eq!(end.message.usage.total(), Tokens(7));
        let asked = server.requests().await.concat();
        assert!(asked.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{asked}");
        assert!(asked.ends_with(r#""store":false,"stream":true}"#), "{asked}");
    }

    #[tokio::test]
    async fn a_character_cut_by_the_network_is_whole() {
        let Act::Write(bytes) = delta("答案🦀") else { panic!("words are written") };
        let mut script = vec![stream_head()];
        for byte in bytes {
            script.extend([say([byte]), Act::Wait(1)]);
        }
        script.push(completed());
        assert_eq!(answer(script).await.expect("an answer").0, ["答案🦀"]);
    }

    /// A server may keep the socket open after the end.
    #[tokio::test]
    async fn the_end_is_not_waited_for() {
        let open = answer(vec![stream_head(), delta("Hello"), completed(), Act::Hang]);
        let (_, end) =
            tokio::time::timeout(Duration::from_secs(2), open).await.expect("at once").expect("an answer");
        assert_eq!(end.ending, StreamEnding::Finished);
        assert_eq!(end.message.usage.measure, Measure::Reported);
    }

    #[tokio::test]
    async fn a_stream_without_its_last_event_is_cut_off() {
        let (texts, end) = answer(vec![stream_head(), delta("Par")]).await.expect("words came");
        assert_eq!(texts.concat(), "Par");
        assert!(
            matches!(&end.ending, StreamEnding::CutOff(failure) if failure.kind == FailureKind::Network),
            "{:?}",
            end.ending
        );
        assert_eq!(end.message.ending, Ending::CutOff);
    }

    /// A failure before the first word can be tried again, one after it is an ending.
    #[tokio::test]
    async fn an_error_event_is_an_error_before_words_and_an_ending_after_them() {
        let error = || {
            say(
                "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Slow down.\"}\n\n",
            )
        };
        let refused = answer(vec![stream_head(), error()]).await.expect_err("an error");
        assert_eq!(refused.kind(), FailureKind::RateLimited);
        let (_, end) = answer(vec![stream_head(), delta("Par"), error()]).await.expect("words came");
        assert!(
            matches!(&end.ending, StreamEnding::Failed(failure) if failure.kind == FailureKind::RateLimited),
            "{:?}",
            end.ending
        );
    }
}

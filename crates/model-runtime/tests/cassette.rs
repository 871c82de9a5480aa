//! What is recorded is answered again, without the server and without a key.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures_util::StreamExt;
use tempfile::TempDir;
use thermidor_model_runtime::{
    Cassette, ChatEvent, ChatModel, ChatRequest, Error, ModelRuntime, ModelRuntimeBuilder, Provider,
    RetryPolicy,
};
use thermidor_types::{FailureKind, Message, ModelId, Timestamp};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const KEY: &str = "sk-very-secret-0123456789";
const GOLDEN: &str = include_str!("../testdata/cassettes/v1.jsonl");

fn at() -> Timestamp {
    "2026-03-05T07:30:00Z".parse().expect("a time")
}

fn builder(base_url: &str) -> ModelRuntimeBuilder {
    let retry = RetryPolicy { attempts: 2, first_wait: Duration::from_millis(1), ..RetryPolicy::default() };
    ModelRuntime::builder().provider(Provider::new("lab", base_url)).retry(retry)
}

fn model(builder: ModelRuntimeBuilder) -> Arc<dyn ChatModel> {
    builder.build().expect("sound").model("lab/m").expect("ready")
}

fn tape() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    (folder, path)
}

fn request(prompt: &str) -> ChatRequest {
    ChatRequest { messages: vec![Message::user(prompt)], ..ChatRequest::default() }
}

/// All that a caller gets, pieces of text put together.
async fn heard(model: &dyn ChatModel, request: ChatRequest) -> String {
    let mut events = match model.stream(request).await {
        Ok(events) => events,
        Err(error) => {
            let (status, id, wait) = (error.status(), error.request_id(), error.retry_after());
            return format!("{:?} {status:?} {id:?} {wait:?}: {error}", error.kind());
        }
    };
    let (mut words, mut end) = (String::new(), String::new());
    while let Some(event) = events.next().await {
        match event {
            ChatEvent::Text(text) => words += &text,
            ChatEvent::Ended(ended) => end = format!("{:?} {:?}", ended.ending, ended.message),
            other => write!(words, "{other:?}").expect("written"),
        }
    }
    format!("{words} | {end}")
}

async fn refused(model: &dyn ChatModel, request: ChatRequest) -> Error {
    model.stream(request).await.err().expect("no answer")
}

/// Answers one connection after another with these bytes. One that ends in `…` stays open.
async fn serve(answers: Vec<Vec<u8>>) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("bound"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.expect("a connection");
            read_request(&mut socket).await;
            let open = answer.strip_suffix("…".as_bytes());
            socket.write_all(open.unwrap_or(&answer)).await.expect("written");
            if open.is_some() {
                let mut rest = [0; 64];
                while matches!(socket.read(&mut rest).await, Ok(read) if read > 0) {}
            }
        }
    });
    (base_url, tasks)
}

async fn read_request(socket: &mut TcpStream) {
    let mut text = Vec::new();
    loop {
        let mut block = [0; 4096];
        let read = socket.read(&mut block).await.expect("readable");
        text.extend_from_slice(&block[..read]);
        let seen = String::from_utf8_lossy(&text);
        if let Some((head, body)) = seen.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().expect("a number") {
                return;
            }
        }
        assert!(read > 0, "the request was cut");
    }
}

fn head(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n")
}

fn words(text: &str) -> String {
    let head = head("200 OK", "content-type: text/event-stream\r\n");
    format!("{head}data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn said(text: &str) -> Vec<u8> {
    [&words(text), STOP, USAGE, DONE].concat().into()
}

/// Records one call, lets the server go, and replays it without a key.
async fn twice(answers: Vec<Vec<u8>>) -> (String, String) {
    let (_folder, path) = tape();
    let (base_url, server) = serve(answers).await;
    let recorded =
        heard(&*model(builder(&base_url).key("lab", KEY).record(&path, at())), request("Hi")).await;
    drop(server);
    let text = fs::read_to_string(&path).expect("a file");
    assert!(!text.contains(KEY), "{text}");
    let replayed = heard(&*model(builder("https://nowhere.invalid/v1").replay(&path)), request("Hi")).await;
    assert_eq!(replayed, recorded, "{text}");
    (recorded, text)
}

/// Would fail if a replayed call ended in another way than the recorded one did.
#[tokio::test]
async fn a_recording_answers_as_the_server_did() {
    let (heard, _) = twice(vec![said("Hello")]).await;
    assert!(heard.starts_with("Hello | Finished") && heard.contains("Reported"), "{heard}");

    let length = "content-type: text/event-stream\r\ncontent-length: 5000\r\n";
    let half = words("Half").replace("content-type: text/event-stream\r\n", length);
    let (heard, text) = twice(vec![half.into()]).await;
    assert!(heard.starts_with("Half | CutOff") && heard.contains("broke inside"), "{heard}");
    assert!(text.contains(r#""ending":"broke""#), "{text}");

    let (heard, text) = twice(vec![[&words("Open"), STOP, DONE, "…"].concat().into()]).await;
    assert!(heard.starts_with("Open | Finished"), "{heard}");
    assert!(text.contains(r#""ending":"left""#), "{text}");

    let quoting = format!(
        "{}{{\"error\":{{\"message\":\"no such key: {KEY}\"}}}}",
        head("401 Unauthorized", "x-request-id: req-7\r\n")
    );
    let (heard, text) = twice(vec![quoting.into()]).await;
    assert!(
        heard.starts_with("Credentials Some(401) Some(\"req-7\")") && heard.contains("no such key: [key]"),
        "{heard}"
    );
    assert!(text.contains("no such key: [key]"), "{text}");

    let busy = head("429 Too Many Requests", "retry-after-ms: 3\r\n").into_bytes();
    let (heard, text) = twice(vec![busy.clone(), said("Later")]).await;
    assert!(heard.starts_with("Later | Finished"), "{heard}");
    assert_eq!(text.lines().count(), 3, "{text}");
    let (heard, _) = twice(vec![busy.clone(), busy]).await;
    assert!(heard.starts_with("RateLimited Some(429) None Some(3ms)"), "{heard}");

    let mut bytes = head("400 Bad Request", "").into_bytes();
    bytes.extend([0xFF, 0xEF, 0xBE]);
    let (_, text) = twice(vec![bytes]).await;
    assert!(text.contains(r#""response":{"base64":"/+++"}"#), "{text}");
}

/// A call that reached nobody is tried again and told as it was.
#[tokio::test]
async fn an_unreachable_server_stays_unreachable() {
    let (_folder, path) = tape();
    let (base_url, server) = serve(Vec::new()).await;
    drop(server);
    let error = refused(&*model(builder(&base_url).record(&path, at())), request("Hi")).await;
    assert_eq!(error.kind(), FailureKind::Network);
    let error = refused(&*model(builder(&base_url).replay(&path)), request("Hi")).await;
    assert!(
        error.kind() == FailureKind::Network && error.message().contains("could not be reached"),
        "{error}"
    );
}

/// Would fail if an answer that somebody stopped were lost, or passed for a whole one.
#[tokio::test]
async fn a_dropped_answer_is_recorded_as_far_as_it_came() {
    let (_folder, path) = tape();
    let (base_url, _server) = serve(vec![format!("{}…", words("Begun")).into()]).await;
    let model = model(builder(&base_url).record(&path, at()));
    let mut events = model.stream(request("Hi")).await.expect("an answer");
    assert!(matches!(events.next().await, Some(ChatEvent::Text(text)) if text == "Begun"));
    drop(events);
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.contains("Begun") && text.contains(r#""ending":"left""#), "{text}");
}

/// Equal requests are answered in their order, side by side or one by one, and then no more.
#[tokio::test]
async fn equal_requests_are_answered_in_order_and_once() {
    let (_folder, path) = tape();
    let (base_url, _server) = serve(vec![said("one"), said("two")]).await;
    let recording = model(builder(&base_url).record(&path, at()));
    for expected in ["one", "two"] {
        assert!(heard(&*recording, request("Hi")).await.starts_with(expected));
    }
    let replaying = model(builder(&base_url).replay(&path));
    for expected in ["one", "two"] {
        assert!(heard(&*replaying, request("Hi")).await.starts_with(expected));
    }
    let error = refused(&*replaying, request("Hi")).await;
    assert!(error.message().contains("is asked again; it was recorded 2 times"), "{error}");
}

/// Every line is whole, however many answers end at once.
#[tokio::test]
async fn calls_side_by_side_write_whole_lines() {
    let (_folder, path) = tape();
    let (base_url, _server) = serve((0..20).map(|n| said(&format!("answer {n}"))).collect()).await;
    let recording = model(builder(&base_url).record(&path, at()));
    let calls = (0..20).map(|n| heard(&*recording, request(&format!("call {n}"))));
    let recorded = futures_util::future::join_all(calls.collect::<Vec<_>>()).await;
    assert_eq!(Cassette::open(&path).expect("a cassette").len(), 20);
    let replaying = model(builder(&base_url).replay(&path));
    for (n, recorded) in recorded.iter().enumerate() {
        assert_eq!(heard(&*replaying, request(&format!("call {n}"))).await, *recorded);
    }
}

/// Would fail if a miss were tried again, led elsewhere, or left a person guessing.
#[tokio::test]
async fn a_miss_names_the_nearest_and_where_it_differs() {
    let (_folder, path) = tape();
    fs::write(&path, GOLDEN).expect("written");
    let runtime = builder("https://nowhere.invalid/v1").fallback("lab/m", ["lab/n"]).replay(&path);
    let runtime = runtime.build().expect("sound");
    let model = runtime.model("lab/m").expect("ready");
    let check = |error: &Error, expected: &str| {
        assert_eq!(
            (error.kind(), error.failover(), error.was_sent()),
            (FailureKind::Configuration, false, false)
        );
        assert_eq!(error.model(), &ModelId::new("lab", "m"), "it went elsewhere");
        let message = error.message().split_once("jsonl: ").expect("names the file").1;
        assert_eq!(message, expected);
    };
    let asked = "POST /v1/chat/completions was not recorded; the nearest of its kind, number 1, differs at ";
    check(
        &refused(&*model, request("Ho")).await,
        &format!("{asked}/messages/0/content: recorded \"Hi\", asked \"Ho\""),
    );
    let warm = ChatRequest { temperature: Some(0.5), ..request("Hi") };
    check(&refused(&*model, warm).await, &format!("{asked}/temperature: recorded nothing, asked 0.5"));
    let error = runtime.list("lab").await.expect_err("nothing was recorded");
    assert!(error.message().contains("recorded are POST /v1/chat/completions"), "{error}");
    assert!(heard(&*model, request("Hi")).await.starts_with("Good | Finished"), "a miss uses nothing up");
}

/// The first version is read for ever; what is no cassette is refused with its reason.
#[test]
fn files_are_checked() {
    let (_folder, path) = tape();
    let open = |text: &str| {
        fs::write(&path, text).expect("written");
        Cassette::open(&path)
    };
    let cassette = open(GOLDEN).expect("version 1");
    assert_eq!((cassette.len(), cassette.recorded_at()), (2, at()));
    assert_eq!(cassette.models(), [ModelId::new("lab", "m")]);
    let torn = &GOLDEN[..GOLDEN.len() - 40];
    assert_eq!(open(torn).expect("a torn last line is left out").len(), 1);
    let refused = |text: &str, expected: &str| {
        let error = open(text).expect_err(expected);
        assert_eq!(error.kind(), FailureKind::Configuration);
        assert!(error.message().contains(expected) && error.message().contains("tape.jsonl"), "{error}");
    };
    refused("", "is no cassette");
    refused("{\"kind\":\"other\",\"version\":1}\n", "is no cassette");
    refused(&GOLDEN.replace("\"version\":1", "\"version\":2"), "has version 2, this program reads up to 1");
    refused(&GOLDEN.replace("2026-03-05T07", "soon"), "line 1 recorded_at");
    refused(&GOLDEN.replace("\"method\":\"POST\",\"path\"", "\"path\""), "line 2 is no recorded exchange");
    let error = Cassette::open(Path::new("/nowhere/tape.jsonl")).expect_err("no file");
    assert!(error.message().contains("/nowhere/tape.jsonl cannot be read"), "{error}");
}

/// Would fail if a crash made a recording useless, or a second one wrote over the first.
#[tokio::test]
async fn a_recording_goes_on_after_what_is_there() {
    let (_folder, path) = tape();
    fs::write(&path, &GOLDEN[..GOLDEN.len() - 40]).expect("written");
    let (base_url, _server) = serve(vec![said("more")]).await;
    let later = Timestamp::from_millis(at().as_millis() + 1);
    heard(&*model(builder(&base_url).record(&path, later)), request("Go on")).await;
    let cassette = Cassette::open(&path).expect("a cassette");
    assert_eq!((cassette.len(), cassette.recorded_at()), (2, at()));
    fs::write(&path, "a letter").expect("written");
    let error = builder(&base_url).record(&path, at()).build().expect_err("it is somebody's file");
    assert!(error.message().contains("is no cassette"), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("text"), "a letter");
    let both = builder(&base_url).record(&path, at()).replay(&path).build().expect_err("one of them");
    assert!(both.message().contains("either records or replays"), "{both}");
}

/// Would fail if a replay asked for keys.
#[test]
fn in_a_replay_every_provider_is_ready() {
    let (_folder, path) = tape();
    fs::write(&path, GOLDEN).expect("written");
    let runtime = ModelRuntime::builder().replay(&path).build().expect("sound");
    assert!(runtime.providers().all(|provider| runtime.is_ready(provider)));
    runtime.model("openai/gpt-5-mini").expect("no key is asked for");
    runtime.listing("anthropic").expect("no key is asked for");
    assert!(runtime.card("lab/m").is_err(), "the row itself is not recorded");
}

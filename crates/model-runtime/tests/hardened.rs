//! Keys, times and calls where a server or a caller is odd.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    Auth, Breaker, BreakerPolicy, ChatEvent, ChatModel, ChatRequest, ChatStream, Dialect, Error, Limited,
    Limiter, Limits, ModelRuntime, Provider, Quirks, Retry, RetryPolicy, StreamEnd, StreamEnding, Timeouts,
    dialect::{Close, Decoder},
};
use thermidor_types::{AssistantMessage, Failure, FailureKind, Message, ModelCard, ModelId, Part, Tokens};

/// A model that gives these answers, one after the other.
struct Canned(ModelCard, Mutex<VecDeque<Vec<ChatEvent>>>);

impl Canned {
    fn new(answers: Vec<Vec<ChatEvent>>) -> Arc<Self> {
        let card = ModelCard::unknown(ModelId::new("lab", "m"), Tokens(1));
        Arc::new(Self(card, Mutex::new(answers.into())))
    }
}

#[async_trait]
impl ChatModel for Canned {
    fn card(&self) -> &ModelCard {
        &self.0
    }

    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, Error> {
        let next = self.1.lock().expect("no panic").pop_front().expect("one answer more");
        Ok(stream::iter(next).boxed())
    }
}

fn ended(ending: StreamEnding) -> ChatEvent {
    ChatEvent::Ended(Box::new(StreamEnd::new(AssistantMessage::default(), ending)))
}

fn read(dialect: Dialect, events: &[&str]) -> StreamEnd {
    let mut decoder = Decoder::new(dialect, ModelId::new("lab", "m"), "t", &Quirks::default());
    for event in events {
        decoder.feed(format!("data: {event}\n\n").as_bytes());
    }
    match decoder.finish(Close::EndOfStream).pop() {
        Some(ChatEvent::Ended(end)) => *end,
        other => panic!("no end: {other:?}"),
    }
}

fn calls(end: &StreamEnd) -> Vec<String> {
    end.message
        .exchanges()
        .map(|exchange| format!("{} {}", exchange.call.name, exchange.call.arguments))
        .collect()
}

/// Would fail if a call ran with `{}` because its arguments went to a call of no name.
#[test]
fn lost_arguments_are_not_absent_ones() {
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let check = |events: &[&str], expected: &[&str]| {
        assert_eq!(calls(&read(Dialect::OpenaiChat, &[events, &[end]].concat())), expected, "{events:?}");
    };
    // The index comes with the second delta only.
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"wipe","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}}]}"#,
        ],
        &["wipe "],
    );
    // Both halves of a call in one list, told by its id.
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"wipe"}},{"id":"x","function":{"arguments":"{\"a\":1}"}}]}}]}"#,
        ],
        &[r#"wipe {"a":1}"#],
    );
    check(
        &[r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"now","arguments":""}}]}}]}"#],
        &["now {}"],
    );
}

/// Would fail if arguments given with the start of a block were forgotten where the block's end does not come.
#[test]
fn a_stop_reason_ends_the_blocks_on_their_way() {
    let end = read(
        Dialect::AnthropicMessages,
        &[
            r#"{"type":"message_start","message":{"content":[]}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"wipe","input":{"a":1}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        ],
    );
    assert_eq!((calls(&end), &end.ending), (vec![r#"wipe {"a":1}"#.to_owned()], &StreamEnding::Finished));
}

/// Would fail if a clock overflowed where somebody means "for ever".
#[tokio::test(start_paused = true)]
async fn the_longest_times_there_are() {
    let ever = Duration::MAX;
    let gone = StreamEnding::CutOff(Failure::new(FailureKind::Network, "gone"));
    let script = Canned::new(vec![vec![ended(gone)]]);
    let limiter = Arc::new(Limiter::new(Limits { longest_wait: Some(ever), ..Limits::default() }));
    let policy = BreakerPolicy { failures: 1, open_for: ever, longest_open: ever };
    let retry = RetryPolicy { first_wait: ever, longest_wait: ever, longest_asked_wait: ever, attempts: 1 };
    let breaker = Breaker::new(Arc::new(Limited::new(script, limiter)), policy);
    let model = Retry::new(Arc::new(breaker), retry);
    for expected in ["gone", "taken to be down"] {
        let error = model.stream(ChatRequest::default()).await.err().expect("no answer");
        assert!(error.message().contains(expected), "{error}");
    }
}

fn served(answer: String) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    listener.set_nonblocking(true).expect("a setting");
    let thread = std::thread::spawn(move || {
        for _ in 0..200 {
            let Ok((mut socket, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            socket.set_nonblocking(false).expect("a setting");
            let mut asked = vec![0; 64 << 10];
            let read = socket.read(&mut asked).unwrap_or(0);
            let _ = socket.write_all(answer.as_bytes());
            return String::from_utf8_lossy(&asked[..read]).into_owned();
        }
        String::new()
    });
    (address, thread)
}

/// Would fail if a redirect took a key that travels in a header of its own to another place.
#[tokio::test]
async fn a_redirect_takes_no_key_elsewhere() {
    let (elsewhere, thief) = served("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
    let moved = format!("HTTP/1.1 307 Moved\r\nlocation: {elsewhere}/v1/x\r\ncontent-length: 0\r\n\r\n");
    let (address, _asked) = served(moved);
    let row = Provider { auth: Auth::Header("x-api-key".into()), ..Provider::new("lab", address) };
    let never = Timeouts { first_event: Duration::MAX, total: Duration::MAX, ..Timeouts::default() };
    let retry = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    let runtime = ModelRuntime::builder().provider(row).key("lab", "sk-secret").timeouts(never).retry(retry);
    let model = runtime.build().expect("valid").model("lab/m").expect("known");
    let request = ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() };
    let error = model.stream(request).await.err().expect("no answer");
    assert_eq!(error.status(), Some(307), "{error}");
    assert_eq!(thief.join().expect("no panic"), "");
}

/// Would fail if an answer that broke before its first word stayed broken because the model had thought in secret.
#[tokio::test]
async fn secret_thoughts_are_no_reason_not_to_try_again() {
    let mut decoder =
        Decoder::new(Dialect::OpenaiResponses, ModelId::new("lab", "m"), "t", &Quirks::default());
    decoder.feed(b"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"x\",\"summary\":[]}}\n\n");
    let events = decoder.finish(Close::EndOfStream);
    assert!(
        matches!(events.as_slice(), [ChatEvent::Ended(end)] if matches!(end.message.parts[..], [Part::Native(_)])),
        "{events:?}"
    );
    let good = vec![ChatEvent::Text("fine".into()), ended(StreamEnding::Finished)];
    let policy = RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() };
    let model = Retry::new(Canned::new(vec![events, good.clone()]), policy);
    let heard: Vec<_> = model.stream(ChatRequest::default()).await.expect("an answer").collect().await;
    assert_eq!(heard, good);
}

/// Would fail if an event looked through all blocks or items that began before it: twice as many may take twice as
/// long, not four times.
#[test]
fn many_open_items_take_no_longer_each() {
    let responses = |index: usize| {
        format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":{index},\"item\":{{\"type\":\"function_call\",\"id\":\"i{index}\",\"call_id\":\"c{index}\",\"name\":\"x\"}}}}\n\n"
        )
    };
    let messages = |index: usize| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"text_delta\",\"text\":\"x\"}}}}\n\n"
        )
    };
    let time = |dialect, event: &dyn Fn(usize) -> String, count: usize| {
        let stream: String = (0..count).map(event).collect();
        (0..3)
            .map(|_| {
                let start = tokio::time::Instant::now();
                let mut decoder = Decoder::new(dialect, ModelId::new("lab", "m"), "p", &Quirks::default());
                decoder.feed(stream.as_bytes());
                assert_eq!(decoder.events_read(), count as u64);
                start.elapsed()
            })
            .min()
            .expect("three tries")
    };
    for (dialect, event) in [
        (Dialect::OpenaiResponses, &responses as &dyn Fn(usize) -> String),
        (Dialect::AnthropicMessages, &messages),
    ] {
        let (few, many) = (time(dialect, event, 2_000), time(dialect, event, 16_000));
        assert!(many < few * 8 * 4, "{dialect:?}: {few:?} for 2,000 events, {many:?} for 16,000");
    }
}

//! Several keys, addresses and models behind one name, over real sockets; and how long each may be silent.

use std::{
    collections::VecDeque,
    error::Error as _,
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt;
use thermidor_model_runtime::{
    BreakerPolicy, ChatEvent, ChatModel, ChatRequest, Error, Limits, ModelRuntime, ModelRuntimeBuilder,
    Provider, RetryPolicy, StreamEnd, StreamEnding, Timeouts,
};
use thermidor_types::{Currency, FailureKind, Message, ModelCard, ModelId, Price, Tokens};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
};

#[path = "support/log.rs"]
mod log;
use log::Log;

const GOOD: &str = "sk-good-0123456789";
const BAD: &str = "sk-bad-0123456789";

/// Answers each key in its own way, and keeps the keys in the order in which they came.
struct Server {
    base_url: String,
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(name: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (mut tasks, seen) = (JoinSet::new(), asked.clone());
        tasks.spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                let head = read_head(&mut socket).await;
                let key = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
                let key = key.unwrap_or("none").to_owned();
                let answer = if key.contains("bad") { refusal(&key) } else { answer(name) };
                seen.lock().expect("no panic").push(key);
                // A client that has left needs no answer.
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        Self { base_url, asked, _tasks: tasks }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }
}

async fn read_head(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut block = [0; 4096];
        let read = socket.read(&mut block).await.expect("readable");
        text.extend_from_slice(&block[..read]);
        let seen = String::from_utf8_lossy(&text);
        if read == 0 || seen.split_once("\r\n\r\n").is_some_and(|(_, body)| body.ends_with('}')) {
            return seen.into_owned();
        }
    }
}

fn refusal(key: &str) -> String {
    let body = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {key}","code":"bad {key}","type":"invalid_request_error"}}}}"#
    );
    let length = body.len();
    format!("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn answer(words: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n\
         data: {{\"choices\":[{{\"delta\":{{\"content\":\"{words}\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
         data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":1000000,\"completion_tokens\":0}}}}\n\n\
         data: [DONE]\n\n"
    )
}

fn priced(provider: &str, rate: i64) -> ModelCard {
    let price = Price::new(Currency::USD, rate, rate);
    ModelCard { price: Some(price), ..ModelCard::unknown(ModelId::new(provider, "m"), Tokens(8_000)) }
}

fn builder(name: &str, base_url: &str) -> ModelRuntimeBuilder {
    let retry = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    ModelRuntime::builder().provider(Provider::new(name, base_url)).card(priced(name, 1_000_000)).retry(retry)
}

fn request() -> ChatRequest {
    ChatRequest { messages: vec![Message::user("Hi")], call_prefix: "t".into(), ..ChatRequest::default() }
}

async fn ask(model: &dyn ChatModel) -> Result<StreamEnd, Error> {
    let mut events: VecDeque<_> = model.stream(request()).await?.collect::<Vec<_>>().await.into();
    match events.pop_back() {
        Some(ChatEvent::Ended(end)) => Ok(*end),
        other => panic!("no end: {other:?}"),
    }
}

/// Several keys are used in turn, and one that is refused is no failure of the call. Its breaker and its key leave no
/// trace in what is told.
#[tokio::test]
async fn keys_take_turns_and_stand_in_for_each_other() {
    let server = Server::start("fine").await;
    let log = Arc::new(Log::default());
    let keys = format!("{BAD}, {GOOD},{GOOD}-2");
    let runtime =
        builder("lab", &server.base_url).key("lab", keys).observer(log.clone()).build().expect("sound");
    let mut asked = Vec::new();
    for _ in 0..3 {
        // Each call finds its model anew, and yet they take turns.
        let model = runtime.model("lab/m").expect("known");
        assert_eq!(ask(&*model).await.expect("an answer").message.text(), "fine");
        asked.push(server.asked().len());
    }
    assert_eq!(asked, [2, 1, 1], "the refused key costs a request only where it is first");
    let told = log.take();
    assert!(told.contains("t#1 1 failed: credentials refused") && told.contains("t#1 2 started"), "{told}");
    assert!(!told.contains("sk-"), "{told}");
}

/// Providers quote keys back. They must not reach logs, journals or screens, through whatever layer.
#[tokio::test]
async fn no_key_is_in_an_error_its_causes_or_what_is_told() {
    let server = Server::start("never").await;
    let log = Arc::new(Log::default());
    let runtime = builder("lab", &server.base_url)
        .key("lab", format!("{BAD},{BAD}-2"))
        .limits("lab", Limits { concurrency: Some(1), ..Limits::default() })
        .observer(log.clone())
        .build()
        .expect("sound");
    let error = ask(&*runtime.model("lab/m").expect("known")).await.expect_err("no key is right");
    assert_eq!((error.kind(), error.status()), (FailureKind::Credentials, Some(401)));
    assert_eq!(error.message(), "Incorrect API key provided: [key]");
    let mut shown =
        format!("{error} {error:?} {:?} {:?} {runtime:?} {}", error.to_failure(), error.code(), log.take());
    let mut cause = error.source();
    while let Some(source) = cause {
        write!(shown, " {source} {source:?}").expect("written");
        cause = source.source();
    }
    assert!(!shown.contains("sk-bad"), "{shown}");
}

#[tokio::test]
async fn addresses_and_models_stand_in_for_each_other() {
    let (first, second) = (Server::start("first").await, Server::start("second").await);
    let gone = "http://127.0.0.1:9/v1";
    let runtime =
        builder("lab", gone).channel("lab", gone, "").channel("lab", &second.base_url, GOOD).build();
    let runtime = runtime.expect("sound");
    let model = runtime.model("lab/m").expect("known");
    for _ in 0..2 {
        assert_eq!(ask(&*model).await.expect("an answer").message.text(), "second");
    }
    // Another model: its name is on the answer, and its price.
    let runtime = builder("lab", gone)
        .provider(Provider::new("reserve", &first.base_url))
        .card(priced("reserve", 7_000_000))
        .fallback("lab/m", ["reserve/m"])
        .build()
        .expect("sound");
    let end = ask(&*runtime.model("lab/m").expect("known")).await.expect("an answer");
    assert_eq!((end.message.text().as_str(), end.ending), ("first", StreamEnding::Finished));
    assert_eq!(end.message.model, Some(ModelId::new("reserve", "m")));
    assert_eq!(end.message.usage.cost.map(|cost| cost.to_string()).as_deref(), Some("7.00 USD"));
}

#[tokio::test]
async fn models_of_one_runtime_share_a_breaker() {
    let policy = BreakerPolicy { failures: 2, ..BreakerPolicy::default() };
    let runtime = builder("lab", "http://127.0.0.1:9/v1").breaker(policy).build().expect("sound");
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(ask(&*runtime.model("lab/m").expect("known")).await.expect_err("nobody is there").kind());
    }
    assert_eq!(kinds, [FailureKind::Network, FailureKind::Network, FailureKind::Overloaded]);
    // Another model of the provider is another channel.
    let other = ask(&*runtime.model("lab/other").expect("allowed")).await.expect_err("nobody is there");
    assert_eq!(other.kind(), FailureKind::Network);
}

#[test]
fn what_cannot_work_is_said_when_the_runtime_is_built() {
    let refused = ModelRuntime::builder().fallback("openai/gpt-5", ["opnai/x"]).build().expect_err("unknown");
    assert_eq!(refused.message(), "no provider is called opnai; did you mean openai?");
    let refused = ModelRuntime::builder().limits("opnai", Limits::default()).build().expect_err("unknown");
    assert_eq!(refused.kind(), FailureKind::NotFound);
    let refused = ModelRuntime::builder().channel("openai", "nowhere", "k").build().expect_err("no address");
    assert_eq!(refused.kind(), FailureKind::Configuration);
    let limited = ModelRuntime::builder().limits("openai", Limits::default()).build().expect("sound");
    assert_eq!(limited.model("openai").err().map(|error| error.kind()), Some(FailureKind::Credentials));
}

/// How a server is silent.
enum Silence {
    /// Its queue of connections is full.
    Connect,
    /// It takes the request and says nothing.
    First,
    /// It says a word, then nothing.
    Between,
    /// It says words without end.
    Total,
}

async fn silent(silence: Silence, timeouts: Timeouts) -> (FailureKind, Duration) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let listener = socket.listen(1).expect("listening");
    let address = listener.local_addr().expect("bound");
    let mut tasks = JoinSet::new();
    let mut waiting = Vec::new();
    if let Silence::Connect = silence {
        // Nobody accepts: two connections fill the queue, the next one gets no answer.
        for _ in 0..4 {
            let connect = TcpStream::connect(address);
            waiting.push(tokio::time::timeout(Duration::from_millis(50), connect).await);
        }
    } else {
        tasks.spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a connection");
            read_head(&mut socket).await;
            let word = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            if !matches!(silence, Silence::First) {
                socket.write_all(format!("{head}{word}").as_bytes()).await.expect("heard");
            }
            while let Silence::Total = silence {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if socket.write_all(word.as_bytes()).await.is_err() {
                    return;
                }
            }
            std::future::pending::<()>().await;
        });
    }
    let runtime = builder("lab", &format!("http://{address}/v1")).timeouts(timeouts).build().expect("sound");
    let start = tokio::time::Instant::now();
    let kind = match ask(&*runtime.model("lab/m").expect("known")).await {
        Err(error) => error.kind(),
        Ok(end) => match end.ending {
            StreamEnding::CutOff(failure) => failure.kind,
            other => panic!("{other:?}"),
        },
    };
    (kind, start.elapsed())
}

/// Each time is a setting of its own: the others are far away. Would fail if one of them did nothing.
#[tokio::test]
async fn each_silence_has_its_own_time() {
    let long = Duration::from_secs(30);
    let short = Duration::from_millis(200);
    let all = Timeouts { connect: long, first_event: long, between_events: long, total: long };
    let rows = [
        (Silence::Connect, Timeouts { connect: short, ..all }),
        (Silence::First, Timeouts { first_event: short, ..all }),
        (Silence::Between, Timeouts { between_events: short, ..all }),
        (Silence::Total, Timeouts { total: short, ..all }),
        (Silence::First, Timeouts { total: short, ..all }),
    ];
    for (place, (silence, timeouts)) in rows.into_iter().enumerate() {
        let (kind, after) = silent(silence, timeouts).await;
        assert_eq!(kind, FailureKind::Timeout, "row {place}");
        assert!(after >= short && after < Duration::from_secs(10), "row {place}: {after:?}");
    }
}

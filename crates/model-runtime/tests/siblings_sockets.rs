//! Models that do not chat, over real sockets.

use std::time::Duration;

use thermidor_model_runtime::{
    Error, ModelRuntime, Provider, RetryPolicy,
    embedding::{EmbeddingRequest, Embeddings},
};
use thermidor_types::{Currency, FailureKind, ModelCard, ModelId, Price, Tokens};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const KEY: &str = "sk-very-secret-0123456789";

/// Answers one connection with each of these, in order, and keeps what was asked.
struct Server {
    base_url: String,
    tasks: JoinSet<Vec<String>>,
}

impl Server {
    async fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("bound"));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut requests = Vec::new();
            for answer in answers {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                requests.push(read_request(&mut socket).await);
                socket.write_all(answer.as_bytes()).await.expect("writable");
            }
            requests
        });
        Self { base_url, tasks }
    }

    async fn requests(mut self) -> Vec<String> {
        self.tasks.join_next().await.expect("one task").expect("no panic")
    }

    fn runtime(&self, keys: &str, batch: Option<usize>) -> ModelRuntime {
        let mut row = Provider::new("lab", self.base_url.as_str());
        row.services.embedding_batch = batch;
        let price = Price::new(Currency::USD, 1_000_000, 1_000_000);
        let card = ModelCard::unknown(ModelId::new("lab", "m"), Tokens(8_000));
        ModelRuntime::builder()
            .provider(row)
            .card(ModelCard { price: Some(price), ..card })
            .key("lab", keys)
            .retry(RetryPolicy { first_wait: Duration::from_millis(1), ..RetryPolicy::default() })
            .build()
            .expect("sound")
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

fn answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\nx-request-id: req-7\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn vectors(numbers: &[f32]) -> String {
    let data: Vec<String> = numbers
        .iter()
        .enumerate()
        .rev()
        .map(|(index, number)| format!(r#"{{"index":{index},"embedding":[{number}]}}"#))
        .collect();
    let body = format!(r#"{{"data":[{}],"usage":{{"prompt_tokens":{}}}}}"#, data.join(","), numbers.len());
    answer("200 OK", &body)
}

async fn embed(runtime: &ModelRuntime, inputs: &[&str]) -> Result<Embeddings, Error> {
    let model = runtime.embedding("lab/m").expect("served");
    model.embed(EmbeddingRequest::of(inputs.iter().copied())).await
}

/// Would fail if parts lost their order, or a part's price or tokens were forgotten.
#[tokio::test]
async fn a_long_list_is_sent_in_parts_and_stays_in_order() {
    let server = Server::start(vec![
        vectors(&[1.0, 2.0]),
        answer("503 Service Unavailable", "{}"),
        vectors(&[3.0, 4.0]),
        vectors(&[5.0]),
    ])
    .await;
    let runtime = server.runtime(KEY, Some(2));
    let found = embed(&runtime, &["a", "b", "c", "d", "e"]).await.expect("vectors");
    assert_eq!(found.vectors.concat(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!((found.usage.input, found.usage.cost.map(|cost| cost.micros())), (Tokens(5), Some(5)));
    let asked = server.requests().await;
    let bodies: Vec<_> = asked.iter().map(|text| text.split_once("\r\n\r\n").expect("a body").1).collect();
    assert_eq!(
        bodies,
        [
            r#"{"model":"m","input":["a","b"]}"#,
            r#"{"model":"m","input":["c","d"]}"#,
            r#"{"model":"m","input":["c","d"]}"#,
            r#"{"model":"m","input":["e"]}"#,
        ]
    );
    assert!(asked[0].starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", asked[0]);
    assert!(asked[0].contains(&format!("authorization: Bearer {KEY}\r\n")), "{}", asked[0]);
}

/// Would fail if a refusal were tried again, lost the provider's words, or told the key.
#[tokio::test]
async fn a_refusal_is_an_error_in_the_providers_words() {
    let body = format!(r#"{{"error":{{"message":"bad key {KEY}","code":"invalid_api_key"}}}}"#);
    let server = Server::start(vec![answer("401 Unauthorized", &body)]).await;
    let error = embed(&server.runtime(KEY, None), &["a"]).await.expect_err("refused");
    assert_eq!((error.kind(), error.status()), (FailureKind::Credentials, Some(401)));
    assert_eq!((error.code(), error.request_id()), (Some("invalid_api_key"), Some("req-7")));
    assert_eq!(error.message(), "bad key [key]");
}

/// Would fail if the second key were never used, or one call asked twice with the first.
#[tokio::test]
async fn another_key_takes_over() {
    let refused = answer("401 Unauthorized", r#"{"error":{"code":"invalid_api_key","message":"no"}}"#);
    let server = Server::start(vec![refused, vectors(&[1.0])]).await;
    let found = embed(&server.runtime("sk-first,sk-second", None), &["a"]).await.expect("vectors");
    assert_eq!(found.vectors, [[1.0]]);
    let asked = server.requests().await;
    assert!(asked[0].contains("Bearer sk-first") && asked[1].contains("Bearer sk-second"), "{asked:?}");
}

/// Would fail if a failure inside a 200, or vectors that are missing, passed for an answer.
#[tokio::test]
async fn what_is_no_answer_is_an_error() {
    let inside = answer("200 OK", r#"{"error":{"message":"no such model","code":404}}"#);
    let server = Server::start(vec![inside]).await;
    let error = embed(&server.runtime(KEY, None), &["a"]).await.expect_err("failed inside");
    assert_eq!((error.kind(), error.message()), (FailureKind::NotFound, "no such model"));

    let server = Server::start(vec![vectors(&[1.0]), vectors(&[1.0]), vectors(&[1.0])]).await;
    let error = embed(&server.runtime(KEY, None), &["a", "b"]).await.expect_err("one is missing");
    assert_eq!((error.kind(), error.message()), (FailureKind::Malformed, "1 vectors came for 2 texts"));
    assert_eq!(server.requests().await.len(), 3, "a malformed answer may pass");
}

/// Would fail if nothing, or an empty text, were sent to a provider that says nothing clear of it.
#[tokio::test]
async fn what_cannot_be_embedded_is_not_sent() {
    let server = Server::start(Vec::new()).await;
    let runtime = server.runtime(KEY, None);
    let refused = async |inputs: &[&str]| embed(&runtime, inputs).await.expect_err("refused").to_string();
    assert_eq!(refused(&[]).await, "invalid request while calling lab/m: there is no text to embed");
    assert_eq!(
        refused(&["a", ""]).await,
        "invalid request while calling lab/m: text 1 (from 0) to embed is empty: leave it out"
    );
    let wrong = |name: &str| runtime.embedding(name).err().expect("wrong").kind();
    assert_eq!(wrong("anthropic/claude-sonnet-4-6"), FailureKind::Configuration);
    assert_eq!(wrong("openai/text-embedding-3-small"), FailureKind::Credentials);
    assert_eq!(wrong("nobody/m"), FailureKind::NotFound);
}

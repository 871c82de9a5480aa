//! Models that do not chat, over real sockets.

use std::time::Duration;

use thermidor_model_runtime::{
    Error, ModelRuntime, Provider, RetryPolicy,
    embedding::{EmbeddingRequest, Embeddings},
    image::{ImageRequest, ImageSize},
    speech::{AudioFormat, SpeechRequest, TranscriptDetail, TranscriptionRequest},
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

/// Would fail if an image were asked for in another form, or a refused prompt were sent again.
#[tokio::test]
async fn an_image_is_asked_for_and_refused() {
    let made = answer("200 OK", r#"{"data":[{"url":"https://x/a.webp","revised_prompt":"A red disc"}]}"#);
    let refused = r#"{"error":{"code":"moderation_blocked","message":"Your request was rejected"}}"#;
    let server = Server::start(vec![made, answer("400 Bad Request", refused)]).await;
    let model = server.runtime(KEY, None).image("lab/m").expect("served");
    let size = Some(ImageSize { width: 512, height: 256 });
    let request = ImageRequest { size, count: Some(1), ..ImageRequest::of("A red circle") };
    let found = model.generate(request).await.expect("an image");
    assert_eq!(found.images[0].media.media_type, "image/webp");
    assert_eq!(found.images[0].revised_prompt.as_deref(), Some("A red disc"));
    let error = model.generate(ImageRequest::of("something bad")).await.expect_err("refused");
    assert_eq!(error.kind(), FailureKind::ContentRefused);
    let asked = server.requests().await;
    assert!(asked[0].starts_with("POST /v1/images/generations HTTP/1.1\r\n"), "{}", asked[0]);
    assert!(
        asked[0].ends_with(r#"{"model":"m","prompt":"A red circle","size":"512x256","n":1}"#),
        "{}",
        asked[0]
    );
}

/// Would fail if a part of the form were lost, or its head did not name the line between the parts.
#[tokio::test]
async fn a_sound_is_sent_as_a_file() {
    let server = Server::start(vec![answer("200 OK", r#"{"text":"Good morning."}"#)]).await;
    let request = TranscriptionRequest {
        language: Some("en".into()),
        detail: TranscriptDetail::Segments,
        extra: Some(thermidor_types::Json::parse(r#"{"temperature":0,"language":"de"}"#).expect("JSON")),
        ..TranscriptionRequest::of("thermidor-0", AudioFormat::Wav)
    };
    let model = server.runtime(KEY, None).transcription("lab/m").expect("served");
    assert_eq!(model.transcribe(request).await.expect("words").text.as_str(), "Good morning.");
    let asked = server.requests().await.remove(0);
    let (head, body) = asked.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("POST /v1/audio/transcriptions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: multipart/form-data; boundary=thermidor-1\r\n"), "{head}");
    assert_eq!(head.matches("content-type").count(), 1, "{head}");
    expect_test::expect![[r#"
        --thermidor-1
        content-disposition: form-data; name="model"

        m
        --thermidor-1
        content-disposition: form-data; name="response_format"

        verbose_json
        --thermidor-1
        content-disposition: form-data; name="timestamp_granularities[]"

        segment
        --thermidor-1
        content-disposition: form-data; name="temperature"

        0
        --thermidor-1
        content-disposition: form-data; name="language"

        de
        --thermidor-1
        content-disposition: form-data; name="file"; filename="audio.wav"
        content-type: audio/wav

        thermidor-0
        --thermidor-1--
    "#]]
    .assert_eq(&body.replace('\r', ""));
}

/// Would fail if words that came in place of a sound were played, or a sound were taken for words.
#[tokio::test]
async fn speech_is_bytes() {
    let sound =
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: audio/mpeg\r\ncontent-length: 3\r\n\r\nID3";
    let words = answer("200 OK", r#"{"error":{"message":"no such voice","code":"model_not_found"}}"#);
    let server = Server::start(vec![sound.to_owned(), words]).await;
    let runtime = server.runtime(KEY, None);
    let model = runtime.speech("lab/m").expect("served");
    let spoken = model.speak(SpeechRequest::of("Good morning.", "alloy")).await.expect("a sound");
    assert_eq!((spoken.media_type.as_str(), &spoken.audio[..]), ("audio/mpeg", &b"ID3"[..]));
    let error = model.speak(SpeechRequest::of("Good morning.", "nobody")).await.expect_err("failed inside");
    assert_eq!((error.message(), error.code()), ("no such voice", Some("model_not_found")));
    let error = model.speak(SpeechRequest::of("Good morning.", "")).await.expect_err("no voice");
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    let asked = server.requests().await;
    assert!(
        asked[0]
            .ends_with(r#"{"model":"m","input":"Good morning.","voice":"alloy","response_format":"mp3"}"#),
        "{}",
        asked[0]
    );
}

//! Asks a model that is served at a socket of this machine.

use futures_util::StreamExt;
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, Error, ModelRuntime, Provider, RetryPolicy, StreamEnd, bundled_providers,
};
use thermidor_types::Message;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Answers one connection with these pieces, each written by itself, and keeps what was asked.
async fn serve(pieces: Vec<String>) -> (String, JoinSet<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    let mut task = JoinSet::new();
    task.spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let request = read_request(&mut socket).await;
        for piece in pieces {
            socket.write_all(piece.as_bytes()).await.expect("writable");
            socket.flush().await.expect("flushed");
            tokio::task::yield_now().await;
        }
        request
    });
    (address, task)
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

pub(crate) fn head(status: &str, content_type: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {content_type}\r\n\r\n")
}

/// What `model` says to `Hi`, asked at an address that answers so.
pub(crate) async fn ask(
    row: Provider,
    model: &str,
    key: Option<&str>,
    pieces: Vec<String>,
) -> (String, Result<(Vec<ChatEvent>, StreamEnd), Error>) {
    let (address, mut task) = serve(pieces).await;
    let name = row.name.clone();
    let mut builder = ModelRuntime::builder()
        .provider(Provider { base_url: address, local: true, ..row })
        .retry(RetryPolicy { attempts: 1, ..RetryPolicy::default() });
    if let Some(key) = key {
        builder = builder.key(name.clone(), key);
    }
    let model = builder.build().expect("sound").model(&format!("{name}/{model}")).expect("known");
    let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
    let answer = match model.stream(request).await {
        Err(error) => Err(error),
        Ok(stream) => {
            let mut events: Vec<_> = stream.collect().await;
            let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("no end") };
            Ok((events, *end))
        }
    };
    (task.join_next().await.expect("one task").expect("served"), answer)
}

pub(crate) fn bundled(name: &str) -> Provider {
    let row = bundled_providers().iter().find(|row| row.name == name);
    row.expect("a row").clone()
}

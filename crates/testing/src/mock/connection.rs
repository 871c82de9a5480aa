use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Duration, sleep},
};

use super::{
    body::Body,
    decide::decide,
    echo::echo,
    history::complaint,
    http::{Parsed, Request, parse},
    render::{Answer, quoted},
    script::{Role, Script},
    send::{Flow, Sender},
    state::State,
    wire::WireAnswers,
};

const MODELS: &str =
    r#"{"object":"list","data":[{"id":"mock-txt","object":"model","created":0,"owned_by":"mock"}]}"#;
const NOT_FOUND: &str = r#"{"error":{"message":"not found","type":"invalid_request_error"}}"#;
const BAD_JSON: &str = r#"{"error":{"message":"bad json","type":"invalid_request_error"}}"#;
const TOO_LARGE: &str = r#"{"error":{"message":"request too large","type":"invalid_request_error"}}"#;
/// Between the answer to a shutdown and the end, so that the client can read it.
const LAST_MOMENT: Duration = Duration::from_millis(50);

/// Serves one connection until the client, a fault or the stop ends it. Answers come in the order of the
/// requests; those that need no waiting are written together.
pub(super) async fn serve(mut socket: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8 * 1024);
    let mut sender = Sender::default();
    loop {
        let (request, used) = match parse(&buffer) {
            Parsed::Whole(request, used) => (request, used),
            Parsed::Partial => {
                sender.flush(&mut socket).await?;
                if socket.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
                continue;
            }
            Parsed::Bad => {
                state.count(|stats| stats.errors += 1);
                return sender.flush(&mut socket).await;
            }
            Parsed::TooLarge => {
                state.count(|stats| stats.errors += 1);
                sender.json(&state, "413 Payload Too Large", TOO_LARGE);
                return sender.flush(&mut socket).await;
            }
        };
        buffer.drain(..used);
        state.count(|stats| stats.bytes_in += (request.head + request.body.len()) as u64);
        let flow = answer(&request, &state, &mut sender, &mut socket).await?;
        if flow == Flow::Close || request.last {
            sender.flush(&mut socket).await?;
            return socket.shutdown().await;
        }
    }
}

async fn answer(
    request: &Request,
    state: &State,
    sender: &mut Sender,
    socket: &mut TcpStream,
) -> std::io::Result<Flow> {
    if let Some(name) = WireAnswers::name_in("", &request.path) {
        return wire(name, state, sender, socket).await;
    }
    if request.path.ends_with("/chat/completions") {
        return chat(request, state, sender, socket).await;
    }
    if request.path == "/stats" {
        let report = state.report();
        sender.json(state, "200 OK", &report);
    } else if request.path.ends_with("/models") {
        sender.json(state, "200 OK", MODELS);
    } else if request.path == "/shutdown" && request.method == "POST" {
        sender.json(state, "200 OK", r#"{"ok":true}"#);
        sender.flush(socket).await?;
        sleep(LAST_MOMENT).await;
        state.stop.cancel();
    } else {
        state.count(|stats| stats.errors += 1);
        sender.json(state, "404 Not Found", NOT_FOUND);
    }
    Ok(Flow::Keep)
}

/// An answer as it is written, whatever was asked.
async fn wire(
    name: &str,
    state: &State,
    sender: &mut Sender,
    socket: &mut TcpStream,
) -> std::io::Result<Flow> {
    if let Some(answer) = state.answers.get(name) {
        return sender.wire(state, answer, socket).await;
    }
    state.count(|stats| stats.errors += 1);
    let error = format!(
        r#"{{"error":{{"message":{},"type":"invalid_request_error","code":"model_not_found"}}}}"#,
        quoted(&format!("the mock was started without an answer called {name}"))
    );
    sender.json(state, "404 Not Found", &error);
    Ok(Flow::Keep)
}

async fn chat(
    request: &Request,
    state: &State,
    sender: &mut Sender,
    socket: &mut TcpStream,
) -> std::io::Result<Flow> {
    state.count(|stats| stats.requests += 1);
    let Ok(body) = serde_json::from_slice::<Body<'_>>(&request.body) else {
        state.count(|stats| stats.errors += 1);
        sender.json(state, "400 Bad Request", BAD_JSON);
        return Ok(Flow::Keep);
    };
    let model = body.model.as_deref().unwrap_or_default();
    let number = state.asked(model, &request.body);
    if let Some(name) = WireAnswers::name_in(model, "") {
        return wire(name, state, sender, socket).await;
    }
    let mut script = Script::parse(model);
    if script.faults.first.is_some_and(|first| number > first) {
        script = script.sound();
    }
    if script.faults.status.is_some() || script.faults.hang == Some(0) {
        return sender.refuse(state, &script.faults, socket).await;
    }
    if let Some(complaint) = state.strict.then(|| complaint(body.messages())).flatten() {
        state.count(|stats| stats.errors += 1);
        let error =
            format!(r#"{{"error":{{"message":{},"type":"invalid_request_error"}}}}"#, quoted(complaint));
        sender.json(state, "400 Bad Request", &error);
        return Ok(Flow::Keep);
    }
    let (reply, usage, length) = if script.role == Role::Echo {
        match echo(&body).await {
            Ok(echo) => (echo.reply, echo.usage, echo.length),
            Err(error) => {
                state.count(|stats| stats.errors += 1);
                let error = format!(
                    r#"{{"error":{{"message":{},"type":"invalid_request_error","code":"context_length_exceeded"}}}}"#,
                    quoted(error.message())
                );
                sender.json(state, "400 Bad Request", &error);
                return Ok(Flow::Keep);
            }
        }
    } else {
        (decide(&script, &body), (100, 20), false)
    };
    let answer = Answer { id: state.next_answer(), model, reply: &reply, usage, length };
    if body.stream == Some(true) {
        let events = answer.stream(body.wants_usage(), script.faults.body);
        sender.stream(state, &script, events, socket).await
    } else {
        sender.plain(state, &script, answer.id, &answer.plain(), socket).await
    }
}

//! Puts answers on the wire, whole or as badly as the script says.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Duration, Instant, sleep, sleep_until},
};

use super::{
    render::{Events, STREAM_ERROR},
    script::{Body, Cut, Faults, Role, Script},
    state::State,
    wire::{WireAnswer, WireEnd, WirePiece},
};

const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                           cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
const PAGE: &str = "<!doctype html><title>mock</title><p>This is no model.</p>";
/// Bytes of a frame, as a server that flushes often under load would send.
const FRAME: usize = 16 * 1024;
/// Bytes gathered before they are written.
const GATHER: usize = 256 * 1024;

/// Whether the connection goes on after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Keep,
    Close,
}

/// Bytes on their way to the client.
#[derive(Default)]
pub(super) struct Sender {
    out: Vec<u8>,
}

impl Sender {
    /// Writes what was gathered.
    pub(super) async fn flush(&mut self, socket: &mut TcpStream) -> io::Result<()> {
        if !self.out.is_empty() {
            socket.write_all(&self.out).await?;
            self.out.clear();
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A document that is no answer of a model.
    pub(super) fn json(&mut self, state: &State, status: &str, body: &str) {
        let head = json_head(status, state.next_answer(), "", body.len());
        self.push(&head);
        self.push(body);
    }

    /// A status instead of an answer, or nothing at all.
    pub(super) async fn refuse(
        &mut self,
        state: &State,
        faults: &Faults,
        socket: &mut TcpStream,
    ) -> io::Result<Flow> {
        let Some(status) = faults.status else {
            self.flush(socket).await?;
            return hang(socket).await;
        };
        let wait =
            faults.retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
        let body = format!(
            r#"{{"error":{{"message":"the mock answers {status}","type":"mock_error","code":"mock_{status}"}}}}"#
        );
        let head = json_head(&format!("{status} {}", reason(status)), state.next_answer(), &wait, body.len());
        self.push(&head);
        self.push(&body);
        Ok(Flow::Keep)
    }

    /// An answer as one document.
    pub(super) async fn plain(
        &mut self,
        state: &State,
        script: &Script,
        id: u64,
        body: &str,
        socket: &mut TcpStream,
    ) -> io::Result<Flow> {
        self.wait(script.latency, socket).await?;
        let faults = &script.faults;
        if faults.body == Body::Html {
            return Ok(self.page(state));
        }
        let head = json_head("200 OK", id, "", body.len());
        self.push(&head);
        let sent = match (faults.cut, faults.hang) {
            (Some(Cut::Bytes(bytes)), _) => bytes.min(body.len()),
            (Some(Cut::Events(_)), _) | (_, Some(_)) => body.len() / 2,
            (None, None) => body.len(),
        };
        let bytes = &body.as_bytes()[..sent];
        state.count(|stats| stats.bytes_out += sent as u64);
        if let Some(size) = faults.odd {
            for piece in bytes.chunks(size) {
                self.flush(socket).await?;
                self.out.extend_from_slice(piece);
            }
        } else {
            self.out.extend_from_slice(bytes);
        }
        match (faults.cut, faults.hang) {
            (Some(_), _) => Ok(Flow::Close),
            (None, Some(_)) => {
                self.flush(socket).await?;
                hang(socket).await
            }
            (None, None) => Ok(Flow::Keep),
        }
    }

    /// An answer as a stream of events.
    pub(super) async fn stream(
        &mut self,
        state: &State,
        script: &Script,
        mut events: Events,
        socket: &mut TcpStream,
    ) -> io::Result<Flow> {
        let faults = &script.faults;
        let echo = script.role == Role::Echo;
        if !echo {
            self.wait(script.latency, socket).await?;
        }
        if faults.body == Body::Html {
            return Ok(self.page(state));
        }
        if let Some(kept) = faults.error.filter(|kept| *kept < events.ends.len()) {
            events.replace_rest(kept, STREAM_ERROR);
        }
        self.push(STREAM_HEAD);
        if *faults == Faults::default() && (!echo || script.latency == 0) {
            state.count(|stats| stats.bytes_out += events.text.len() as u64);
            for frame in events.text.as_bytes().chunks(FRAME) {
                self.frame(frame);
                if self.out.len() > GATHER {
                    self.flush(socket).await?;
                }
            }
            self.push("0\r\n\r\n");
            return Ok(Flow::Keep);
        }
        let pace =
            Pace { start: Instant::now(), whole: if echo { script.latency } else { 0 }, delay: faults.delay };
        self.badly(state, faults, &events, &pace, socket).await
    }

    /// Event by event, with pauses and faults.
    async fn badly(
        &mut self,
        state: &State,
        faults: &Faults,
        events: &Events,
        pace: &Pace,
        socket: &mut TcpStream,
    ) -> io::Result<Flow> {
        let (mut written, count) = (0, events.ends.len());
        let endless = if faults.body == Body::Endless { usize::MAX } else { 0 };
        // An endless stream repeats its second event, which is its first word.
        let again = std::iter::repeat_n(events.iter().nth(1).unwrap_or_default(), endless);
        let kept = if endless > 0 { 1 } else { count };
        for (place, event) in events.iter().take(kept).chain(again).enumerate() {
            if faults.hang == Some(place) {
                self.flush(socket).await?;
                return hang(socket).await;
            }
            if faults.cut == Some(Cut::Events(place)) {
                return Ok(Flow::Close);
            }
            pace.before(place, count).await;
            let mut bytes = event.as_bytes();
            let room = match faults.cut {
                Some(Cut::Bytes(most)) => most - written,
                _ => bytes.len(),
            };
            bytes = &bytes[..room.min(bytes.len())];
            written += bytes.len();
            for piece in bytes.chunks(faults.odd.unwrap_or(FRAME)) {
                self.frame(piece);
                self.flush(socket).await?;
            }
            state.count(|stats| stats.bytes_out += bytes.len() as u64);
            if matches!(faults.cut, Some(Cut::Bytes(most)) if most == written) {
                return Ok(Flow::Close);
            }
        }
        self.push("0\r\n\r\n");
        Ok(Flow::Keep)
    }

    /// An answer as it is written.
    pub(super) async fn wire(
        &mut self,
        state: &State,
        answer: &WireAnswer,
        socket: &mut TcpStream,
    ) -> io::Result<Flow> {
        let WireAnswer { status, content_type, headers, .. } = answer;
        self.push(&format!("HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\n", reason(*status)));
        for (name, value) in headers {
            self.push(&format!("{name}: {value}\r\n"));
        }
        self.push("transfer-encoding: chunked\r\n\r\n");
        for piece in answer.body.pieces() {
            if let WirePiece::Pause { pause } = piece {
                self.wait(pause, socket).await?;
            }
            let bytes = piece.bytes().unwrap_or_default();
            state.count(|stats| stats.bytes_out += bytes.len() as u64);
            for part in bytes.chunks(answer.write.unwrap_or(bytes.len()).max(1)) {
                self.frame(part);
                self.flush(socket).await?;
            }
        }
        match answer.end {
            WireEnd::Whole => self.push("0\r\n\r\n"),
            WireEnd::Cut => return Ok(Flow::Close),
            WireEnd::Open => {
                self.flush(socket).await?;
                return hang(socket).await;
            }
        }
        Ok(Flow::Keep)
    }

    fn page(&mut self, state: &State) -> Flow {
        state.count(|stats| stats.bytes_out += PAGE.len() as u64);
        let length = PAGE.len();
        self.push(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{PAGE}"
        ));
        Flow::Keep
    }

    fn frame(&mut self, bytes: &[u8]) {
        self.push(&format!("{:x}\r\n", bytes.len()));
        self.out.extend_from_slice(bytes);
        self.push("\r\n");
    }

    async fn wait(&mut self, millis: u64, socket: &mut TcpStream) -> io::Result<()> {
        if millis > 0 {
            self.flush(socket).await?;
            sleep(Duration::from_millis(millis)).await;
        }
        Ok(())
    }
}

/// When the events of a stream are due.
struct Pace {
    start: Instant,
    /// Milliseconds over which all events are spread.
    whole: u64,
    /// Milliseconds before each event.
    delay: u64,
}

impl Pace {
    async fn before(&self, place: usize, count: usize) {
        if self.delay > 0 {
            sleep(Duration::from_millis(self.delay)).await;
        }
        let due = Duration::from_millis(self.whole).mul_f64((place + 1) as f64 / count.max(1) as f64);
        let due = self.start + due.min(Duration::from_millis(self.whole));
        if due > Instant::now() {
            sleep_until(due).await;
        }
    }
}

fn json_head(status: &str, id: u64, more: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-request-id: req_{id}\r\n{more}content-length: {length}\r\n\r\n"
    )
}

fn reason(status: u16) -> &'static str {
    match status {
        200..300 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Error",
    }
}

/// Waits until the client goes away; whoever stops the server drops this.
async fn hang(socket: &mut TcpStream) -> io::Result<Flow> {
    let mut ignored = [0; 4096];
    while socket.read(&mut ignored).await? > 0 {}
    Ok(Flow::Close)
}

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    connection,
    state::{MockStats, State},
    wire::WireAnswers,
};

/// Connections open at once; more wait.
const MOST_CONNECTIONS: usize = 16_384;

/// How a [`MockProvider`] is started.
#[derive(Clone, Debug)]
pub struct MockOptions {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// It stops by itself after this time.
    pub lifetime: Duration,
    /// Whether histories with unanswered or orphaned tool calls are refused, as a provider does.
    pub strict: bool,
    /// Answers that are sent as they are written.
    pub answers: WireAnswers,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self { port: 0, lifetime: Duration::from_hours(1), strict: false, answers: WireAnswers::default() }
    }
}

/// An OpenAI-compatible server on 127.0.0.1 whose model names are scripts.
///
/// It runs on a thread of its own, so that a test may block, or pause its time, and ends when it is dropped.
/// `POST …/chat/completions` answers, streamed or not; `GET …/models`, `GET /stats`, `POST /shutdown`, and
/// everything below `/wire/NAME/`; all else is a 404. The names:
///
/// ```text
/// mock-<role>[-n<steps>][-l<ms>][-t<tokens>][-c<chars>][-<fault>]…
/// ```
///
/// | role | answer |
/// | --- | --- |
/// | `sup` | hands off to `worker_a`, `worker_b`, `worker_a` … `n` times (2), then gives the final text |
/// | `par` | hands off to both workers in one message, then gives the final text |
/// | `wrka`, `wrkb` | goes back to the supervisor by a tool if there is one, else answers with its result |
/// | `sel` | names the next speaker, by the marks that the workers leave |
/// | `txt` | `t` tokens (20) of text; with `c`, tokens of so many characters |
/// | `wire-NAME` | one of the [`WireAnswers`] it was started with, as it is written there |
/// | `echo` | a text written from the prompt that keeps the limits and headings it asks for; `l` is the time of the whole answer |
///
/// | fault | what goes wrong |
/// | --- | --- |
/// | `-x429`, `-x429r2`, `-x429k2` | this status; with `Retry-After: 2`; only in the first 2 requests of this model |
/// | `-d50` | 50 ms before every event |
/// | `-cut3`, `-cutb17` | the connection closes after 3 events, after 17 bytes of the body |
/// | `-hang`, `-hang3` | nothing comes at all, nothing comes after 3 events |
/// | `-odd7` | the body comes in pieces of 7 bytes |
/// | `-err2` | an error object inside the stream after 2 events, then the stream ends |
/// | `-html`, `-noend`, `-endless` | a web page; no finish reason and no `[DONE]`; tokens without end |
/// | `-k1` | the name's faults happen in the first request of this model only |
///
/// Faults count the events of a stream; an answer that is not streamed breaks off in the middle of its body.
///
/// ```
/// use std::io::{Read, Write};
/// use thermidor_testing::mock::MockProvider;
///
/// let mock = MockProvider::start()?;
/// let mut socket = std::net::TcpStream::connect(mock.address())?;
/// let body = r#"{"model":"mock-txt-t3","messages":[]}"#;
/// write!(socket, "POST /v1/chat/completions HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
/// let mut answer = String::new();
/// socket.read_to_string(&mut answer)?;
/// assert!(answer.contains(r#""content":"token token token ""#));
/// assert_eq!(mock.stats().models["mock-txt-t3"], 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MockProvider {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl MockProvider {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When the loopback cannot be bound or no thread can be started.
    pub fn start() -> io::Result<Self> {
        Self::start_with(MockOptions::default())
    }

    /// Starts as `options` say.
    ///
    /// # Errors
    /// When the port is taken, or no thread can be started.
    pub fn start_with(options: MockOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let lifetime = options.lifetime;
        let (listener, state) = runtime.block_on(async { bind(options) })?;
        let address = listener.local_addr()?;
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("mock-provider".into()).spawn(move || {
            runtime.block_on(serve(listener, shared, lifetime));
        })?;
        Ok(Self { address, state, thread: Some(thread) })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client is given: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it has seen so far.
    pub fn stats(&self) -> MockStats {
        self.state.stats()
    }

    /// Stops it, cutting open answers, and waits until it is gone.
    pub fn shutdown(mut self) {
        self.end();
    }

    /// Waits until it stops by itself: by its lifetime, or by `POST /shutdown`.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }

    fn end(&mut self) {
        self.state.stop.cancel();
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.end();
    }
}

fn join(thread: JoinHandle<()>) {
    let ended = thread.join().is_ok();
    // A second panic while one unwinds would hide the first.
    assert!(
        ended || std::thread::panicking(),
        "the mock provider's thread panicked: its output above says why"
    );
}

fn bind(options: MockOptions) -> io::Result<(TcpListener, Arc<State>)> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))?;
    let listener = socket.listen(4096)?;
    Ok((listener, Arc::new(State::new(options.strict, options.answers, CancellationToken::new()))))
}

async fn serve(listener: TcpListener, state: Arc<State>, lifetime: Duration) {
    let mut connections = JoinSet::new();
    let end = tokio::time::sleep(lifetime);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = state.stop.cancelled() => break,
            () = &mut end => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => {
                // A connection that failed before it was accepted, or no descriptor left: others go on.
                let Ok((socket, _)) = accepted else {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    continue;
                };
                state.count(|stats| stats.conns += 1);
                connections.spawn(connection::serve(socket, Arc::clone(&state)));
            }
        }
    }
    connections.shutdown().await;
}

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::{Stream, stream::BoxStream};
use futures_util::StreamExt;
use indexmap::IndexMap;
use reqwest::header::HeaderMap;
use thermidor_types::Timestamp;

use super::{
    asked::run,
    file::{read_header, wrong},
    line::{Body, Ending, Exchange, Header, KIND, VERSION},
    secrets::Secrets,
};
use crate::{
    Error, Timeouts,
    http::{Transport, WireAnswer, WireCall, WireError},
};

/// The headers of an answer that are kept beside its type: who asks, and when to ask again.
const KEPT: [&str; 5] = ["x-request-id", "request-id", "retry-after", "retry-after-ms", "date"];

/// Writes down what another transport carries.
#[derive(Debug)]
pub(crate) struct Recorder {
    inner: Arc<dyn Transport>,
    tape: Arc<Tape>,
}

impl Recorder {
    /// Records what `inner` carries to the file at `path`, after what is there already.
    pub(crate) fn new(inner: Arc<dyn Transport>, path: &Path, at: Timestamp) -> Result<Self, Error> {
        let file = opened(path, at)?;
        let tape = Tape { path: path.to_owned(), state: Mutex::new(State { file, failed: None }) };
        Ok(Self { inner, tape: Arc::new(tape) })
    }
}

#[async_trait]
impl Transport for Recorder {
    fn timeouts(&self) -> Timeouts {
        self.inner.timeouts()
    }

    async fn send(&self, call: WireCall) -> Result<WireAnswer, WireError> {
        self.tape.check()?;
        let mut take = Take::of(&call, self.tape.clone());
        match self.inner.send(call).await {
            Ok(answer) => {
                take.head(&answer);
                let body = Taped { body: answer.body, take }.boxed();
                Ok(WireAnswer { body, ..answer })
            }
            Err(error) => {
                if error.was_sent() {
                    take.end(Ending::of(error.broken()));
                } else {
                    take.exchange = None;
                }
                Err(error)
            }
        }
    }
}

/// The file, or a new one with a header. What a crash left of a last line is cut away.
fn opened(path: &Path, at: Timestamp) -> Result<File, Error> {
    let failed =
        |error: std::io::Error| wrong(path, None, &format!("cannot be written: {error}")).with_source(error);
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600); // it holds what people asked
    let mut file = options.open(path).map_err(failed)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if text.is_empty() {
        let header = Header { kind: KIND.into(), version: VERSION, recorded_at: at.to_string() };
        write(&mut file, &header).map_err(failed)?;
        return Ok(file);
    }
    read_header(path, text.split(|byte| *byte == b'\n').next().unwrap_or_default())?;
    if whole == 0 {
        file.write_all(b"\n").map_err(failed)?;
    } else if whole < text.len() {
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
    }
    Ok(file)
}

fn write(file: &mut File, line: &impl serde::Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)?;
    file.flush()
}

/// The file that all calls of a runtime write to.
#[derive(Debug)]
struct Tape {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Why a line could not be written: a recording with a hole is none.
    failed: Option<String>,
}

impl Tape {
    /// Fails when something could not be written.
    fn check(&self) -> Result<(), Error> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.failed {
            Some(why) => Err(wrong(&self.path, None, &format!("cannot be written: {why}"))),
            None => Ok(()),
        }
    }

    fn write(&self, exchange: &Exchange) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_none()
            && let Err(error) = write(&mut state.file, exchange)
        {
            tracing::error!(path = %self.path.display(), %error, "an exchange could not be recorded");
            state.failed = Some(error.to_string());
        }
    }
}

/// One exchange on its way to the tape. Dropped before its end, it is written as far as it came.
struct Take {
    tape: Arc<Tape>,
    exchange: Option<Exchange>,
    secrets: Secrets,
    response: Vec<u8>,
}

impl Take {
    fn of(call: &WireCall, tape: Arc<Tape>) -> Self {
        let secrets = Secrets::of(&call.headers);
        let exchange = Exchange {
            provider: call.model.provider().into(),
            model: call.model.model().into(),
            method: call.method.as_str().into(),
            path: secrets.path(&call.url),
            run: run(call),
            request: Body::of(secrets.removed(call.body.to_vec())),
            status: None,
            content_type: None,
            headers: IndexMap::new(),
            response: Body::Text(String::new()),
            ending: Ending::Left,
        };
        Self { tape, exchange: Some(exchange), secrets, response: Vec::new() }
    }

    fn head(&mut self, answer: &WireAnswer) {
        let Some(exchange) = &mut self.exchange else { return };
        let text = |headers: &HeaderMap, name: &str| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(self.secrets.removed_from_text(value))
        };
        exchange.status = Some(answer.status);
        exchange.content_type = text(&answer.headers, "content-type");
        // The date is there to measure another date against.
        let dated = answer.headers.contains_key("retry-after");
        let kept = KEPT.iter().filter(|name| **name != "date" || dated);
        exchange.headers =
            kept.filter_map(|name| Some(((*name).to_owned(), text(&answer.headers, name)?))).collect();
    }

    fn end(&mut self, ending: Ending) {
        let Some(mut exchange) = self.exchange.take() else { return };
        exchange.ending = ending;
        exchange.response = Body::of(self.secrets.removed(std::mem::take(&mut self.response)));
        self.tape.write(&exchange);
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        self.end(Ending::Left);
    }
}

/// A body that is written down as it is read.
struct Taped {
    body: BoxStream<'static, Result<Bytes, WireError>>,
    take: Take,
}

impl Stream for Taped {
    type Item = Result<Bytes, WireError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.body.poll_next_unpin(cx);
        match &next {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(bytes))) => self.take.response.extend_from_slice(bytes),
            Poll::Ready(Some(Err(error))) => self.take.end(Ending::of(error.broken())),
            Poll::Ready(None) => self.take.end(Ending::Whole),
        }
        next
    }
}

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use reqwest::{Method, Url, header::CONTENT_TYPE};
use secrecy::SecretString;
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelId};
use tokio::time::{Instant, timeout_at};

use super::{
    Timeouts, Transport, WireAnswer, WireCall, WireError, failing, headers,
    model::{place, redacted},
};
use crate::{
    Error, Provider,
    dialect::{Fault, read_fault},
};

/// The longest body of a failed request that is read, in bytes.
const LONGEST_FAULT: usize = 64 << 10;

/// One way to a provider, for requests that are answered whole: the address, the key, the connections.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) model: ModelId,
    pub(crate) provider: Arc<Provider>,
    pub(crate) key: Option<SecretString>,
    pub(crate) transport: Arc<dyn Transport>,
}

/// A request that is answered whole.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// The whole address.
    pub(crate) address: String,
    /// Headers beside the provider's own and the key.
    pub(crate) headers: Vec<(String, String)>,
    /// What is sent; its type is among the headers, JSON when it is not.
    pub(crate) body: Option<Bytes>,
}

impl Ask {
    /// Asks for what is at `address`.
    pub(crate) fn get(address: String) -> Self {
        Self { method: Method::GET, address, headers: Vec::new(), body: None }
    }

    /// Sends `body` to `address`.
    pub(crate) fn post(address: String, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, address, headers: Vec::new(), body: Some(body.into()) }
    }
}

/// How long an answer may take, from what is allowed for streams, and how long it may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) times: Timeouts,
    /// In bytes.
    pub(crate) longest: usize,
}

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) content_type: Option<SmolStr>,
    pub(crate) request_id: Option<SmolStr>,
    pub(crate) body: Bytes,
}

impl Caller {
    /// A failure of a call; `message` loses the key.
    pub(crate) fn error(&self, kind: FailureKind, message: impl Into<String>) -> Error {
        Error::new(kind, self.model.clone(), redacted(message.into(), self.key.as_ref()))
    }

    /// Sends `ask` and reads the whole answer. A refusal is an error in the provider's words.
    pub(crate) async fn send(&self, ask: Ask, bounds: Bounds) -> Result<Whole, Error> {
        let Timeouts { first_event, between_events, total, .. } = bounds.times;
        let start = Instant::now();
        let end = start + total;
        let url: Url = ask.address.parse().map_err(|_| {
            self.error(FailureKind::Configuration, format!("{:?} is no address", self.provider.base_url))
        })?;
        let host = place(&url);
        let silent = |_| self.error(FailureKind::Timeout, format!("{host} did not answer in time"));
        let sent = self.transport.send(self.call(ask, url)?);
        let answer = timeout_at(end.min(start + first_event), sent).await.map_err(silent)?;
        let mut answer = answer.map_err(|error| self.broken(&host, error))?;
        let refused = !answer.is_success();
        let mut body = BytesMut::new();
        loop {
            let next = timeout_at(end.min(Instant::now() + between_events), answer.chunk()).await;
            match next.map_err(silent).and_then(|read| read.map_err(|error| self.broken(&host, error))) {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) => break,
                Err(_) if refused => break, // the status alone says enough
                Err(error) => return Err(error),
            }
            if refused && body.len() > LONGEST_FAULT {
                break;
            }
            if body.len() > bounds.longest {
                return Err(self.error(FailureKind::Malformed, format!("{host} sends an answer without end")));
            }
        }
        if refused {
            return Err(self.refusal(&answer, &body));
        }
        let request_id = headers::request_id(&answer.headers);
        let content_type = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.map(SmolStr::from);
        if content_type.as_ref().is_some_and(|value| value.starts_with("text/html")) {
            return Err(self.error(FailureKind::Malformed, "a web page came instead of an answer"));
        }
        Ok(Whole { content_type, request_id, body: body.freeze() })
    }

    fn call(&self, ask: Ask, url: Url) -> Result<WireCall, Error> {
        let mut call = WireCall::new(ask.method, url, self.model.clone());
        for (name, value) in &self.provider.headers {
            call = call.header(name, value);
        }
        let typed = ask.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        for (name, value) in &ask.headers {
            call = call.header(name, value);
        }
        if let Some(body) = ask.body {
            if !typed {
                call = call.header("content-type", "application/json");
            }
            call.body = body;
        }
        let Some(key) = &self.key else { return Ok(call) };
        call.authorised(&self.provider.auth, key).ok_or_else(|| {
            self.error(FailureKind::Credentials, "the key holds characters that no header can")
        })
    }

    fn broken(&self, host: &str, error: WireError) -> Error {
        let error = match error {
            WireError::Own(error) => return error,
            other => other.without_url(),
        };
        let base_url = &self.provider.base_url;
        let (kind, message) = failing::broken(&error, host, base_url, "did not answer");
        self.error(kind, message).with_source(error)
    }

    /// The wait and the request's name in the headers win over those in the body.
    fn refusal(&self, answer: &WireAnswer, body: &[u8]) -> Error {
        failing::headed(self.fault(&read_fault(Some(answer.status), body)), answer)
    }

    /// What the provider said, as an error.
    pub(crate) fn fault(&self, fault: &Fault) -> Error {
        failing::said(self.error(fault.kind, fault.message.clone()), fault, self.key.as_ref())
    }
}

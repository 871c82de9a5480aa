use std::{fmt, iter::successors};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::StreamExt;
use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};
use thermidor_types::{Failure, FailureKind, ModelId};

use super::{Clients, Timeouts, key_header};
use crate::{Auth, Error};

/// Carries one HTTP exchange: over a socket, into a recording, out of one.
#[async_trait]
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// How long calls may be silent. Who calls keeps to it; only the connecting is bounded in here.
    fn timeouts(&self) -> Timeouts;

    /// Sends `call`; returns when the head of the answer is there. Dropping the body closes the connection.
    async fn send(&self, call: WireCall) -> Result<WireAnswer, WireError>;

    /// Whether requests reach nobody, so that none needs a key.
    fn is_replay(&self) -> bool {
        false
    }
}

/// A request as it goes out.
#[derive(Debug)]
pub(crate) struct WireCall {
    /// On whose behalf.
    pub(crate) model: ModelId,
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// What is secret among them is marked as sensitive.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// A header was no header.
    malformed: bool,
}

impl WireCall {
    /// A request without headers and body.
    pub(crate) fn new(method: Method, url: Url, model: ModelId) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Self { model, method, url, headers, body, malformed: false }
    }

    /// One more header. One that cannot be sent fails the call, not this.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        match (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => drop(self.headers.append(name, value)),
            _ => self.malformed = true,
        }
        self
    }

    /// The key, as `auth` says. `None` when it holds characters that no header can.
    pub(crate) fn authorised(mut self, auth: &Auth, key: &SecretString) -> Option<Self> {
        let (name, value) = key_header(auth, key.expose_secret())?;
        match name.parse::<HeaderName>() {
            Ok(name) => drop(self.headers.append(name, value)),
            Err(_) => self.malformed = true,
        }
        Some(self)
    }
}

/// An answer whose head is there.
pub(crate) struct WireAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: BoxStream<'static, Result<Bytes, WireError>>,
}

impl WireAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The next piece of the body, `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, WireError> {
        self.body.next().await.transpose()
    }
}

/// How far an exchange came before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Nothing came in time.
    Late,
    /// The request cannot be written.
    Unwritable,
    /// There is no connection.
    Unreachable,
    /// It broke.
    Broke,
}

/// Why there is no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// From the connection.
    #[error(transparent)]
    Http(reqwest::Error),
    /// So it was recorded.
    #[error("{0:?}, by the recording")]
    Recorded(Broken),
    /// No header can be made of a name or a value.
    #[error("a header holds characters that no header can")]
    Header,
    /// Nothing left: it is told whole.
    #[error(transparent)]
    Own(#[from] Error),
}

impl WireError {
    pub(crate) fn broken(&self) -> Broken {
        match self {
            Self::Http(error) if error.is_timeout() => Broken::Late,
            Self::Http(error) if error.is_builder() => Broken::Unwritable,
            Self::Http(error) if error.is_connect() => Broken::Unreachable,
            Self::Http(_) | Self::Own(_) => Broken::Broke,
            Self::Recorded(broken) => *broken,
            Self::Header => Broken::Unwritable,
        }
    }

    /// Whether a request was on its way.
    pub(crate) fn was_sent(&self) -> bool {
        self.broken() != Broken::Unwritable && !matches!(self, Self::Own(_))
    }

    /// The innermost reason in words, such as `: Connection refused (os error 111)`: it tells a server that is not
    /// started from a name that is not known.
    pub(crate) fn root_cause(&self) -> String {
        let Self::Http(error) = self else { return String::new() };
        let sources = successors(std::error::Error::source(error), |&error| error.source());
        sources.last().map(|cause| format!(": {cause}")).unwrap_or_default()
    }

    /// As the source of an error: without the address, which may hold a secret.
    pub(crate) fn without_url(self) -> Self {
        match self {
            Self::Http(error) => Self::Http(error.without_url()),
            other => other,
        }
    }

    /// As the end of an answer that had begun.
    pub(crate) fn inside(&self) -> Failure {
        if let Self::Own(error) = self {
            return Failure::new(error.kind(), error.message());
        }
        let late = self.broken() == Broken::Late;
        let kind = if late { FailureKind::Timeout } else { FailureKind::Network };
        Failure::new(kind, "the connection broke inside the answer")
    }
}

#[async_trait]
impl Transport for Clients {
    fn timeouts(&self) -> Timeouts {
        self.allowed()
    }

    async fn send(&self, call: WireCall) -> Result<WireAnswer, WireError> {
        if call.malformed {
            return Err(WireError::Header);
        }
        let client = self.of(&call.url, &call.model)?;
        let mut request = client.request(call.method, call.url).headers(call.headers);
        if !call.body.is_empty() {
            request = request.body(call.body);
        }
        let mut response = request.send().await.map_err(WireError::Http)?;
        let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
        let body = response.bytes_stream().map(|piece| piece.map_err(WireError::Http)).boxed();
        Ok(WireAnswer { status, headers, body })
    }
}

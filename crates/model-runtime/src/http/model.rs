use std::{future::Future, sync::Arc};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use reqwest::{
    Method, Url,
    header::{CONTENT_TYPE, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};
use thermidor_types::{FailureKind, ModelCard};
use tokio::time::{Instant, timeout_at};

use super::{Transport, WireAnswer, WireCall, WireError, answer::Answer, failing, headers};
use crate::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, Provider,
    dialect::{self, Decoder, Fault, Target},
    layer::unseen_failure,
};

/// The longest body of a failed request that is read, in bytes.
const LONGEST_FAULT: usize = 64 << 10;

/// One model of one provider over HTTP, without retry and metering.
///
/// `stream` returns when the first event is there, so that everything that fails before it is an [`Error`].
#[derive(Debug)]
pub struct HttpModel {
    card: ModelCard,
    provider: Arc<Provider>,
    key: Option<SecretString>,
    transport: Arc<dyn Transport>,
}

impl HttpModel {
    pub(crate) fn new(
        card: ModelCard,
        provider: Arc<Provider>,
        key: Option<SecretString>,
        transport: Arc<dyn Transport>,
    ) -> Self {
        Self { card, provider, key, transport }
    }

    fn error(&self, kind: FailureKind, message: impl Into<String>) -> Error {
        Error::new(kind, self.card.id.clone(), redacted(message.into(), self.key.as_ref()))
    }

    fn call(&self, request: &ChatRequest) -> Result<WireCall, Error> {
        let wire = dialect::encode(request, Target { card: &self.card, provider: &self.provider })
            .map_err(|error| self.error(FailureKind::InvalidRequest, error.to_string()))?;
        let address = self.provider.url(&wire.path);
        let url: Url = address.parse().map_err(|_| {
            self.error(FailureKind::Configuration, format!("{:?} is no address", self.provider.base_url))
        })?;
        let mut call = WireCall::new(Method::POST, url, self.card.id.clone())
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        call.body = wire.body.into();
        for (name, value) in
            self.provider.headers.iter().chain(wire.headers.iter().map(|(name, value)| (name, value)))
        {
            call = call.header(name, value);
        }
        if let Some(key) = &self.key {
            call = call.authorised(&self.provider.auth, key).ok_or_else(|| {
                self.error(FailureKind::Credentials, "the key holds characters that no header can")
            })?;
        }
        if let Some(key) = &request.idempotency_key
            && HeaderValue::from_str(key).is_ok()
        {
            call = call.header("idempotency-key", key);
        }
        Ok(call)
    }

    async fn in_time<T>(&self, until: Instant, work: impl Future<Output = T> + Send) -> Result<T, Error> {
        let silent = |_| self.error(FailureKind::Timeout, "no answer came in time");
        timeout_at(until, work).await.map_err(silent)
    }

    fn not_sent(&self, host: &str, error: WireError) -> Error {
        let error = match error {
            WireError::Own(error) => return error,
            other => other.without_url(),
        };
        let base_url = &self.provider.base_url;
        let (kind, message) = failing::broken(&error, host, base_url, "could not be reached");
        self.error(kind, message).with_source(error)
    }

    async fn refused(&self, mut answer: WireAnswer) -> Error {
        let mut body = Vec::new();
        while body.len() < LONGEST_FAULT {
            match answer.chunk().await {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) | Err(_) => break, // the status alone says enough
            }
        }
        let fault = dialect::read_fault(Some(answer.status), &body);
        failing::headed(self.fault(&fault), &answer)
    }

    /// The wait and the request's name may stand in the body or in the headers, which are added later and win.
    fn fault(&self, fault: &Fault) -> Error {
        failing::said(self.error(fault.kind, fault.message.clone()), fault, self.key.as_ref())
    }
}

#[async_trait]
impl ChatModel for HttpModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let (times, start) = (self.transport.timeouts(), Instant::now());
        let call = self.call(&request)?;
        let host = place(&call.url);
        let first = start + times.first_event.min(times.total);
        let sent = self.in_time(first, self.transport.send(call)).await?;
        let reply = sent.map_err(|error| self.not_sent(&host, error))?;
        if !reply.is_success() {
            return Err(self.in_time(first, self.refused(reply)).await?);
        }
        let request_id = headers::request_id(&reply.headers);
        let content_type = reply.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if content_type.is_some_and(|value| value.starts_with("text/html")) {
            return Err(self.error(FailureKind::Malformed, "a web page came instead of an answer"));
        }
        let decoder = Decoder::new(
            self.provider.dialect,
            self.card.id.clone(),
            request.call_prefix,
            &self.provider.quirks,
        );
        let most = request.max_output;
        let mut answer = Answer::new(reply.body, decoder, times, start, most, self.key.clone());
        let event = answer.next().await;
        if let Some(ChatEvent::Ended(end)) = &event
            && let Some(failure) = unseen_failure(end)
        {
            let error = match answer.fault() {
                Some(fault) => self.fault(fault),
                None => self.error(failure.kind, failure.message.as_str()),
            };
            return Err(match request_id {
                Some(request_id) => error.with_request_id(request_id),
                None => error,
            });
        }
        Ok(stream::iter(event).chain(answer).boxed())
    }
}

/// The host, and the port where it is not the usual one.
pub(super) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// `text` without the key, wherever a provider quotes it.
pub(super) fn redacted(text: String, key: Option<&SecretString>) -> String {
    match key.map(ExposeSecret::expose_secret) {
        Some(key) if key.len() >= 4 && text.contains(key) => text.replace(key, "[key]"),
        _ => text,
    }
}

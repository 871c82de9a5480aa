use std::time::Duration;

use smol_str::SmolStr;
use thermidor_types::{Failure, FailureKind, ModelId, Usage};

use crate::FaultClass;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a model call failed, or why a model could not be found.
///
/// One pointer wide: results stay small on the paths that succeed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Details>);

#[derive(Debug, thiserror::Error)]
#[error("{kind} while calling {}{}", named(.model), detail(.message))]
struct Details {
    kind: FailureKind,
    model: ModelId,
    message: String,
    class: Option<FaultClass>,
    status: Option<u16>,
    code: Option<SmolStr>,
    request_id: Option<SmolStr>,
    retry_after: Option<Duration>,
    usage: Usage,
    sent: bool,
    everywhere: bool,
    #[source]
    source: Option<Source>,
}

fn named(model: &ModelId) -> String {
    match (model.provider(), model.model()) {
        ("", "") => "a model".to_owned(),
        (provider, "") => provider.to_owned(),
        _ => model.to_string(),
    }
}

fn detail(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl Error {
    /// A failure of `kind` in a call to `model`; `message` is for people and holds no secret.
    pub fn new(kind: FailureKind, model: ModelId, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            model,
            message: message.into(),
            class: FaultClass::of(kind),
            status: None,
            code: None,
            request_id: None,
            retry_after: None,
            usage: Usage::default(),
            sent: true,
            everywhere: false,
            source: None,
        }))
    }

    /// Adds the error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Adds the provider's own code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<SmolStr>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Adds the provider's name for the request.
    #[must_use]
    pub fn with_request_id(mut self, request_id: impl Into<SmolStr>) -> Self {
        self.0.request_id = Some(request_id.into());
        self
    }

    /// Adds the time the provider asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Adds the finer class.
    #[must_use]
    pub fn with_class(mut self, class: FaultClass) -> Self {
        self.0.class = Some(class);
        self
    }

    /// Adds what was consumed all the same, by tries that came to nothing.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.0.usage = usage;
        self
    }

    /// Marks a failure of our own: no request left, so it says nothing of the provider.
    #[must_use]
    pub(crate) fn unsent(mut self) -> Self {
        self.0.sent = false;
        self
    }

    /// Marks a failure that would be the same at every other place.
    #[must_use]
    pub(crate) fn everywhere(mut self) -> Self {
        self.0.everywhere = true;
        self
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// The model that was called.
    pub fn model(&self) -> &ModelId {
        &self.0.model
    }

    /// The sentence for people, the provider's own words if it had any.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status, when there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The provider's own code, when there was one.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The provider's name for the request, to quote to its support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// The least time to wait before another try, when the provider named one.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The finer class, kept as detail; none for failures that no provider causes.
    pub fn class(&self) -> Option<FaultClass> {
        self.0.class
    }

    /// What was consumed all the same, by tries that came to nothing. Nothing, where nobody knows.
    pub fn usage(&self) -> Usage {
        self.0.usage
    }

    /// Whether a request was sent, or may have been. Not when a layer refused it: an open [`Breaker`](crate::Breaker),
    /// a full queue ([`Limited`](crate::Limited)).
    pub fn was_sent(&self) -> bool {
        self.0.sent
    }

    /// Whether the same request may succeed at another place: another key, another channel, another model.
    ///
    /// The kind answers ([`FailureKind::failover`]) unless the failure says more: what one deployment cannot do,
    /// fetch or hold, another may.
    pub fn failover(&self) -> bool {
        !self.0.everywhere
            && (self.kind().failover() || self.0.class.is_some_and(FaultClass::differs_by_place))
    }

    /// The failure as data, for events.
    pub fn to_failure(&self) -> Failure {
        Failure::new(self.0.kind, format!("{}{}", named(&self.0.model), detail(&self.0.message)))
    }
}

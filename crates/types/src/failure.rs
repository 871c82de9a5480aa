use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Text;

/// Why something failed, as a closed set that programs can branch on.
///
/// Whether to try again is answered by [`FailureKind::retryable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureKind {
    /// The request was malformed or asked for something the other side does not do.
    InvalidRequest,
    /// No key, a wrong key, or a key without the right.
    Credentials,
    /// The account has no money or quota left.
    Quota,
    /// Too many requests or tokens in a time.
    RateLimited,
    /// The model, route or resource does not exist.
    NotFound,
    /// The prompt is longer than the model's window.
    ContextTooLong,
    /// The provider's content rules refused the request or the answer.
    ContentRefused,
    /// The other side is up and says that it cannot work now.
    Overloaded,
    /// The other side failed in itself (5xx).
    Server,
    /// The other side could not be reached, or the connection broke.
    Network,
    /// Nothing came within the time allowed.
    Timeout,
    /// What came cannot be understood.
    Malformed,
    /// It was asked to stop.
    Cancelled,
    /// What was configured cannot work.
    Configuration,
    /// The answer does not meet what was asked of it.
    Unfit,
    /// A defect of ours.
    Internal,
}

impl FailureKind {
    /// Whether the same request to the same place may succeed later.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Server
                | Self::Network
                | Self::Timeout
                | Self::Malformed
        )
    }

    /// Whether the same request may succeed at another place: another key, another channel, another model.
    ///
    /// A question of its own. A wrong key is not worth a retry and well worth another channel; a malformed
    /// request fails everywhere.
    pub const fn failover(self) -> bool {
        match self {
            Self::Credentials
            | Self::Quota
            | Self::RateLimited
            | Self::NotFound
            | Self::Overloaded
            | Self::Server
            | Self::Network
            | Self::Timeout
            | Self::Malformed
            | Self::Configuration => true,
            Self::InvalidRequest
            | Self::ContextTooLong
            | Self::ContentRefused
            | Self::Cancelled
            | Self::Unfit
            | Self::Internal => false,
        }
    }

    /// The kind as words, a fragment that reads well after "failed to": `rate limited`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid request",
            Self::Credentials => "credentials refused",
            Self::Quota => "quota used up",
            Self::RateLimited => "rate limited",
            Self::NotFound => "not found",
            Self::ContextTooLong => "prompt longer than the context window",
            Self::ContentRefused => "refused by content rules",
            Self::Overloaded => "overloaded",
            Self::Server => "server error",
            Self::Network => "network error",
            Self::Timeout => "timed out",
            Self::Malformed => "malformed answer",
            Self::Cancelled => "cancelled",
            Self::Configuration => "configuration error",
            Self::Unfit => "unfit answer",
            Self::Internal => "internal error",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A failure as data: what an event, a journal or a front end keeps of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The closed kind.
    pub kind: FailureKind,
    /// One sentence for people, without secrets.
    pub message: Text,
}

impl Failure {
    /// A failure of `kind` with a sentence for people.
    pub fn new(kind: FailureKind, message: impl Into<Text>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() { self.kind.fmt(f) } else { write!(f, "{}: {}", self.kind, self.message) }
    }
}

impl std::error::Error for Failure {}

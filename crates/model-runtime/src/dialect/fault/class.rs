use std::fmt;

use serde::{Deserialize, Serialize};
use thermidor_types::FailureKind;

/// A finer class of failure than [`FailureKind`], kept as detail: for statistics, support and front ends that
/// know these names. Programs branch on the kind.
///
/// Names, numbers and the status shown to clients are those of `LobeHub`'s error taxonomy, as far as a model call
/// can meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultClass {
    /// No key, or a wrong one.
    #[serde(rename = "InvalidProviderAPIKey")]
    InvalidProviderApiKey,
    /// The key has not the right.
    PermissionDenied,
    /// The account is closed, locked or not verified.
    AccountDeactivated,
    /// The provider does not serve this country.
    LocationNotSupportError,
    /// No money or quota left.
    InsufficientQuota,
    /// Too many requests or tokens in a time.
    RateLimitExceeded,
    /// The provider is overloaded, down or failed in itself.
    ProviderServiceUnavailable,
    /// An aggregator has nobody who serves the model.
    NoAvailableChannel,
    /// The model or deployment does not exist, or no more.
    ModelNotFound,
    /// The prompt is longer than the window.
    ExceededContextWindow,
    /// More tools than are allowed.
    ExceededToolLimit,
    /// More images than are allowed here.
    ExceededImageLimit,
    /// The model or its deployment cannot do what was asked: images, tools, a schema.
    CapabilityNotSupported,
    /// The request is malformed.
    InvalidRequestFormat,
    /// The body is larger than the server reads.
    RequestBodyTooLarge,
    /// The provider could not fetch a file by its address.
    RemoteMediaDownloadTimeout,
    /// A moderation filter refused the prompt or the answer.
    ContentModeration,
    /// The provider's usage policy forbids the request.
    ProviderContentPolicyViolation,
    /// The connection failed, or nothing came in time.
    ProviderNetworkError,
    /// A failure of the provider that says no more.
    ProviderBizError,
    /// A gateway before the provider failed.
    UpstreamGatewayError,
    /// What came is no answer.
    UpstreamMalformedResponse,
    /// A status that says no more.
    UpstreamHttpError,
    /// The answer was empty.
    ModelEmptyCompletion,
    /// The model declined to answer.
    ModelRefusal,
    /// What was configured cannot work.
    UserConfigError,
}

impl FaultClass {
    /// All classes.
    pub const ALL: [Self; 26] = [
        Self::InvalidProviderApiKey,
        Self::PermissionDenied,
        Self::AccountDeactivated,
        Self::LocationNotSupportError,
        Self::InsufficientQuota,
        Self::RateLimitExceeded,
        Self::ProviderServiceUnavailable,
        Self::NoAvailableChannel,
        Self::ModelNotFound,
        Self::ExceededContextWindow,
        Self::ExceededToolLimit,
        Self::ExceededImageLimit,
        Self::CapabilityNotSupported,
        Self::InvalidRequestFormat,
        Self::RequestBodyTooLarge,
        Self::RemoteMediaDownloadTimeout,
        Self::ContentModeration,
        Self::ProviderContentPolicyViolation,
        Self::ProviderNetworkError,
        Self::ProviderBizError,
        Self::UpstreamGatewayError,
        Self::UpstreamMalformedResponse,
        Self::UpstreamHttpError,
        Self::ModelEmptyCompletion,
        Self::ModelRefusal,
        Self::UserConfigError,
    ];

    /// The stable number; a few newer classes have none.
    pub const fn number(self) -> Option<u16> {
        Some(match self {
            Self::InvalidProviderApiKey => 1001,
            Self::PermissionDenied => 1006,
            Self::AccountDeactivated => 1007,
            Self::LocationNotSupportError => 1008,
            Self::InsufficientQuota => 2001,
            Self::RateLimitExceeded => 3001,
            Self::ProviderServiceUnavailable => 3002,
            Self::NoAvailableChannel => 3003,
            Self::ModelNotFound => 4001,
            Self::ExceededContextWindow => 4002,
            Self::ExceededToolLimit => 4003,
            Self::CapabilityNotSupported => 4004,
            Self::InvalidRequestFormat => 4005,
            Self::ContentModeration => 5001,
            Self::ProviderNetworkError => 6001,
            Self::ProviderBizError => 8002,
            Self::ProviderContentPolicyViolation => 8010,
            Self::UpstreamGatewayError => 8011,
            Self::UpstreamMalformedResponse => 8012,
            Self::UpstreamHttpError => 8013,
            Self::ModelEmptyCompletion => 8014,
            Self::ModelRefusal => 8015,
            Self::UserConfigError => 9003,
            Self::ExceededImageLimit | Self::RequestBodyTooLarge | Self::RemoteMediaDownloadTimeout => {
                return None;
            }
        })
    }

    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidProviderApiKey => "InvalidProviderAPIKey",
            Self::PermissionDenied => "PermissionDenied",
            Self::AccountDeactivated => "AccountDeactivated",
            Self::LocationNotSupportError => "LocationNotSupportError",
            Self::InsufficientQuota => "InsufficientQuota",
            Self::RateLimitExceeded => "RateLimitExceeded",
            Self::ProviderServiceUnavailable => "ProviderServiceUnavailable",
            Self::NoAvailableChannel => "NoAvailableChannel",
            Self::ModelNotFound => "ModelNotFound",
            Self::ExceededContextWindow => "ExceededContextWindow",
            Self::ExceededToolLimit => "ExceededToolLimit",
            Self::ExceededImageLimit => "ExceededImageLimit",
            Self::CapabilityNotSupported => "CapabilityNotSupported",
            Self::InvalidRequestFormat => "InvalidRequestFormat",
            Self::RequestBodyTooLarge => "RequestBodyTooLarge",
            Self::RemoteMediaDownloadTimeout => "RemoteMediaDownloadTimeout",
            Self::ContentModeration => "ContentModeration",
            Self::ProviderContentPolicyViolation => "ProviderContentPolicyViolation",
            Self::ProviderNetworkError => "ProviderNetworkError",
            Self::ProviderBizError => "ProviderBizError",
            Self::UpstreamGatewayError => "UpstreamGatewayError",
            Self::UpstreamMalformedResponse => "UpstreamMalformedResponse",
            Self::UpstreamHttpError => "UpstreamHttpError",
            Self::ModelEmptyCompletion => "ModelEmptyCompletion",
            Self::ModelRefusal => "ModelRefusal",
            Self::UserConfigError => "UserConfigError",
        }
    }

    /// The HTTP status for clients of a service built on this crate. 471 is no registered status: it stands for
    /// "the provider failed".
    pub const fn http_status(self) -> u16 {
        match self {
            Self::ExceededContextWindow
            | Self::ExceededToolLimit
            | Self::ExceededImageLimit
            | Self::CapabilityNotSupported
            | Self::InvalidRequestFormat
            | Self::RemoteMediaDownloadTimeout
            | Self::UserConfigError => 400,
            Self::InvalidProviderApiKey => 401,
            Self::PermissionDenied | Self::AccountDeactivated | Self::LocationNotSupportError => 403,
            Self::ModelNotFound => 404,
            Self::RequestBodyTooLarge => 413,
            Self::InsufficientQuota | Self::RateLimitExceeded => 429,
            Self::ContentModeration => 451,
            Self::ProviderBizError
            | Self::ProviderContentPolicyViolation
            | Self::UpstreamGatewayError
            | Self::UpstreamMalformedResponse
            | Self::UpstreamHttpError
            | Self::ModelEmptyCompletion
            | Self::ModelRefusal => 471,
            Self::ProviderServiceUnavailable | Self::NoAvailableChannel => 503,
            Self::ProviderNetworkError => 504,
        }
    }

    /// The class of a failure of which only the kind is known; none for failures that no provider causes.
    pub const fn of(kind: FailureKind) -> Option<Self> {
        Some(match kind {
            FailureKind::InvalidRequest => Self::InvalidRequestFormat,
            FailureKind::Credentials => Self::InvalidProviderApiKey,
            FailureKind::Quota => Self::InsufficientQuota,
            FailureKind::RateLimited => Self::RateLimitExceeded,
            FailureKind::NotFound => Self::ModelNotFound,
            FailureKind::ContextTooLong => Self::ExceededContextWindow,
            FailureKind::ContentRefused => Self::ContentModeration,
            FailureKind::Overloaded | FailureKind::Server => Self::ProviderServiceUnavailable,
            FailureKind::Network | FailureKind::Timeout => Self::ProviderNetworkError,
            FailureKind::Malformed => Self::UpstreamMalformedResponse,
            FailureKind::Configuration => Self::UserConfigError,
            FailureKind::Cancelled | FailureKind::Unfit | FailureKind::Internal => return None,
        })
    }

    /// Whether another place may do what this one does not, although its kind says that the request is at fault:
    /// deployments of one model differ in abilities, limits and what they can fetch.
    pub(crate) const fn differs_by_place(self) -> bool {
        matches!(
            self,
            Self::CapabilityNotSupported
                | Self::ExceededImageLimit
                | Self::RemoteMediaDownloadTimeout
                | Self::UpstreamHttpError
        )
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

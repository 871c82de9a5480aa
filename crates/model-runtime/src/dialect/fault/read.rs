use std::time::Duration;

use smol_str::SmolStr;
use thermidor_types::FailureKind;

use super::{
    FaultClass,
    body::Said,
    codes::{self, Verdict},
    phrases,
};

/// The longest message kept, in characters.
const LONGEST_MESSAGE: usize = 600;

/// A failure in the provider's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it means.
    pub kind: FailureKind,
    /// What it means in finer words, where a provider can cause it.
    pub class: Option<FaultClass>,
    /// The provider's code or, without one, its type; shortened.
    pub code: Option<SmolStr>,
    /// What the provider said, shortened.
    pub message: String,
    /// The wait the body asks for, as Google's does. Headers ask as well: see [`Error`](crate::Error::retry_after).
    pub retry_after: Option<Duration>,
    /// The provider's name for the request, where the body has it.
    pub request_id: Option<SmolStr>,
}

impl Fault {
    /// A failure of `kind`, found by us: no code of the provider's.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let class = FaultClass::of(kind);
        Self { kind, class, code: None, message: message.into(), retry_after: None, request_id: None }
    }
}

/// Reads the body of a failed request, or of a failure inside an answer (`status` `None`).
///
/// A body that is too large (413) needs no words. Then the provider's code decides, unless it is one that says
/// little; then the words, those quoted from others last; then vague codes; then the status. Every body gives a
/// fault, be it empty or a web page.
///
/// ```
/// use thermidor_model_runtime::{FaultClass, dialect::read_fault};
/// use thermidor_types::FailureKind;
///
/// let body = br#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}"#;
/// let fault = read_fault(Some(429), body);
/// assert_eq!((fault.kind, fault.class), (FailureKind::Quota, Some(FaultClass::InsufficientQuota)));
/// ```
pub fn read_fault(status: Option<u16>, body: &[u8]) -> Fault {
    read_fault_text(status, &String::from_utf8_lossy(body))
}

pub(crate) fn read_fault_text(status: Option<u16>, body: &str) -> Fault {
    let said = Said::read(body);
    let (class, kind) = judge(status, &said);
    let mut message: String = said.message.chars().take(LONGEST_MESSAGE).collect();
    if message.len() < said.message.len() {
        message.push('…');
    }
    // A number says no more than the status does.
    let telling = said.codes.iter().find(|code| code.parse::<u16>().is_err()).cloned();
    let base = said.base_resp.map(|code| SmolStr::from(code.to_string()));
    let code = telling.or_else(|| said.codes.first().cloned()).or(base);
    let (retry_after, request_id) = (said.retry_after, said.request_id);
    Fault { kind, class: Some(class), code, message, retry_after, request_id }
}

fn judge(status: Option<u16>, said: &Said) -> Verdict {
    if status == Some(413) {
        return (FaultClass::RequestBodyTooLarge, FailureKind::ContextTooLong);
    }
    if said.retry_after.is_some()
        && said.codes.iter().any(|code| code == "429" || code == "RESOURCE_EXHAUSTED")
    {
        return (FaultClass::RateLimitExceeded, FailureKind::RateLimited);
    }
    // Inside an answer a code is all there is of a status.
    let inside =
        || said.codes.iter().find_map(|code| code.parse().ok().filter(|code| (400..600).contains(code)));
    let status = status.filter(|status| *status >= 400).or_else(inside);
    let by_code = |table: fn(&str) -> Option<Verdict>| said.codes.iter().find_map(|code| table(code));
    by_code(codes::telling)
        .or_else(|| by_code(codes::zhipu))
        .or_else(|| said.base_resp.and_then(codes::minimax))
        .or_else(|| phrases::verdict(&said.message))
        .or_else(|| said.quoted.iter().find_map(|text| phrases::verdict(text)))
        .or_else(|| status.and_then(telling_status))
        .or_else(|| by_code(codes::vague))
        .or_else(|| status.map(|status| plain_status(status, said.page)))
        .unwrap_or(if said.page {
            (FaultClass::UpstreamMalformedResponse, FailureKind::Malformed)
        } else {
            (FaultClass::ProviderBizError, FailureKind::Server)
        })
}

/// Statuses that say more than a vague code.
fn telling_status(status: u16) -> Option<Verdict> {
    Some(match status {
        401 => (FaultClass::InvalidProviderApiKey, FailureKind::Credentials),
        402 => (FaultClass::InsufficientQuota, FailureKind::Quota),
        403 => (FaultClass::PermissionDenied, FailureKind::Credentials),
        404 | 410 => (FaultClass::ModelNotFound, FailureKind::NotFound),
        408 => (FaultClass::ProviderNetworkError, FailureKind::Timeout),
        429 => (FaultClass::RateLimitExceeded, FailureKind::RateLimited),
        451 => (FaultClass::ContentModeration, FailureKind::ContentRefused),
        502 => (FaultClass::UpstreamGatewayError, FailureKind::Server),
        504 | 524 => (FaultClass::UpstreamGatewayError, FailureKind::Timeout),
        503 | 529 => (FaultClass::ProviderServiceUnavailable, FailureKind::Overloaded),
        _ => return None,
    })
}

fn plain_status(status: u16, page: bool) -> Verdict {
    match status {
        400 | 422 => (FaultClass::InvalidRequestFormat, FailureKind::InvalidRequest),
        // Taken, locked, too early: it may work in a moment.
        409 | 423 | 425 => (FaultClass::UpstreamHttpError, FailureKind::Overloaded),
        401..=499 => (FaultClass::UpstreamHttpError, FailureKind::InvalidRequest),
        500..=599 if page => (FaultClass::UpstreamGatewayError, FailureKind::Server),
        500..=599 => (FaultClass::ProviderServiceUnavailable, FailureKind::Server),
        _ => (FaultClass::ProviderBizError, FailureKind::Server),
    }
}

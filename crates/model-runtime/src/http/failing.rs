//! What a failed exchange means, for everything that is sent.

use secrecy::SecretString;
use thermidor_types::FailureKind;

use super::{
    headers,
    model::redacted,
    transport::{Broken, WireAnswer, WireError},
};
use crate::{Error, dialect::Fault};

/// `error` with what the provider said of it: class, code, wait, and its name for the request.
pub(super) fn said(mut error: Error, fault: &Fault, key: Option<&SecretString>) -> Error {
    if let Some(class) = fault.class {
        error = error.with_class(class);
    }
    if let Some(code) = &fault.code {
        error = error.with_code(redacted(code.to_string(), key));
    }
    if let Some(wait) = fault.retry_after {
        error = error.with_retry_after(wait);
    }
    match &fault.request_id {
        Some(request_id) => error.with_request_id(request_id.clone()),
        None => error,
    }
}

/// `error` with what stands before the body: the status, and a wait and a name that win over those in the body.
pub(super) fn headed(error: Error, answer: &WireAnswer) -> Error {
    let mut error = error.with_status(answer.status);
    if let Some(wait) = headers::retry_after(&answer.headers) {
        error = error.with_retry_after(wait);
    }
    match headers::request_id(&answer.headers) {
        Some(request_id) => error.with_request_id(request_id),
        None => error,
    }
}

/// Why nothing came back from `host`; `late` says what was not done in time.
pub(super) fn broken(error: &WireError, host: &str, base_url: &str, late: &str) -> (FailureKind, String) {
    match error.broken() {
        Broken::Late => (FailureKind::Timeout, format!("{host} {late} in time")),
        Broken::Unwritable => {
            (FailureKind::Configuration, format!("no request could be made from {base_url:?}"))
        }
        Broken::Unreachable => {
            (FailureKind::Network, format!("{host} could not be reached{}", error.root_cause()))
        }
        Broken::Broke => (FailureKind::Network, format!("the connection to {host} broke")),
    }
}

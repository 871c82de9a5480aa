use serde_json::Value;
use smol_str::{SmolStr, ToSmolStr};
use thermidor_types::FailureKind;

/// The longest message kept, in characters.
const LONGEST_MESSAGE: usize = 600;
/// The longest code kept, in characters: none that means something comes near.
const LONGEST_CODE: usize = 100;

/// A failure in the provider's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it means.
    pub kind: FailureKind,
    /// The provider's code or, without one, its type; shortened.
    pub code: Option<SmolStr>,
    /// What the provider said, shortened.
    pub message: String,
}

/// Reads the body of a failed request, or of a failure inside an answer (`status` `None`).
///
/// The provider's code decides first, then its words where codes are vague, then the status. Every body
/// gives a fault, be it empty or a web page.
pub fn read_fault(status: Option<u16>, body: &[u8]) -> Fault {
    read_fault_text(status, &String::from_utf8_lossy(body))
}

pub(super) fn read_fault_text(status: Option<u16>, body: &str) -> Fault {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        let message = if body.trim_start().starts_with('<') { "" } else { body.trim() };
        return Said { codes: Vec::new(), message: message.to_owned(), status }.judge();
    };
    let value = match &value {
        Value::Array(items) => items.first().unwrap_or(&value),
        _ => &value,
    };
    let error = value.get("error").filter(|error| !error.is_null()).or_else(|| value.get("base_resp"));
    let error = error.unwrap_or(value);
    let texts =
        [error, &error["message"], &error["status_msg"], &error["msg"], &error["detail"], &value["message"]];
    let message = texts.iter().find_map(|text| text.as_str()).unwrap_or_default().to_owned();
    let codes = [&error["code"], &error["type"], &error["status_code"], &error["status"]];
    let codes = codes.iter().filter_map(|code| match code {
        Value::String(text) if !text.is_empty() => Some(text.chars().take(LONGEST_CODE).collect()),
        Value::Number(number) => Some(number.to_smolstr()),
        _ => None,
    });
    let message = if message.is_empty() && !error.is_string() { error.to_string() } else { message };
    Said { codes: codes.collect(), message, status }.judge()
}

struct Said {
    codes: Vec<SmolStr>,
    message: String,
    status: Option<u16>,
}

impl Said {
    fn judge(self) -> Fault {
        let status = self.status.or_else(|| self.codes.iter().find_map(|code| code.parse().ok()));
        let by_code = self.codes.iter().find_map(|code| kind_of_code(&code.to_ascii_lowercase()));
        let kind = by_code
            .or_else(|| kind_of_words(&self.message.to_lowercase()))
            .or_else(|| status.and_then(kind_of_status))
            .or_else(|| self.codes.iter().find_map(|code| kind_of_vague_code(&code.to_ascii_lowercase())))
            .unwrap_or(match status {
                Some(400..=499) => FailureKind::InvalidRequest,
                _ => FailureKind::Server,
            });
        let mut message: String = self.message.chars().take(LONGEST_MESSAGE).collect();
        if message.len() < self.message.len() {
            message.push('…');
        }
        // A number says no more than the status does.
        let telling = self.codes.iter().find(|code| code.parse::<u16>().is_err()).cloned();
        Fault { kind, code: telling.or_else(|| self.codes.into_iter().next()), message }
    }
}

fn kind_of_code(code: &str) -> Option<FailureKind> {
    Some(match code {
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "context_window_exceeded"
        | "string_above_max_length"
        | "request_too_large"
        | "1039" => FailureKind::ContextTooLong,
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "insufficient_balance"
        | "quota_exceeded"
        | "arrearage"
        | "1113"
        | "1008" => FailureKind::Quota,
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "rate_limited"
        | "limit_requests"
        | "too_many_requests"
        | "1302"
        | "1002"
        | "1041"
        | "2045" => FailureKind::RateLimited,
        "invalid_api_key"
        | "authentication_error"
        | "invalid_authentication_error"
        | "permission_error"
        | "permission_denied"
        | "account_deactivated"
        | "unauthorized"
        | "1004"
        | "2049" => FailureKind::Credentials,
        "model_not_found" | "invalid_model" | "not_found_error" | "model_not_exist"
        | "deploymentnotfound" => FailureKind::NotFound,
        "content_filter"
        | "content_policy_violation"
        | "data_inspection_failed"
        | "datainspectionfailed"
        | "responsibleaipolicyviolation"
        | "1027" => FailureKind::ContentRefused,
        "overloaded_error"
        | "overloaded"
        | "engine_overloaded_error"
        | "service_unavailable"
        | "insufficient_system_resource" => FailureKind::Overloaded,
        "timeout" | "timeout_error" | "request_timeout" => FailureKind::Timeout,
        "2013" => FailureKind::InvalidRequest,
        _ => return None,
    })
}

/// Codes that say less than a status does.
fn kind_of_vague_code(code: &str) -> Option<FailureKind> {
    Some(match code {
        "invalid_request_error" | "bad_request" => FailureKind::InvalidRequest,
        "server_error" | "api_error" | "internal_error" | "internal_server_error" => FailureKind::Server,
        _ => return None,
    })
}

fn kind_of_words(message: &str) -> Option<FailureKind> {
    const WORDS: [(&str, FailureKind); 14] = [
        ("maximum context length", FailureKind::ContextTooLong),
        ("available context size", FailureKind::ContextTooLong),
        ("context window", FailureKind::ContextTooLong),
        ("prompt is too long", FailureKind::ContextTooLong),
        ("exceeded your current quota", FailureKind::Quota),
        ("insufficient balance", FailureKind::Quota),
        ("insufficient credits", FailureKind::Quota),
        ("余额不足", FailureKind::Quota),
        ("欠费", FailureKind::Quota),
        ("content exists risk", FailureKind::ContentRefused),
        ("is not a valid model id", FailureKind::NotFound),
        ("model not found", FailureKind::NotFound),
        ("incorrect api key", FailureKind::Credentials),
        ("invalid api key", FailureKind::Credentials),
    ];
    WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, kind)| *kind)
}

fn kind_of_status(status: u16) -> Option<FailureKind> {
    Some(match status {
        401 | 403 => FailureKind::Credentials,
        402 => FailureKind::Quota,
        404 | 410 => FailureKind::NotFound,
        408 | 504 => FailureKind::Timeout,
        413 => FailureKind::ContextTooLong,
        429 => FailureKind::RateLimited,
        451 => FailureKind::ContentRefused,
        503 | 529 => FailureKind::Overloaded,
        400 | 405..=499 => FailureKind::InvalidRequest,
        500..=599 => FailureKind::Server,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use FailureKind::{
        ContentRefused, ContextTooLong, Credentials, InvalidRequest, NotFound, Overloaded, Quota,
        RateLimited, Server, Timeout,
    };

    use super::*;

    /// A wrong row means a retry that cannot help, or a person told the wrong remedy.
    #[test]
    fn status_code_and_words_decide_in_this_order() {
        let rows: &[(u16, &str, FailureKind, &str)] = &[
            (
                401,
                r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#,
                Credentials,
                "Incorrect API key",
            ),
            (403, "", Credentials, ""),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, Quota, "Insufficient Balance"),
            (404, r#"{"error":"Specified model not found: x"}"#, NotFound, "Specified model not found: x"),
            (
                404,
                r#"{"error":{"code":"model_not_found","message":"no","type":"invalid_request_error"}}"#,
                NotFound,
                "no",
            ),
            (408, "", Timeout, ""),
            (504, "<html>gateway</html>", Timeout, ""),
            (413, "", ContextTooLong, ""),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"long","type":"invalid_request_error"}}"#,
                ContextTooLong,
                "long",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"request (2009 tokens) exceeds","type":"exceed_context_size_error"}}"#,
                ContextTooLong,
                "request (2009 tokens) exceeds",
            ),
            (
                400,
                r#"{"message":"This model's maximum context length is 8","type":"BadRequestError","code":400}"#,
                ContextTooLong,
                "This model's maximum context length is 8",
            ),
            (429, r#"{"error":{"message":"slow down","type":"requests"}}"#, RateLimited, "slow down"),
            (429, r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#, Quota, "pay"),
            (400, r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#, InvalidRequest, "bad"),
            (
                400,
                r#"{"code":"1500","message":"Invalid model: x","object":"error","type":"invalid_model"}"#,
                NotFound,
                "Invalid model: x",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"a/b is not a valid model ID"}}"#,
                NotFound,
                "a/b is not a valid model ID",
            ),
            (422, r#"{"detail":[{"loc":["body"]}]}"#, InvalidRequest, r#"{"detail":[{"loc":["body"]}]}"#),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
                InvalidRequest,
                "API key not valid",
            ),
            (503, "", Overloaded, ""),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Overloaded,
                "Overloaded",
            ),
            (500, "oops", Server, "oops"),
            (502, "", Server, ""),
            (0, r#"{"error":{"code":502,"message":"upstream"}}"#, Server, "upstream"),
            (0, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overloaded, "Overloaded"),
            (0, r#"{"base_resp":{"status_code":1008,"status_msg":"no money"}}"#, Quota, "no money"),
            (
                0,
                r#"{"error":{"message":"Content Exists Risk","code":"invalid_request_error"}}"#,
                ContentRefused,
                "Content Exists Risk",
            ),
        ];
        for &(status, body, kind, message) in rows {
            let fault = read_fault((status != 0).then_some(status), body.as_bytes());
            assert_eq!((fault.kind, fault.message.as_str()), (kind, message), "{status} {body}");
        }
    }

    #[test]
    fn long_messages_are_shortened() {
        assert_eq!(
            read_fault(Some(500), "ä".repeat(5000).as_bytes()).message.chars().count(),
            LONGEST_MESSAGE + 1
        );
    }
}

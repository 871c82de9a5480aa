use std::time::Duration;

use thermidor_types::FailureKind::{
    self, ContentRefused, ContextTooLong, Credentials, InvalidRequest, Malformed, NotFound, Overloaded,
    Quota, RateLimited, Server, Timeout,
};

use super::{
    FaultClass::{self, *},
    read_fault,
};

/// One row a line: status (0: inside an answer), body, class, kind.
type Row = (u16, &'static str, FaultClass, FailureKind);

#[rustfmt::skip]
const OPENAI: &[Row] = &[
    (401, r#"{"error":{"message":"Incorrect API key provided: sk-***.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#, InvalidProviderApiKey, Credentials),
    (401, r#"{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","param":null,"code":null}}"#, InvalidProviderApiKey, Credentials),
    (403, r#"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}"#, LocationNotSupportError, Credentials),
    (401, r#"{"error":{"message":"Your OpenAI account has been deactivated","type":"invalid_request_error","code":"account_deactivated"}}"#, AccountDeactivated, Credentials),
    (403, r#"{"error":{"message":"You have insufficient permissions for this operation. Missing scopes: model.request","type":"server_error"}}"#, PermissionDenied, Credentials),
    (429, r#"{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#, InsufficientQuota, Quota),
    (429, r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 2s.","type":"tokens","code":"rate_limit_exceeded"}}"#, RateLimitExceeded, RateLimited),
    (404, r#"{"error":{"message":"The model `x` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#, ModelNotFound, NotFound),
    (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"error":{"message":"Invalid 'input': string too long.","type":"invalid_request_error","code":"string_above_max_length"}}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128.","type":"invalid_request_error","code":"array_above_max_length"}}"#, ExceededToolLimit, InvalidRequest),
    (400, r#"{"error":{"message":"Timeout while downloading https://a.example/x.png.","type":"invalid_request_error","code":"invalid_value"}}"#, RemoteMediaDownloadTimeout, InvalidRequest),
    (400, r#"{"error":{"message":"Your request was rejected as a result of our safety system.","type":"invalid_request_error","code":"content_policy_violation"}}"#, ProviderContentPolicyViolation, ContentRefused),
    (400, r#"{"error":{"message":"Unsupported parameter: 'max_tokens'","type":"invalid_request_error","code":"unsupported_parameter"}}"#, InvalidRequestFormat, InvalidRequest),
    (500, r#"{"error":{"message":"The server had an error while processing your request.","type":"server_error"}}"#, ProviderServiceUnavailable, Server),
    (503, r#"{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}"#, ProviderServiceUnavailable, Overloaded),
    (0, r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"boom"}}}"#, ProviderServiceUnavailable, Server),
    (0, r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","sequence_number":3}"#, RateLimitExceeded, RateLimited),
];

#[rustfmt::skip]
const ANTHROPIC: &[Row] = &[
    (401, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}"#, InvalidProviderApiKey, Credentials),
    (403, r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission."}}"#, PermissionDenied, Credentials),
    (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#, InsufficientQuota, Quota),
    (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}"#, AccountDeactivated, Credentials),
    (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate"}}"#, InvalidRequestFormat, InvalidRequest),
    (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#, ModelNotFound, NotFound),
    (413, r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#, RequestBodyTooLarge, ContextTooLong),
    (429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}"#, RateLimitExceeded, RateLimited),
    (500, r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#, ProviderServiceUnavailable, Server),
    (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, ProviderServiceUnavailable, Overloaded),
    (0, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, ProviderServiceUnavailable, Overloaded),
    (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy: content filter"}}"#, ContentModeration, ContentRefused),
];

#[rustfmt::skip]
const GOOGLE: &[Row] = &[
    (400, r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]"#, InvalidProviderApiKey, Credentials),
    (403, r#"{"error":{"code":403,"message":"Generative Language API has not been used in project 1 before","status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}}"#, PermissionDenied, Credentials),
    (400, r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#, LocationNotSupportError, Credentials),
    (429, r#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26.5s"}]}}"#, RateLimitExceeded, RateLimited),
    (429, r#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}"#, InsufficientQuota, Quota),
    (429, r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#, RateLimitExceeded, RateLimited),
    (404, r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#, ModelNotFound, NotFound),
    (400, r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"error":{"code":400,"message":"Invalid JSON payload received.","status":"INVALID_ARGUMENT"}}"#, InvalidRequestFormat, InvalidRequest),
    (503, r#"{"error":{"code":503,"message":"This model is currently experiencing high demand.","status":"UNAVAILABLE"}}"#, ProviderServiceUnavailable, Overloaded),
    (504, r#"{"error":{"code":504,"message":"late","status":"DEADLINE_EXCEEDED"}}"#, ProviderNetworkError, Timeout),
    (500, r#"{"error":{"code":500,"message":"An internal error has occurred","status":"INTERNAL"}}"#, ProviderServiceUnavailable, Server),
    (403, r#"{"error":{"code":403,"message":"Consumer has been suspended.","status":"PERMISSION_DENIED","details":[{"reason":"CONSUMER_SUSPENDED"}]}}"#, AccountDeactivated, Credentials),
];

#[rustfmt::skip]
const CLOUDS: &[Row] = &[
    (404, r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#, ModelNotFound, NotFound),
    (400, r#"{"error":{"code":"DeploymentNotFound","message":"none"}}"#, ModelNotFound, NotFound),
    (400, r#"{"error":{"message":"The response was filtered","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#, ContentModeration, ContentRefused),
    (400, r#"{"error":{"message":"no","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#, ContentModeration, ContentRefused),
    (401, r#"{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}"#, InvalidProviderApiKey, Credentials),
    (401, r#"{"statusCode":401,"message":"Unauthorized. Access token is missing, invalid."}"#, InvalidProviderApiKey, Credentials),
    (429, r#"{"error":{"code":"429","message":"Requests have exceeded call rate limit of your current OpenAI S0 pricing tier."}}"#, RateLimitExceeded, RateLimited),
    (400, r#"{"__type":"com.amazon.coral.service#ThrottlingException","message":"wait"}"#, RateLimitExceeded, RateLimited),
    (403, r#"{"__type":"UnrecognizedClientException","message":"The security token included in the request is invalid."}"#, InvalidProviderApiKey, Credentials),
    (403, r#"{"__type":"AccessDeniedException","message":"You don't have access to the model with the specified model ID."}"#, PermissionDenied, Credentials),
    (400, r#"{"__type":"ValidationException","message":"Input is too long for requested model."}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"message":"Invocation of model ID x with on-demand throughput isn’t supported."}"#, CapabilityNotSupported, InvalidRequest),
    (404, r#"{"message":"This model version has reached the end of its life."}"#, ModelNotFound, NotFound),
];

#[rustfmt::skip]
const CHINESE: &[Row] = &[
    (401, r#"{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"r"}"#, InvalidProviderApiKey, Credentials),
    (400, r#"{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}"#, InsufficientQuota, Quota),
    (400, r#"{"code":"DataInspectionFailed","message":"Input data may contain inappropriate content."}"#, ContentModeration, ContentRefused),
    (429, r#"{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded"}"#, RateLimitExceeded, RateLimited),
    (400, r#"{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]","type":"invalid_request_error"}}"#, ExceededContextWindow, ContextTooLong),
    (429, r#"{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试"}}"#, InsufficientQuota, Quota),
    (429, r#"{"error":{"code":"1302","message":"您当前使用该API的并发数过高"}}"#, RateLimitExceeded, RateLimited),
    (400, r#"{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}"#, ContentModeration, ContentRefused),
    (400, r#"{"error":{"code":"1211","message":"模型不存在，请检查模型代码"}}"#, ModelNotFound, NotFound),
    (400, r#"{"error":{"code":"1261","message":"Prompt 超长"}}"#, ExceededContextWindow, ContextTooLong),
    (200, r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, InsufficientQuota, Quota),
    (200, r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#, RateLimitExceeded, RateLimited),
    (200, r#"{"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#, InvalidProviderApiKey, Credentials),
    (200, r#"{"base_resp":{"status_code":1027,"status_msg":"output new_sensitive"}}"#, ContentModeration, ContentRefused),
    (200, r#"{"base_resp":{"status_code":2013,"status_msg":"invalid params"}}"#, InvalidRequestFormat, InvalidRequest),
    (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#, InsufficientQuota, Quota),
    (400, r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}"#, ContentModeration, ContentRefused),
    (500, r#"{"error":{"message":"当前分组上游负载已饱和，请稍后再试","type":"new_api_error"}}"#, ProviderServiceUnavailable, Overloaded),
    (503, r#"{"error":{"message":"当前分组 default 下对于模型 gpt-9 无可用渠道","type":"new_api_error"}}"#, NoAvailableChannel, NotFound),
    (403, r#"{"error":{"message":"用户额度不足, 剩余额度: 0","type":"new_api_error"}}"#, InsufficientQuota, Quota),
    (401, r#"{"error":{"message":"无效的令牌","type":"new_api_error"}}"#, InvalidProviderApiKey, Credentials),
    (429, r#"{"error":{"message":"请求过于频繁","type":"x"}}"#, RateLimitExceeded, RateLimited),
    (400, r#"{"code":20015,"message":"The model is not a VLM (Vision Language Model).","data":null}"#, CapabilityNotSupported, InvalidRequest),
    (429, r#"{"error":{"message":"Your account org is suspended, please check your plan","type":"exceeded_current_quota_error"}}"#, InsufficientQuota, Quota),
];

#[rustfmt::skip]
const OTHERS: &[Row] = &[
    (404, r#"{"error":"model 'llama9' not found"}"#, ModelNotFound, NotFound),
    (404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, ModelNotFound, NotFound),
    (400, r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#, CapabilityNotSupported, InvalidRequest),
    (500, r#"{"error":"llama runner process has terminated"}"#, ProviderServiceUnavailable, Server),
    (503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#, ProviderServiceUnavailable, Overloaded),
    (400, r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#, ExceededContextWindow, ContextTooLong),
    (400, r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}"#, CapabilityNotSupported, InvalidRequest),
    (400, r#"{"object":"error","message":"At most 1 image(s) may be provided in one request.","type":"BadRequestError","code":400}"#, ExceededImageLimit, InvalidRequest),
    (422, r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096","error_type":"validation"}"#, ExceededContextWindow, ContextTooLong),
    (429, r#"{"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300"}"#, RateLimitExceeded, RateLimited),
    (402, r#"{"error":{"code":402,"message":"This request requires more credits"}}"#, InsufficientQuota, Quota),
    (403, r#"{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["requires moderation"]}}}"#, ContentModeration, ContentRefused),
    (429, r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"model is temporarily rate-limited upstream"}}}"#, RateLimitExceeded, RateLimited),
    (400, r#"{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}"#, ExceededContextWindow, ContextTooLong),
    (404, r#"{"error":{"code":404,"message":"No endpoints found for a/b."}}"#, NoAvailableChannel, NotFound),
    (0, r#"{"error":{"code":502,"message":"upstream"}}"#, UpstreamGatewayError, Server),
    (400, r#"{"code":"invalid-argument","error":"Incorrect API key provided."}"#, InvalidProviderApiKey, Credentials),
    (403, r#"{"code":"permission-denied","error":"Your newly created team doesn't have any credits yet. Please purchase credits."}"#, InsufficientQuota, Quota),
    (413, r#"{"error":{"message":"Request too large on tokens per minute (TPM)","code":"rate_limit_exceeded"}}"#, RequestBodyTooLarge, ContextTooLong),
    (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, InvalidRequestFormat, InvalidRequest),
    (404, r#"{"detail":"Not Found"}"#, ModelNotFound, NotFound),
    (0, r#"{"error":{"message":"I cannot help","type":"refusal"}}"#, ModelRefusal, ContentRefused),
    (504, "<html>gateway</html>", UpstreamGatewayError, Timeout),
    (502, "<!doctype html><title>502</title>", UpstreamGatewayError, Server),
    (520, "<html>web server returned an unknown error</html>", UpstreamGatewayError, Server),
    (0, "<html>login</html>", UpstreamMalformedResponse, Malformed),
    (409, "", UpstreamHttpError, Overloaded),
    (405, "", UpstreamHttpError, InvalidRequest),
    (408, "", ProviderNetworkError, Timeout),
    (451, "", ContentModeration, ContentRefused),
    (500, "oops", ProviderServiceUnavailable, Server),
    (0, "{}", ProviderBizError, Server),
    (0, "", ProviderBizError, Server),
];

/// A wrong row means a retry that cannot help, or a person told the wrong remedy.
#[test]
fn status_code_and_words_decide_in_their_order() {
    let rows: Vec<Row> = [OPENAI, ANTHROPIC, GOOGLE, CLOUDS, CHINESE, OTHERS].concat();
    assert!(rows.len() >= 80, "{}", rows.len());
    let mut wrong = Vec::new();
    for &(status, body, class, kind) in &rows {
        let fault = read_fault((status != 0).then_some(status), body.as_bytes());
        if (fault.class, fault.kind) != (Some(class), kind) {
            wrong.push(format!(
                "{status} {body}\n    {:?} {:?}, not {class:?} {kind:?}",
                fault.class, fault.kind
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let reached = |class: &FaultClass| rows.iter().any(|row| row.2 == *class);
    let unreached: Vec<_> = FaultClass::ALL.into_iter().filter(|class| !reached(class)).collect();
    // Found by us, not read: the layers and the runtime say these.
    assert_eq!(unreached, [ModelEmptyCompletion, UserConfigError]);
}

#[test]
fn what_a_body_says_beside_its_meaning_is_kept() {
    let fault = read_fault(Some(429), GOOGLE[3].1.as_bytes());
    assert_eq!(fault.retry_after, Some(Duration::from_millis(26_500)));
    assert_eq!(fault.code.as_deref(), Some("RESOURCE_EXHAUSTED"));
    let fault = read_fault(Some(401), ANTHROPIC[0].1.as_bytes());
    assert_eq!((fault.request_id.as_deref(), fault.message.as_str()), (Some("req_1"), "invalid x-api-key"));
    let fault = read_fault(Some(422), OTHERS[19].1.as_bytes());
    assert_eq!(fault.message, OTHERS[19].1, "a body without a sentence is its own");
    let fault = read_fault(None, br#"{"base_resp":{"status_code":1008,"status_msg":"no money"}}"#);
    assert_eq!((fault.code.as_deref(), fault.message.as_str()), (Some("1008"), "no money"));
    let nonsense = br#"{"error":{"code":429,"details":[{"retryDelay":"1e99s"},{"retryDelay":7}]}}"#;
    assert_eq!(read_fault(None, nonsense).retry_after, None);
}

#[test]
fn long_messages_are_shortened() {
    assert_eq!(read_fault(Some(500), "ä".repeat(5000).as_bytes()).message.chars().count(), 601);
}

#[test]
fn classes_have_names_and_numbers_of_their_own() {
    let mut names: Vec<_> = FaultClass::ALL.iter().map(|class| class.name()).collect();
    let mut numbers: Vec<_> = FaultClass::ALL.iter().filter_map(|class| class.number()).collect();
    names.sort_unstable();
    names.dedup();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((names.len(), numbers.len()), (26, 23));
    for class in FaultClass::ALL {
        assert_eq!(serde_json::to_string(&class).expect("a name"), format!("{:?}", class.name()));
        assert!((400..600).contains(&class.http_status()));
    }
}

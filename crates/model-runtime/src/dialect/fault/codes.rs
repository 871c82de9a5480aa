use thermidor_types::FailureKind;

use super::FaultClass;

/// What a code, a type or a status word says: its class and its kind.
pub(super) type Verdict = (FaultClass, FailureKind);

/// One meaning and the codes that have it, lower case, without `_`, `-` and `.`, without `Exception` at the end.
type Row = (FaultClass, FailureKind, &'static [&'static str]);

/// Codes that say enough, by meaning. OpenAI, Anthropic, Google, Azure, Bedrock, `DashScope`, vLLM and gateways.
const TELLING: &[Row] = &[
    (
        FaultClass::ExceededContextWindow,
        FailureKind::ContextTooLong,
        &[
            "contextlengthexceeded",
            "exceedcontextsizeerror",
            "contextwindowexceeded",
            "contextwindowexceedederror",
            "contextlengthexceedederror",
            "stringabovemaxlength",
            "inputtoolong",
            "prompttoolong",
        ],
    ),
    (FaultClass::RequestBodyTooLarge, FailureKind::ContextTooLong, &["requesttoolarge", "payloadtoolarge"]),
    (
        FaultClass::InsufficientQuota,
        FailureKind::Quota,
        &[
            "insufficientquota",
            "billinghardlimitreached",
            "billingnotactive",
            "billingerror",
            "billingdisabled",
            "insufficientbalance",
            "insufficientcredits",
            "insufficientuserquota",
            "preconsumetokenquotafailed",
            "quotaexceeded",
            "exceededcurrentquotaerror",
            "arrearage",
            "paymentrequired",
            "outofcredits",
            "usagelimitreached",
        ],
    ),
    (
        FaultClass::RateLimitExceeded,
        FailureKind::RateLimited,
        &[
            "ratelimitexceeded",
            "ratelimiterror",
            "ratelimited",
            "ratelimitreachederror",
            "ratelimitreached",
            "limitrequests",
            "limittokens",
            "toomanyrequests",
            "requestsratelimitexceeded",
            "throttling",
            "throttlingratequota",
            "throttlingburstrate",
            "throttlingallocationquota",
            "throttlinguser",
            "throttled",
            "accountratelimitexceeded",
            "modelaccountrpmratelimitexceeded",
            "modelaccounttpmratelimitexceeded",
        ],
    ),
    (
        FaultClass::InvalidProviderApiKey,
        FailureKind::Credentials,
        &[
            "invalidapikey",
            "incorrectapikey",
            "incorrectapikeyerror",
            "invalidauthenticationerror",
            "authenticationerror",
            "apikeyinvalid",
            "apikeyexpired",
            "invalidtoken",
            "unauthorized",
            "unauthenticated",
            "unrecognizedclient",
            "expiredtoken",
            "invalidsignature",
            "invalidiamtoken",
            "missingapikey",
        ],
    ),
    (
        FaultClass::PermissionDenied,
        FailureKind::Credentials,
        &[
            "permissionerror",
            "permissiondeniederror",
            "modelaccessdenied",
            "servicedisabled",
            "accesstokenscopeinsufficient",
        ],
    ),
    (
        FaultClass::AccountDeactivated,
        FailureKind::Credentials,
        &[
            "accountdeactivated",
            "consumersuspended",
            "accountdisabled",
            "organizationdeactivated",
            "accountoverdueerror",
        ],
    ),
    (
        FaultClass::LocationNotSupportError,
        FailureKind::Credentials,
        &["unsupportedcountryregionterritory", "locationnotsupported"],
    ),
    (
        FaultClass::ModelNotFound,
        FailureKind::NotFound,
        &[
            "modelnotfound",
            "modelnotfounderror",
            "invalidmodel",
            "invalidmodelerror",
            "modelnotexist",
            "modelnotexists",
            "modeldecommissioned",
            "deploymentnotfound",
            "invalidendpointormodelnotfound",
            "modelnotopen",
            "unknownmodel",
        ],
    ),
    (
        FaultClass::NoAvailableChannel,
        FailureKind::NotFound,
        &["noavailablechannel", "modelnotavailableinplan"],
    ),
    (
        FaultClass::ContentModeration,
        FailureKind::ContentRefused,
        &[
            "contentfilter",
            "datainspectionfailed",
            "responsibleaipolicyviolation",
            "sensitivewordsdetected",
            "riskcontrol",
            "inputtextsensitivecontentdetected",
            "outputtextsensitivecontentdetected",
            "moderationblocked",
            "prohibitedcontent",
        ],
    ),
    (
        FaultClass::ProviderContentPolicyViolation,
        FailureKind::ContentRefused,
        &[
            "contentpolicyviolation",
            "imagecontentpolicyviolation",
            "cyberpolicyviolation",
            "usagepolicyviolation",
        ],
    ),
    (FaultClass::ModelRefusal, FailureKind::ContentRefused, &["refusal", "modelrefusal"]),
    (
        FaultClass::ProviderServiceUnavailable,
        FailureKind::Overloaded,
        &[
            "overloadederror",
            "overloaded",
            "engineoverloadederror",
            "engineoverloaded",
            "serveroverloaded",
            "serverisoverloaded",
            "slowdown",
            "serviceunavailable",
            "serviceunavailableerror",
            "insufficientsystemresource",
            "unavailable",
            "unavailableerror",
            "modelnotready",
            "modelunavailable",
            "modeloverloaded",
            "capacityexceeded",
            "servicetiercapacityexceeded",
        ],
    ),
    (
        FaultClass::ProviderNetworkError,
        FailureKind::Timeout,
        &[
            "timeout",
            "timeouterror",
            "requesttimeout",
            "deadlineexceeded",
            "modeltimeout",
            "servertimeout",
            "vectorstoretimeout",
        ],
    ),
    (
        FaultClass::UpstreamGatewayError,
        FailureKind::Server,
        &["badgateway", "upstreamerror", "badresponsestatuscode"],
    ),
    (FaultClass::ExceededImageLimit, FailureKind::InvalidRequest, &["toomanyimages", "maximagesexceeded"]),
    (
        FaultClass::CapabilityNotSupported,
        FailureKind::InvalidRequest,
        &["unsupportedmodel", "modelnotsupported", "toolusenotsupported"],
    ),
];

/// Codes that say less than the words or the status beside them.
const VAGUE: &[Row] = &[
    (
        FaultClass::PermissionDenied,
        FailureKind::Credentials,
        &["permissiondenied", "accessdenied", "forbidden"],
    ),
    (FaultClass::RateLimitExceeded, FailureKind::RateLimited, &["resourceexhausted"]),
    (FaultClass::InsufficientQuota, FailureKind::Quota, &["servicequotaexceeded"]),
    (FaultClass::ModelNotFound, FailureKind::NotFound, &["notfound", "notfounderror", "resourcenotfound"]),
    (
        FaultClass::InvalidRequestFormat,
        FailureKind::InvalidRequest,
        &[
            "invalidrequesterror",
            "invalidrequest",
            "invalidargument",
            "invalidparameter",
            "invalidparametererror",
            "failedprecondition",
            "badrequest",
            "badrequesterror",
            "validation",
            "validationerror",
            "invalidvalue",
            "unknownparameter",
            "unsupportedparameter",
            "unsupportedvalue",
            "missingrequiredparameter",
            "invalidprompt",
            "invalidimage",
            "invalidimageformat",
            "invalidimageurl",
            "invalidbase64image",
            "unsupportedimagemediatype",
            "imagetoolarge",
            "imagetoosmall",
            "imagefiletoolarge",
            "imagefilenotfound",
            "imageparseerror",
            "emptyimagefile",
            "failedtodownloadimage",
        ],
    ),
    (
        FaultClass::ProviderServiceUnavailable,
        FailureKind::Server,
        &[
            "servererror",
            "apierror",
            "internalerror",
            "internalservererror",
            "internal",
            "internalserver",
            "modelerror",
            "unknownerror",
        ],
    ),
];

/// Zhipu numbers its failures; the number is a string inside `error`.
const ZHIPU: &[Row] = &[
    (FaultClass::InvalidProviderApiKey, FailureKind::Credentials, &["1000", "1001", "1002", "1003", "1004"]),
    (FaultClass::AccountDeactivated, FailureKind::Credentials, &["1110", "1111", "1112", "1120", "1121"]),
    (FaultClass::InsufficientQuota, FailureKind::Quota, &["1113", "1304", "1308", "1309"]),
    (FaultClass::ModelNotFound, FailureKind::NotFound, &["1211", "1221", "1222"]),
    (FaultClass::CapabilityNotSupported, FailureKind::InvalidRequest, &["1212"]),
    (FaultClass::InvalidRequestFormat, FailureKind::InvalidRequest, &["1210", "1213", "1214", "1215"]),
    (FaultClass::PermissionDenied, FailureKind::Credentials, &["1220", "1311"]),
    (FaultClass::ExceededContextWindow, FailureKind::ContextTooLong, &["1261"]),
    (FaultClass::ContentModeration, FailureKind::ContentRefused, &["1300", "1301"]),
    (FaultClass::RateLimitExceeded, FailureKind::RateLimited, &["1302", "1303"]),
    (FaultClass::ProviderServiceUnavailable, FailureKind::Overloaded, &["1305", "1312"]),
    (FaultClass::ProviderServiceUnavailable, FailureKind::Server, &["1200", "1230", "1234"]),
];

/// `MiniMax` numbers its failures in `base_resp.status_code`.
const MINIMAX: &[(FaultClass, FailureKind, &[i64])] = &[
    (FaultClass::ProviderServiceUnavailable, FailureKind::Server, &[1000, 1013, 1024, 1033]),
    (FaultClass::ProviderNetworkError, FailureKind::Timeout, &[1001]),
    (FaultClass::RateLimitExceeded, FailureKind::RateLimited, &[1002, 1039, 1041, 2045]),
    (FaultClass::InvalidProviderApiKey, FailureKind::Credentials, &[1004, 2049]),
    (FaultClass::InsufficientQuota, FailureKind::Quota, &[1008, 2056]),
    (FaultClass::ContentModeration, FailureKind::ContentRefused, &[1026, 1027]),
    (FaultClass::InvalidRequestFormat, FailureKind::InvalidRequest, &[2013]),
];

/// The verdict of a code that says enough.
pub(super) fn telling(code: &str) -> Option<Verdict> {
    found(TELLING, code)
}

/// The verdict of a code where neither words nor status say more.
pub(super) fn vague(code: &str) -> Option<Verdict> {
    found(VAGUE, code)
}

/// The verdict of a number of Zhipu's.
pub(super) fn zhipu(code: &str) -> Option<Verdict> {
    found(ZHIPU, code)
}

/// The verdict of a number of `MiniMax`'.
pub(super) fn minimax(code: i64) -> Option<Verdict> {
    MINIMAX.iter().find(|(_, _, codes)| codes.contains(&code)).map(|(class, kind, _)| (*class, *kind))
}

fn found(rows: &[Row], code: &str) -> Option<Verdict> {
    // Bedrock writes `com.amazon.coral#ThrottlingException:http://…`.
    let code = code.rsplit('#').next().unwrap_or(code).split(':').next().unwrap_or(code);
    let plain: String = code.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let plain = plain.strip_suffix("exception").unwrap_or(&plain);
    let row = rows.iter().find(|(_, _, codes)| codes.contains(&plain));
    row.map(|(class, kind, _)| (*class, *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code in two rows, or one that is not in its plain form, would never be found there.
    #[test]
    fn every_code_stands_once_and_plain() {
        for table in [[TELLING, VAGUE].concat(), ZHIPU.to_vec()] {
            let mut codes: Vec<&str> = table.iter().flat_map(|row| row.2).copied().collect();
            for code in &codes {
                assert!(code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{code}");
                assert!(!code.ends_with("exception"), "{code}");
            }
            codes.sort_unstable();
            let all = codes.len();
            codes.dedup();
            assert_eq!(codes.len(), all);
        }
    }
}

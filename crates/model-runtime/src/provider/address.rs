//! Addresses as people write them.

use std::collections::BTreeMap;

use reqwest::Url;

use smol_str::SmolStr;

use super::{Auth, Dialect, Provider, Quirk, Quirks};

/// Paths that people paste together with the address.
const ENDPOINTS: [&str; 5] = ["/chat/completions", "/responses", "/v1/messages", "/api/chat", "/models"];

/// Where Azure serves models, as the ends of host names.
const AZURE_HOSTS: [&str; 3] =
    [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

/// `address` without a trailing slash and without an endpoint at its end; one without any path gets
/// `usual_path`. What is no address stays as it is: whoever uses it says so.
pub(crate) fn tidy(address: &str, usual_path: &str) -> String {
    let mut tidy = address.trim().trim_end_matches('/');
    for endpoint in ENDPOINTS {
        tidy = tidy.strip_suffix(endpoint).unwrap_or(tidy).trim_end_matches('/');
    }
    let bare =
        tidy.parse::<Url>().is_ok_and(|url| url.has_host() && url.path() == "/" && url.query().is_none());
    if bare { format!("{tidy}{}", usual_path.trim_end_matches('/')) } else { tidy.to_owned() }
}

/// The path of `address`, empty when it has none.
pub(crate) fn path_of(address: &str) -> String {
    address.parse::<Url>().map_or_else(|_| String::new(), |url| url.path().trim_end_matches('/').to_owned())
}

/// Whether Azure serves models at `address`.
pub(crate) fn is_azure(address: &str) -> bool {
    let host = address.parse::<Url>().ok().and_then(|url| url.host_str().map(str::to_ascii_lowercase));
    host.is_some_and(|host| AZURE_HOSTS.iter().any(|end| host.ends_with(end)))
}

impl Provider {
    /// A service of the caller's own that speaks `dialect`, without a key unless one is given.
    ///
    /// As [`Provider::new`], but an address without a path stays without: only OpenAI's formats have their
    /// version in it.
    ///
    /// ```
    /// use thermidor_model_runtime::{Dialect, Provider};
    ///
    /// let home = Provider::speaking("home", "http://127.0.0.1:8080/", Dialect::AnthropicMessages);
    /// assert_eq!(home.base_url, "http://127.0.0.1:8080");
    /// ```
    pub fn speaking(name: impl Into<SmolStr>, base_url: impl Into<String>, dialect: Dialect) -> Self {
        let (name, base_url) = (name.into(), base_url.into());
        match dialect {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Self { dialect, ..Self::new(name, base_url) },
            Dialect::AnthropicMessages | Dialect::GoogleGenerate | Dialect::OllamaChat => {
                Self { dialect, ..Self::plain(name, tidy(&base_url, "")) }
            }
        }
    }

    /// The whole address of `path` here. A version that ends the base and begins the path is written once.
    pub(crate) fn url(&self, path: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        let version = path.split('/').nth(1).filter(|segment| !segment.is_empty());
        let base = version.and_then(|version| base.strip_suffix(version)?.strip_suffix('/')).unwrap_or(base);
        format!("{base}{path}")
    }

    /// Azure `OpenAI` at `endpoint`: the resource's name or its address. Models are named by their deployments.
    ///
    /// With an `api-version` in the address (`…/?api-version=2024-10-21`) each deployment has a path of its own
    /// (`/openai/deployments/{model}/chat/completions`); without one the newer `/openai/v1` is used. The key goes
    /// into the header `api-key`.
    ///
    /// ```
    /// use thermidor_model_runtime::Provider;
    ///
    /// assert_eq!(Provider::azure("acme").base_url, "https://acme.openai.azure.com/openai/v1");
    /// let dated = Provider::azure("https://acme.openai.azure.com?api-version=2024-10-21");
    /// assert_eq!(
    ///     dated.path.as_deref(),
    ///     Some("/openai/deployments/{model}/chat/completions?api-version=2024-10-21"),
    /// );
    /// ```
    pub fn azure(endpoint: &str) -> Self {
        let endpoint = endpoint.trim();
        let address = if endpoint.contains("://") {
            endpoint.to_owned()
        } else {
            format!("https://{endpoint}.openai.azure.com")
        };
        let (address, query) = address.split_once('?').unwrap_or((&address, ""));
        let root = address.find("/openai").map_or(address, |at| &address[..at]).trim_end_matches('/');
        let version = query.split('&').find(|part| part.starts_with("api-version="));
        let (base_url, path) = match version {
            Some(version) => {
                (root.to_owned(), Some(format!("/openai/deployments/{{model}}/chat/completions?{version}")))
            }
            None => (format!("{root}/openai/v1"), None),
        };
        let quirks = [
            Quirk::MaxCompletionTokens,
            Quirk::NoTemperatureWhenReasoning,
            Quirk::DeveloperRole,
            Quirk::ReasoningEffort,
        ];
        Self {
            title: "Azure OpenAI".to_owned(),
            base_url,
            path,
            headers: BTreeMap::new(),
            key_variables: vec!["AZURE_OPENAI_API_KEY".into(), "AZURE_API_KEY".into()],
            auth: Auth::Header("api-key".into()),
            quirks: Quirks::of(quirks),
            local: false,
            ..Self::plain("azure".into(), String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        let check = |address: &str, expected: &str| assert_eq!(tidy(address, "/v1"), expected);
        check("http://10.0.0.7:8000", "http://10.0.0.7:8000/v1");
        check(" http://10.0.0.7:8000/ ", "http://10.0.0.7:8000/v1");
        check("http://10.0.0.7:8000/v1/", "http://10.0.0.7:8000/v1");
        check("http://10.0.0.7:8000/v1/chat/completions", "http://10.0.0.7:8000/v1");
        check("https://host/api/paas/v4//", "https://host/api/paas/v4");
        check("https://host/v1/models", "https://host/v1");
        check("nonsense", "nonsense");
    }

    /// Would fail if `/v1/v1/messages` were asked for, whichever way the address was written.
    #[test]
    fn versions_are_written_once() {
        let check = |address: &str, dialect, path: &str, expected: &str| {
            let row = Provider::speaking("home", address, dialect);
            assert_eq!(row.url(path), expected, "{address}");
        };
        check("http://h", Dialect::OpenaiChat, "/chat/completions", "http://h/v1/chat/completions");
        for address in ["http://h", "http://h/", "http://h/v1", "http://h/v1/messages"] {
            check(address, Dialect::AnthropicMessages, "/v1/messages", "http://h/v1/messages");
        }
        check("http://h/v1beta", Dialect::GoogleGenerate, "/v1beta/models/m:x", "http://h/v1beta/models/m:x");
        check("http://h", Dialect::OllamaChat, "/api/chat", "http://h/api/chat");
    }

    #[test]
    fn azure_in_both_forms() {
        let check = |endpoint: &str, base_url: &str, path: Option<&str>| {
            let row = Provider::azure(endpoint);
            assert_eq!((row.base_url.as_str(), row.path.as_deref()), (base_url, path), "{endpoint}");
        };
        let dated = Some("/openai/deployments/{model}/chat/completions?api-version=2024-10-21");
        check("acme", "https://acme.openai.azure.com/openai/v1", None);
        check("https://acme.openai.azure.com/", "https://acme.openai.azure.com/openai/v1", None);
        check("https://acme.openai.azure.com/openai/v1/", "https://acme.openai.azure.com/openai/v1", None);
        check("https://a.b/?api-version=2024-10-21", "https://a.b", dated);
        check("https://a.b/openai/deployments/x?api-version=2024-10-21&y=1", "https://a.b", dated);
        assert!(
            is_azure("https://ACME.openai.azure.com/x") && !is_azure("https://openai.azure.com.evil.org")
        );
    }
}

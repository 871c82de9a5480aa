use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ListedModel, anthropic, google, ollama, openai};
use crate::{Dialect, Provider};

/// The forms in which providers list their models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingForm {
    /// `GET /models` as `OpenAI` answers it, with what other providers add to an entry.
    Openai,
    /// Anthropic's `GET /v1/models`, in pages.
    Anthropic,
    /// Google's `GET /v1beta/models`, in pages.
    Google,
    /// Ollama's `GET /api/tags`, and `POST /api/show` for each model.
    Ollama,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The models on it.
    pub models: Vec<ListedModel>,
    /// Where the next page begins, in the provider's word.
    pub next: Option<String>,
}

impl ListingForm {
    /// The form in which `provider` lists its models: what its row says, else that of its dialect.
    pub fn of(provider: &Provider) -> Self {
        provider.listing.unwrap_or(Self::of_dialect(provider.dialect))
    }

    /// The form that goes with a wire format.
    pub(super) fn of_dialect(dialect: Dialect) -> Self {
        match dialect {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Self::Openai,
            Dialect::AnthropicMessages => Self::Anthropic,
            Dialect::GoogleGenerate => Self::Google,
            Dialect::OllamaChat => Self::Ollama,
        }
    }

    /// The address of a page: the first one, or the one after `next`.
    pub(super) fn address(self, base_url: &str, next: Option<&str>) -> String {
        let base = base_url.trim_end_matches('/');
        let plain = base.strip_suffix("/v1").unwrap_or(base);
        let after = |name: &str| next.map(|next| format!("&{name}={}", escaped(next))).unwrap_or_default();
        match self {
            Self::Openai => format!("{base}/models"),
            Self::Anthropic => format!("{plain}/v1/models?limit=1000{}", after("after_id")),
            Self::Google => {
                let plain = base.strip_suffix("/v1beta").unwrap_or(base);
                format!("{plain}/v1beta/models?pageSize=1000{}", after("pageToken"))
            }
            Self::Ollama => format!("{plain}/api/tags"),
        }
    }

    /// The address that tells more of a single model, where there is one.
    pub(super) fn details(self, base_url: &str) -> Option<String> {
        let base = base_url.trim_end_matches('/');
        match self {
            Self::Ollama => Some(format!("{}/api/show", base.strip_suffix("/v1").unwrap_or(base))),
            Self::Openai | Self::Anthropic | Self::Google => None,
        }
    }
}

/// Reads one page of a list; `None` when the bytes are no list of that form.
///
/// Entries without a name are passed over, fields of an unexpected form count as not told. Pure; cost: linear in
/// the bytes.
///
/// ```
/// use thermidor_model_runtime::listing::{ListingForm, read};
///
/// let page = read(ListingForm::Openai, br#"{"data":[{"id":"qwen3-30b","max_model_len":32768}]}"#);
/// let models = page.expect("a list").models;
/// assert_eq!((models[0].id.as_str(), models[0].window.map(|window| window.0)), ("qwen3-30b", Some(32_768)));
/// ```
pub fn read(form: ListingForm, bytes: &[u8]) -> Option<Page> {
    let list: Value = serde_json::from_slice(bytes).ok()?;
    match form {
        ListingForm::Openai => openai::read(&list),
        ListingForm::Anthropic => anthropic::read(&list),
        ListingForm::Google => google::read(&list),
        ListingForm::Ollama => ollama::read(&list),
    }
}

/// Adds what a server tells of a single model to its entry in the list; `None` when the bytes tell nothing.
///
/// Only Ollama has such an address.
pub fn read_details(form: ListingForm, model: ListedModel, bytes: &[u8]) -> Option<ListedModel> {
    match form {
        ListingForm::Ollama => ollama::details(model, &serde_json::from_slice(bytes).ok()?),
        ListingForm::Openai | ListingForm::Anthropic | ListingForm::Google => None,
    }
}

/// A word as part of a query.
fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_from_the_providers_base() {
        let check = |form: ListingForm, base: &str, next, expected: &str| {
            assert_eq!(form.address(base, next), expected);
        };
        check(ListingForm::Openai, "https://x/v1/", None, "https://x/v1/models");
        check(ListingForm::Anthropic, "https://x", None, "https://x/v1/models?limit=1000");
        check(
            ListingForm::Anthropic,
            "https://x/v1",
            Some("a b"),
            "https://x/v1/models?limit=1000&after_id=a%20b",
        );
        check(
            ListingForm::Google,
            "https://x/v1beta",
            Some("t"),
            "https://x/v1beta/models?pageSize=1000&pageToken=t",
        );
        check(ListingForm::Ollama, "http://127.0.0.1:11434/v1", None, "http://127.0.0.1:11434/api/tags");
        assert_eq!(ListingForm::Ollama.details("http://h/v1").as_deref(), Some("http://h/api/show"));
    }
}

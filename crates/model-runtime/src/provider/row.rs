use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{ModelCard, ModelId, Tokens};

use super::{Quirks, address};
use crate::listing::ListingForm;
use crate::schema::SchemaDialect;
use crate::whole::Services;

/// The window assumed of a model nobody describes, in tokens.
const DEFAULT_WINDOW: Tokens = Tokens(32_768);

/// Where models are served, and how to talk to them.
///
/// Plain data. The rows that ship are [`bundled_providers`](crate::bundled_providers); an own one needs a
/// name and an address:
///
/// ```
/// use thermidor_model_runtime::{ModelRuntime, Provider};
///
/// let runtime = ModelRuntime::builder().provider(Provider::new("lab", "http://10.0.0.7:8000/v1")).build()?;
/// let model = runtime.model("lab/qwen3-30b")?;
/// assert_eq!(model.card().id.to_string(), "lab/qwen3-30b");
/// # Ok::<(), thermidor_model_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name before the slash of a model id.
    pub name: SmolStr,
    /// Other names it is known by.
    #[serde(default)]
    pub aliases: Vec<SmolStr>,
    /// The name for people.
    pub title: String,
    /// The address that the dialect's path is appended to, `/chat/completions` for instance.
    pub base_url: String,
    /// The path to append instead, query included; `{model}` in it is the model's name.
    #[serde(default)]
    pub path: Option<String>,
    /// Headers that every request carries, by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Environment variables that usually hold the key, the preferred first. This crate reads none of them.
    #[serde(default)]
    pub key_variables: Vec<SmolStr>,
    /// The wire format.
    #[serde(default)]
    pub dialect: Dialect,
    /// How the key is sent.
    #[serde(default)]
    pub auth: Auth,
    /// The model taken when only the provider is named.
    #[serde(default)]
    pub default_model: Option<SmolStr>,
    /// How it differs from its dialect.
    #[serde(default)]
    pub quirks: Quirks,
    /// What is different for some of its models; all rules that match apply, the last word counts.
    #[serde(default)]
    pub models: Vec<ModelRule>,
    /// How much of JSON Schema it takes, in tools and in forms of answers.
    #[serde(default)]
    pub schema: SchemaDialect,
    /// How it is known that requests have this form.
    #[serde(default)]
    pub evidence: Evidence,
    /// The form in which it lists its models; that of its dialect when unset.
    #[serde(default)]
    pub listing: Option<ListingForm>,
    /// What it serves beside chat.
    #[serde(default)]
    pub services: Services,
    /// Whether it usually runs on this machine and needs no key.
    #[serde(default)]
    pub local: bool,
    /// The window assumed of models that have no card, in tokens.
    #[serde(default = "default_window")]
    pub context_window: Tokens,
    /// The longest answer assumed of models that have no card, in tokens; as long as the window allows when unset.
    #[serde(default)]
    pub max_output: Option<Tokens>,
}

const fn default_window() -> Tokens {
    DEFAULT_WINDOW
}

impl Provider {
    /// An OpenAI-compatible service of the caller's own, without a key unless one is given.
    ///
    /// The address may be written as people have it at hand: with an endpoint such as `/chat/completions` at its
    /// end, or without a path, which then is `/v1`. At an address of Azure's it is [`Provider::azure`].
    pub fn new(name: impl Into<SmolStr>, base_url: impl Into<String>) -> Self {
        let (name, base_url) = (name.into(), base_url.into());
        if address::is_azure(&base_url) {
            return Self { title: name.to_string(), name, ..Self::azure(&base_url) };
        }
        Self::plain(name, address::tidy(&base_url, "/v1"))
    }

    /// The same provider at another address: a proxy, a mirror, a test server. One without a path takes the path
    /// there was.
    pub fn move_to(&mut self, address: &str) {
        self.base_url = address::tidy(address, &address::path_of(&self.base_url));
    }

    pub(super) fn plain(name: SmolStr, base_url: String) -> Self {
        Self {
            title: name.to_string(),
            name,
            aliases: Vec::new(),
            base_url,
            path: None,
            headers: BTreeMap::new(),
            key_variables: Vec::new(),
            dialect: Dialect::OpenaiChat,
            auth: Auth::Bearer,
            default_model: None,
            quirks: Quirks::default(),
            models: Vec::new(),
            evidence: Evidence::Documented,
            schema: SchemaDialect::Full,
            listing: None,
            services: Services::OPENAI,
            local: true,
            context_window: DEFAULT_WINDOW,
            max_output: None,
        }
    }

    /// The card for a model of which nothing is known but that it is served here.
    pub fn unknown_card(&self, model: &str) -> ModelCard {
        let id = ModelId::new(self.name.clone(), model);
        let mut card =
            ModelCard { max_output: self.max_output, ..ModelCard::unknown(id, self.context_window) };
        // Servers of one's own hold any model to a schema, in these formats; llama.cpp passes it over in the others.
        // Whether a model elsewhere takes one is not known.
        card.abilities.structured_output =
            self.local && matches!(self.dialect, Dialect::OpenaiChat | Dialect::OllamaChat);
        card
    }

    /// The row as it holds for `model`, its rules applied.
    #[must_use]
    pub fn serving(&self, model: &str) -> Self {
        let mut row = self.clone();
        for rule in self.models.iter().filter(|rule| rule.matches(model)) {
            row.quirks = row.quirks.with(&rule.quirks);
            row.dialect = rule.dialect.unwrap_or(row.dialect);
            row.path = rule.path.clone().or(row.path);
        }
        row
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// What is different for models whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRule {
    /// How their names begin, in any case.
    pub prefix: SmolStr,
    /// Further quirks.
    #[serde(default)]
    pub quirks: Quirks,
    /// Another wire format.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Another path.
    #[serde(default)]
    pub path: Option<String>,
}

impl ModelRule {
    fn matches(&self, model: &str) -> bool {
        model.get(..self.prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(&self.prefix))
    }
}

/// How it is known what a provider takes and says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Real exchanges with it are part of the tests.
    Recorded,
    /// Its documentation says so.
    #[default]
    Documented,
}

/// The wire formats there are codecs for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `OpenAI`'s `POST /chat/completions`.
    #[default]
    OpenaiChat,
    /// Google's `POST /v1beta/models/{model}:streamGenerateContent`, and Vertex AI's under other paths.
    GoogleGenerate,
    /// Ollama's own `POST /api/chat`.
    OllamaChat,
    /// `OpenAI`'s `POST /responses`.
    OpenaiResponses,
    /// Anthropic's `POST /v1/messages`.
    AnthropicMessages,
}

/// How a key is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// `Authorization: Bearer …`.
    #[default]
    Bearer,
    /// The bare key in this header.
    Header(SmolStr),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quirk;

    /// Would fail if the first rule shut out the second, or if a rule's word weighed less than its row's.
    #[test]
    fn all_rules_that_match_apply() {
        let rule = |prefix: &str, quirk, path: Option<&str>| ModelRule {
            prefix: prefix.into(),
            quirks: Quirks::of([quirk]),
            dialect: None,
            path: path.map(str::to_owned),
        };
        let rules = vec![
            rule("gpt-5", Quirk::DeveloperRole, Some("/a")),
            rule("GPT-5-pro", Quirk::NoPenalties, Some("/b")),
        ];
        let row = Provider { models: rules, ..Provider::new("lab", "http://127.0.0.1") };
        let flags = |model| row.serving(model).quirks.iter().count();
        assert_eq!((flags("gpt-4"), flags("gpt-5-mini"), flags("Gpt-5-Pro-2"), flags("é")), (0, 1, 2, 0));
        assert_eq!(row.serving("gpt-5-pro").path.as_deref(), Some("/b"));
    }
}

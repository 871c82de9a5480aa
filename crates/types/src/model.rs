use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::{Currency, Text, Tokens};

/// Names a model as `provider/model`. The model's part may contain slashes of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelId {
    provider: SmolStr,
    model: SmolStr,
}

impl ModelId {
    /// The model `model` of `provider`.
    pub fn new(provider: impl Into<SmolStr>, model: impl Into<SmolStr>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }

    /// The provider's name, before the first slash.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The model's name at the provider.
    pub fn model(&self) -> &str {
        &self.model
    }
}

/// The text does not have the form `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form provider/model")]
pub struct ParseModelIdError(String);

impl FromStr for ModelId {
    type Err = ParseModelIdError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, model))
                if !provider.is_empty() && !model.is_empty() && !text.contains(char::is_whitespace) =>
            {
                Ok(Self::new(provider, model))
            }
            _ => Err(ParseModelIdError(text.into())),
        }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl Serialize for ModelId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is known of a model: its window, its abilities, its price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCard {
    /// Which model.
    pub id: ModelId,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Input and output together, in tokens.
    pub context_window: Tokens,
    /// The longest answer, in tokens; the window when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<Tokens>,
    /// What it can do.
    #[serde(default)]
    pub abilities: Abilities,
    /// What it costs, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl ModelCard {
    /// A card for a model of which nothing is known but its window.
    pub fn unknown(id: ModelId, context_window: Tokens) -> Self {
        let abilities = Abilities { tools: true, ..Abilities::default() };
        Self { id, title: None, context_window, max_output: None, abilities, price: None }
    }
}

/// What a model can do beyond text in, text out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, named at every use")]
pub struct Abilities {
    /// It calls tools.
    pub tools: bool,
    /// It reads images.
    pub vision: bool,
    /// It hears audio.
    pub audio: bool,
    /// It thinks before it answers.
    pub reasoning: bool,
    /// It answers by a JSON schema.
    pub structured_output: bool,
    /// It watches videos.
    pub video: bool,
    /// It reads documents as files.
    pub files: bool,
    /// It makes images inside an answer.
    pub image_output: bool,
}

/// Prices in micro-units of `currency` per one million tokens, by the request's size: `2500000` is 2.50.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The currency of all figures.
    pub currency: Currency,
    /// Micro-units per million input tokens.
    pub input: i64,
    /// Micro-units per million input tokens read from the cache; `input` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<i64>,
    /// Micro-units per million input tokens written to the cache; `input` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<i64>,
    /// Micro-units per million input tokens written to the cache for an hour; `cache_write` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<i64>,
    /// Micro-units per million output tokens.
    pub output: i64,
    /// Other rates for larger requests, by rising size. A request is billed whole at the rates of the last
    /// tier it reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
    /// Micro-units for each request beside its tokens, such as the fee for a search; none when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<i64>,
    /// What a batched request costs, in percent of these prices; not on offer when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_percent: Option<u8>,
}

impl Price {
    /// The same rates for every request, without a cache.
    pub const fn new(currency: Currency, input: i64, output: i64) -> Self {
        Self {
            currency,
            input,
            cached_input: None,
            cache_write: None,
            cache_write_hour: None,
            output,
            tiers: Vec::new(),
            request: None,
            batch_percent: None,
        }
    }
}

/// The rates of requests above a size, in the units of [`Price`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTier {
    /// The tier holds for requests with more input tokens than this.
    pub above: Tokens,
    /// Micro-units per million input tokens.
    pub input: i64,
    /// Micro-units per million input tokens read from the cache; `input` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<i64>,
    /// Micro-units per million input tokens written to the cache; `input` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<i64>,
    /// Micro-units per million input tokens written to the cache for an hour; `cache_write` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<i64>,
    /// Micro-units per million output tokens.
    pub output: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_slashes_of_the_model() {
        let id: ModelId = "openrouter/meta/llama-4".parse().expect("valid");
        assert_eq!((id.provider(), id.model()), ("openrouter", "meta/llama-4"));
        for bad in ["gpt-5", "/x", "x/", "a b/c", ""] {
            assert!(bad.parse::<ModelId>().is_err(), "{bad:?} was accepted");
        }
    }
}

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Abilities, ModelCard, ModelId, Price, Text, Tokens};

use super::ModelKind;
use crate::{Error, cards::check_card};

/// Tells which models there are.
#[async_trait]
pub trait ModelListing: Send + Sync + 'static {
    /// All models, in the provider's order. Costs one request a page, and for some servers one a model.
    ///
    /// # Errors
    /// As those of a model call: [`Credentials`](thermidor_types::FailureKind::Credentials) when the key is
    /// refused, [`Network`](thermidor_types::FailureKind::Network) when nobody is there,
    /// [`Malformed`](thermidor_types::FailureKind::Malformed) when the answer is no list.
    async fn list(&self) -> Result<Vec<ListedModel>, Error>;
}

/// A model as its provider lists it. What the provider does not tell is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedModel {
    /// Its name at the provider.
    pub id: SmolStr,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Input and output together, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// The longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<Tokens>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abilities: Option<Abilities>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// When it was made, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<i64>,
    /// What it is for.
    #[serde(default)]
    pub kind: ModelKind,
}

impl ListedModel {
    /// A model of which only the name is told; the kind is guessed from it.
    pub fn named(id: impl Into<SmolStr>) -> Self {
        let id = id.into();
        let kind = ModelKind::guess(&id);
        Self {
            id,
            title: None,
            window: None,
            max_output: None,
            abilities: None,
            price: None,
            created: None,
            kind,
        }
    }

    /// Its card at `provider`: what the list tells goes before what `known` says, and of the rest `known` holds.
    ///
    /// Figures of the list that cannot be meant (see [`check_card`]) are passed over: an odd list never spoils what
    /// is known.
    #[must_use]
    pub fn card(&self, provider: &str, known: &ModelCard) -> ModelCard {
        let base = ModelCard { id: ModelId::new(provider, self.id.clone()), ..known.clone() };
        let mut card = base.clone();
        let take = |card: &mut ModelCard, change: &dyn Fn(&mut ModelCard)| {
            let mut changed = card.clone();
            change(&mut changed);
            if check_card(&changed).is_ok() {
                *card = changed;
            }
        };
        if self.title.is_some() {
            card.title.clone_from(&self.title);
        }
        if let Some(abilities) = self.abilities {
            card.abilities = abilities;
        }
        if let Some(window) = self.window {
            take(&mut card, &|card| {
                card.context_window = window;
                card.max_output = card.max_output.filter(|most| *most <= window);
            });
        }
        if self.max_output.is_some() {
            take(&mut card, &|card| card.max_output = self.max_output);
        }
        if self.price.is_some() {
            take(&mut card, &|card| card.price.clone_from(&self.price));
        }
        card
    }
}

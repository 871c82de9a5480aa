use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde::Deserialize;
use thermidor_types::{ModelCard, ModelId, Tokens};

use super::ModelRuntime;
use crate::{Provider, cards::check_card};

/// How long a server on this machine may take to list its models.
const PATIENCE: Duration = Duration::from_millis(400);

/// A model server found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider's name.
    pub provider: String,
    /// Where it answers.
    pub base_url: String,
    /// The cards of its chat models, with the window where the server tells it.
    pub models: Vec<ModelCard>,
}

#[derive(Deserialize)]
struct Listing {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    /// vLLM tells the window.
    #[serde(default)]
    max_model_len: Option<u64>,
}

impl ModelRuntime {
    /// Asks the local providers for their models, all at once; those that do not answer within 400 ms, or
    /// answer with something else, are left out.
    pub async fn discover_local(&self) -> Vec<LocalServer> {
        let local = self.providers.iter().filter(|provider| provider.local);
        join_all(local.map(|provider| self.probe(provider))).await.into_iter().flatten().collect()
    }

    async fn probe(&self, provider: &Arc<Provider>) -> Option<LocalServer> {
        let base_url = provider.base_url.trim_end_matches('/');
        let url = format!("{base_url}/models").parse().ok()?;
        let client = self.clients.of(&url, &ModelId::new(provider.name.clone(), "")).ok()?;
        let response = client.get(url).timeout(PATIENCE).send().await.ok()?;
        let listing: Listing = response.error_for_status().ok()?.json().await.ok()?;
        let models =
            listing.data.into_iter().filter(|entry| !entry.id.is_empty() && !entry.id.contains("embed"));
        let models = models.map(|entry| {
            let card = provider.unknown_card(&entry.id);
            let told = entry
                .max_model_len
                .map(|window| ModelCard { context_window: Tokens(window), ..card.clone() });
            told.filter(|card| check_card(card).is_ok()).unwrap_or(card)
        });
        Some(LocalServer {
            provider: provider.name.to_string(),
            base_url: base_url.to_owned(),
            models: models.collect(),
        })
    }
}

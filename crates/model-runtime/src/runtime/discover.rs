use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::future::join_all;
use reqwest::Url;
use thermidor_types::ModelCard;
use tokio::time::timeout;

use super::ModelRuntime;
use crate::{
    Provider,
    listing::{HttpListing, ListedModel, ListingForm, ModelKind, ModelListing as _},
};

/// How long a server on this machine may take to answer one request.
const PATIENCE: Duration = Duration::from_millis(400);

/// How long it may take in all: some tell of each model apart.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(2);

/// A model server found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider's name.
    pub provider: String,
    /// Where it answers.
    pub base_url: String,
    /// The cards of its chat models, with the window and the abilities where the server tells them.
    pub models: Vec<ModelCard>,
}

impl ModelRuntime {
    /// Asks the local providers for their models, all at once; those that do not answer within 400 ms, or
    /// answer with something else than a list of models, are left out. Of several rows with one port the first
    /// is asked.
    pub async fn discover_local(&self) -> Vec<LocalServer> {
        let mut ports = HashSet::new();
        let local = self.providers.iter().filter(|provider| provider.local);
        let asked = local.filter(|provider| {
            let url = provider.base_url.parse::<Url>().ok();
            url.is_some_and(|url| {
                ports.insert((url.host_str().map(str::to_owned), url.port_or_known_default()))
            })
        });
        join_all(asked.map(|provider| self.probe(provider))).await.into_iter().flatten().collect()
    }

    async fn probe(&self, provider: &Arc<Provider>) -> Option<LocalServer> {
        // Whoever answers in its place, a proxy for instance, may know the common form of the list alone.
        let common = Arc::new(Provider { listing: Some(ListingForm::Openai), ..Provider::clone(provider) });
        let listed = match self.listed(provider).await {
            Some(listed) => listed,
            None => self.listed(&common).await?,
        };
        let chat = listed.into_iter().filter(|model| model.kind == ModelKind::Chat && !model.id.is_empty());
        let models = chat.map(|model| model.card(&provider.name, &provider.unknown_card(&model.id)));
        Some(LocalServer {
            provider: provider.name.to_string(),
            base_url: provider.base_url.trim_end_matches('/').to_owned(),
            models: models.collect(),
        })
    }

    async fn listed(&self, provider: &Arc<Provider>) -> Option<Vec<ListedModel>> {
        let key = self.keys.get(&provider.name).cloned();
        let listing = HttpListing::new(provider.clone(), key, self.transport.clone(), PATIENCE);
        timeout(PATIENCE_IN_ALL, listing.list()).await.ok()?.ok()
    }
}

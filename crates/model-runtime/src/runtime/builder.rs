use std::{collections::HashMap, sync::Arc};

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard, ModelId};

use super::ModelRuntime;
use crate::{
    CallObserver, ChatModel, Error, Provider, RetryPolicy, Timeouts, bundled_cards, bundled_providers,
    cards::{check_card, find},
    http::Clients,
    listing::{ListedModel, ModelKind},
};

/// Sets a [`ModelRuntime`] up. Nothing is required: without keys the local providers are usable.
#[derive(Default)]
#[must_use]
pub struct ModelRuntimeBuilder {
    keys: Vec<(SmolStr, SecretString)>,
    base_urls: Vec<(SmolStr, String)>,
    providers: Vec<Provider>,
    cards: Vec<ModelCard>,
    listed: Vec<(SmolStr, Vec<ListedModel>)>,
    models: Vec<Arc<dyn ChatModel>>,
    retry: RetryPolicy,
    timeouts: Timeouts,
    observer: Option<Arc<dyn CallObserver>>,
}

impl std::fmt::Debug for ModelRuntimeBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelRuntimeBuilder").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl ModelRuntimeBuilder {
    /// The key for a provider, by its name or an alias. A blank key is none.
    pub fn key(mut self, provider: impl Into<SmolStr>, key: impl Into<SecretString>) -> Self {
        self.keys.push((provider.into(), key.into()));
        self
    }

    /// Another address for a provider: a proxy, a mirror, a test server. One without a path takes the row's.
    pub fn base_url(mut self, provider: impl Into<SmolStr>, base_url: impl Into<String>) -> Self {
        self.base_urls.push((provider.into(), base_url.into()));
        self
    }

    /// A provider of the caller's own. It replaces a bundled one of the same name.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.providers.push(provider);
        self
    }

    /// What is known of a model; it replaces a bundled card. [`build`](Self::build) checks its units.
    pub fn card(mut self, card: ModelCard) -> Self {
        self.cards.push(card);
        self
    }

    /// What a provider, by its name or an alias, told of its models: see [`ModelRuntime::list`].
    ///
    /// What it tells goes before a bundled card, of the rest the bundled card holds; a card of the caller's own goes
    /// before both. Models that do not chat are passed over.
    pub fn listed(mut self, provider: impl Into<SmolStr>, models: Vec<ListedModel>) -> Self {
        self.listed.push((provider.into(), models));
        self
    }

    /// A model of the caller's own, found by the id on its card. It gets retry and metering like any other.
    pub fn register(mut self, model: impl ChatModel) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// As [`register`](Self::register), for a model that is shared already.
    pub fn register_shared(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.models.push(model);
        self
    }

    /// How failed calls are tried again.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// How long calls may be silent.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Is told of every try of every call.
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The runtime. No connection is opened.
    ///
    /// # Errors
    /// [`Configuration`](FailureKind::Configuration) when a key or an address is given for an unknown provider,
    /// or an address is none, or a card's figures cannot be meant (see [`check_card`](crate::check_card)).
    pub fn build(self) -> Result<ModelRuntime, Error> {
        let mut providers: Vec<Provider> = self.providers;
        for bundled in bundled_providers() {
            if !providers.iter().any(|own| own.name == bundled.name) {
                providers.push(bundled.clone());
            }
        }
        let known: Vec<SmolStr> = providers.iter().map(|provider| provider.name.clone()).collect();
        let place = |name: &str| {
            let found = providers.iter().position(|provider| provider.is_called(name));
            found.ok_or_else(|| super::models::unknown_provider(name, known.iter().map(SmolStr::as_str)))
        };
        let mut keys = HashMap::new();
        for (name, key) in self.keys {
            let place = place(&name)?;
            if !key.expose_secret().trim().is_empty() {
                keys.insert(known[place].clone(), key);
            }
        }
        let base_urls: Vec<(usize, String)> = self
            .base_urls
            .into_iter()
            .map(|(name, url)| Ok((place(&name)?, url)))
            .collect::<Result<_, Error>>()?;
        let listed: Vec<(usize, Vec<ListedModel>)> = self
            .listed
            .into_iter()
            .map(|(name, models)| Ok((place(&name)?, models)))
            .collect::<Result<_, Error>>()?;
        for (place, base_url) in base_urls {
            providers[place].move_to(&base_url);
        }
        for provider in &providers {
            let sound = provider.base_url.parse::<Url>().is_ok_and(|url| url.has_host());
            if !sound {
                let message = format!("{:?} is no address such as https://host/v1", provider.base_url);
                let id = ModelId::new(provider.name.clone(), "");
                return Err(Error::new(FailureKind::Configuration, id, message));
            }
        }
        for card in &self.cards {
            check_card(card).map_err(|fault| {
                let message = format!("{}: {}", fault.field, fault.problem);
                Error::new(FailureKind::Configuration, card.id.clone(), message).with_source(fault)
            })?;
        }
        let mut cards = self.cards;
        for (place, models) in &listed {
            let row = &providers[*place];
            for model in models.iter().filter(|model| model.kind == ModelKind::Chat) {
                let id = ModelId::new(row.name.clone(), model.id.clone());
                if !cards.iter().any(|card| card.id == id) {
                    let known = find(&id, bundled_cards()).unwrap_or_else(|| row.unknown_card(&model.id));
                    cards.push(model.card(&row.name, &known));
                }
            }
        }
        Ok(ModelRuntime {
            providers: providers.into_iter().map(Arc::new).collect(),
            keys,
            cards,
            models: self.models,
            retry: self.retry,
            observer: self.observer,
            clients: Arc::new(Clients::new(self.timeouts)),
            learnt: std::sync::Mutex::default(),
        })
    }
}

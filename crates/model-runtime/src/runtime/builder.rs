use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard, ModelId, Timestamp};

use super::{
    ModelRuntime,
    ways::{self, Access, Layers, Ways},
};
use crate::{
    BreakerPolicy, CallObserver, Cassette, ChatModel, Error, Limits, Provider, RetryPolicy, Timeouts,
    bundled_cards, bundled_providers,
    cards::{check_card, find},
    cassette::Player,
    cassette::Recorder,
    http::Clients,
    http::Transport,
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
    channels: Vec<(SmolStr, String, SecretString)>,
    limits: Vec<(SmolStr, Limits)>,
    breaker: Option<BreakerPolicy>,
    fallbacks: Vec<(String, Vec<String>)>,
    record: Option<(PathBuf, Timestamp)>,
    replay: Option<PathBuf>,
}

impl std::fmt::Debug for ModelRuntimeBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelRuntimeBuilder").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl ModelRuntimeBuilder {
    /// The key for a provider, by its name or an alias. A blank key is none.
    ///
    /// Several keys, separated by commas, are used in turn: each call starts with the next one, and goes on to
    /// another when one is refused, used up or limited. Each has its own breaker and limits.
    pub fn key(mut self, provider: impl Into<SmolStr>, key: impl Into<SecretString>) -> Self {
        self.keys.push((provider.into(), key.into()));
        self
    }

    /// One more way to a provider: another address with its key, blank for none. It is used in turn with the
    /// others, as several [keys](Self::key) are; the provider's own address takes part where a key was given.
    pub fn channel(
        mut self,
        provider: impl Into<SmolStr>,
        base_url: impl Into<String>,
        key: impl Into<SecretString>,
    ) -> Self {
        self.channels.push((provider.into(), base_url.into(), key.into()));
        self
    }

    /// Models that answer in place of `model`, in this order, when it fails before anything of its answer was to be
    /// seen: after its own tries, and for failures that may be of the place ([`Error::failover`]).
    ///
    /// An answer names the model that gave it and is priced by its card. Requests are made for the window of `model`:
    /// name others that have no smaller one.
    pub fn fallback<M: Into<String>>(
        mut self,
        model: impl Into<String>,
        others: impl IntoIterator<Item = M>,
    ) -> Self {
        self.fallbacks.push((model.into(), others.into_iter().map(Into::into).collect()));
        self
    }

    /// How much a provider may be asked at a time, for each key and address and over all its models.
    pub fn limits(mut self, provider: impl Into<SmolStr>, limits: Limits) -> Self {
        self.limits.push((provider.into(), limits));
        self
    }

    /// When a channel is taken to be down. Unset, there are breakers only where there are several channels, by
    /// [`BreakerPolicy::default`].
    pub fn breaker(mut self, breaker: BreakerPolicy) -> Self {
        self.breaker = Some(breaker);
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

    /// Is told of every step of every call: requests, waits, refusals, changes of channel.
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Writes every exchange with a provider to the file at `path`, one line of JSON each, for
    /// [`replay`](Self::replay); `at` is the present moment. What is there already stays.
    ///
    /// Keys and headers are not written, and a key is taken out of bodies that quote it; prompts and answers are
    /// written as they are. An exchange that broke or was stopped is written as far as it came. A file that can no
    /// longer be written fails the next call. Models of the caller's own have no exchange to record.
    pub fn record(mut self, path: impl Into<PathBuf>, at: Timestamp) -> Self {
        self.record = Some((path.into(), at));
        self
    }

    /// Answers requests from the file at `path` instead of sending them. Needs no network and no key: every provider
    /// counts as ready.
    ///
    /// A request is answered by a recorded one with the same method, path and body; JSON counts by its meaning, and
    /// neither the wish for a stream nor the id of a run counts. Equal requests are answered in the order they were
    /// recorded. One that was not recorded is a [`Configuration`](FailureKind::Configuration) failure that names the
    /// nearest and where they differ; it is not tried again, nor elsewhere. An answer comes at once and whole, so that
    /// the pieces of its text are larger than they were.
    ///
    /// ```no_run
    /// use thermidor_model_runtime::{ChatModel, ModelRuntime};
    /// use thermidor_types::Timestamp;
    ///
    /// # fn run(now: Timestamp) -> Result<(), thermidor_model_runtime::Error> {
    /// let recording = ModelRuntime::builder().key("deepseek", "sk-…").record("talk.jsonl", now).build()?;
    /// // … later, elsewhere, without the key:
    /// let replaying = ModelRuntime::builder().replay("talk.jsonl").build()?;
    /// let model = replaying.model("deepseek/deepseek-chat")?;
    /// # Ok(()) }
    /// ```
    pub fn replay(mut self, path: impl Into<PathBuf>) -> Self {
        self.replay = Some(path.into());
        self
    }

    /// The runtime. No connection is opened.
    ///
    /// # Errors
    /// [`Configuration`](FailureKind::Configuration) when a key or an address is given for an unknown provider,
    /// an address is none, a cassette cannot be opened or is to be recorded and replayed at once, a fallback names no model, or a card's figures cannot be meant (see [`check_card`](crate::check_card)).
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
        let mut ways: HashMap<SmolStr, Vec<Access>> = HashMap::new();
        for (name, list) in self.keys {
            let provider = known[place(&name)?].clone();
            let keys = ways::keys(&list);
            if !keys.is_empty() {
                // A later key replaces an earlier one.
                ways.insert(provider, keys.into_iter().map(|key| (None, Some(key))).collect());
            }
        }
        let mut keys: HashMap<SmolStr, SecretString> = HashMap::new();
        for (provider, ways) in &ways {
            keys.extend(ways.first().and_then(|(_, key)| Some((provider.clone(), key.clone()?))));
        }
        for (name, base_url, key) in self.channels {
            let place = place(&name)?;
            let provider = known[place].clone();
            let mut moved = providers[place].clone();
            moved.move_to(&base_url);
            let base_url = moved.base_url;
            check_address(&provider, &base_url)?;
            let key = Some(key).filter(|key| !key.expose_secret().trim().is_empty());
            ways.entry(provider).or_default().push((Some(base_url), key));
        }
        let mut limits: HashMap<SmolStr, Limits> = HashMap::new();
        for (name, limit) in self.limits {
            let registered = self.models.iter().any(|model| model.card().id.provider() == name);
            let provider = if registered { name } else { known[place(&name)?].clone() };
            ways.entry(provider.clone()).or_default();
            limits.insert(provider, limit);
        }
        let ways = ways.into_iter().map(|(provider, ways)| {
            let limits = limits.get(&provider).copied();
            (provider, Ways::new(ways, limits))
        });
        let ways = ways.collect();
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
            check_address(&provider.name, &provider.base_url)?;
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
        let mut runtime = ModelRuntime {
            providers: providers.into_iter().map(Arc::new).collect(),
            keys,
            cards,
            models: self.models,
            layers: Layers {
                retry: self.retry,
                breaker: self.breaker,
                observer: self.observer,
                shared: Mutex::default(),
            },
            ways,
            fallbacks: Vec::new(),
            transport: transport(self.timeouts, self.record, self.replay)?,
        };
        for (first, others) in self.fallbacks {
            let others = others.iter().map(|other| runtime.id(other)).collect::<Result<_, _>>()?;
            runtime.fallbacks.push((runtime.id(&first)?, others));
        }
        Ok(runtime)
    }
}

/// What carries requests: the network, with a recorder where one is wanted, or a recording.
fn transport(
    timeouts: Timeouts,
    record: Option<(PathBuf, Timestamp)>,
    replay: Option<PathBuf>,
) -> Result<Arc<dyn Transport>, Error> {
    let network = || Arc::new(Clients::new(timeouts));
    Ok(match (record, replay) {
        (None, None) => network(),
        (Some((path, at)), None) => Arc::new(Recorder::new(network(), &path, at)?),
        (None, Some(path)) => Arc::new(Player::new(Cassette::open(path)?, timeouts.bounded())?),
        (Some(_), Some(_)) => {
            let message = "a runtime either records or replays: leave one of them out";
            return Err(Error::new(FailureKind::Configuration, ModelId::new("", ""), message));
        }
    })
}

fn check_address(provider: &SmolStr, base_url: &str) -> Result<(), Error> {
    if base_url.parse::<Url>().is_ok_and(|url| url.has_host()) {
        return Ok(());
    }
    let message = format!("{base_url:?} is no address such as https://host/v1");
    Err(Error::new(FailureKind::Configuration, ModelId::new(provider.clone(), ""), message))
}

use std::{collections::HashMap, sync::Arc};

use secrecy::SecretString;
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard, ModelId};

use super::{
    ModelRuntimeBuilder,
    ways::{Layers, Ways},
};
use crate::{
    ChatModel, ConstrainedTools, Error, HttpModel, Provider, StructuredOutput, bundled_cards, cards,
    http::Transport,
};

/// Finds models by name and hands them out ready to call: with timeouts, retry, metering, and whatever limits,
/// breakers and fallbacks were asked for. All models of one runtime share limits and breakers.
///
/// Cheap to clone models come out of it; one runtime per program is enough, as it shares its connections.
pub struct ModelRuntime {
    pub(super) providers: Vec<Arc<Provider>>,
    pub(super) keys: HashMap<SmolStr, SecretString>,
    pub(super) cards: Vec<ModelCard>,
    pub(super) models: Vec<Arc<dyn ChatModel>>,
    pub(super) layers: Layers,
    /// The ways to each provider that was given more than its row says.
    pub(super) ways: HashMap<SmolStr, Ways>,
    pub(super) fallbacks: Vec<(ModelId, Vec<ModelId>)>,
    pub(super) transport: Arc<dyn Transport>,
}

impl std::fmt::Debug for ModelRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<_> = self.keys.keys().collect();
        f.debug_struct("ModelRuntime")
            .field("keys", &keys)
            .field("retry", &self.layers.retry)
            .finish_non_exhaustive()
    }
}

/// Whether a model's card is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It has a card, or it was registered.
    Card,
    /// Nothing is known of it: the provider's default window is assumed, and no price.
    Assumed,
}

impl ModelRuntime {
    /// Sets a runtime up.
    pub fn builder() -> ModelRuntimeBuilder {
        ModelRuntimeBuilder::default()
    }

    /// The model called `name`: `provider/model`, or `provider` for its default model.
    ///
    /// A model without a card is allowed, its provider may know it: see [`ModelRuntime::card`].
    ///
    /// # Errors
    /// [`NotFound`](FailureKind::NotFound) for an unknown provider, with the nearest known one;
    /// [`Credentials`](FailureKind::Credentials) when the key is missing, with the variable that usually holds
    /// it; [`Configuration`](FailureKind::Configuration) when the name has no provider, or the provider no
    /// default model.
    pub fn model(&self, name: &str) -> Result<Arc<dyn ChatModel>, Error> {
        let id = self.id(name)?;
        let model = self.single(&id)?;
        let Some((_, others)) = self.fallbacks.iter().find(|(first, _)| *first == id) else {
            return Ok(model);
        };
        let others = others.iter().map(|other| self.single(other)).collect::<Result<_, _>>()?;
        Ok(self.layers.fallback(model, others))
    }

    /// One model, by all ways to its provider.
    fn single(&self, id: &ModelId) -> Result<Arc<dyn ChatModel>, Error> {
        let plain = Ways::new(Vec::new(), None);
        let ways = self.ways.get(id.provider()).unwrap_or(&plain);
        let models = if let Some(model) = self.models.iter().find(|model| model.card().id == *id) {
            vec![model.clone()]
        } else {
            self.over_http(id, ways)?
        };
        self.layers
            .around(models, ways)
            .ok_or_else(|| Error::new(FailureKind::Internal, id.clone(), "there is no way to the model"))
    }

    fn over_http(&self, id: &ModelId, ways: &Ways) -> Result<Vec<Arc<dyn ChatModel>>, Error> {
        let provider = self.provider_of(id)?;
        if !self.is_ready(provider) {
            let variable = provider.key_variables.first().map_or("an API key", SmolStr::as_str);
            let message = format!("no key for {}: set {variable}", provider.title);
            return Err(Error::new(FailureKind::Credentials, id.clone(), message));
        }
        let (card, _) = self.card_of(id, provider);
        let models = ways.all.iter().map(|way| {
            let mut provider = provider.serving(id.model());
            if let Some(base_url) = &way.base_url {
                provider.move_to(base_url);
            }
            let transport = self.transport.clone();
            let model = HttpModel::new(card.clone(), Arc::new(provider), way.key.clone(), transport);
            // What a model of the caller's own knows, it knows itself: only what is sent gets another form.
            let model = ConstrainedTools::new(Arc::new(StructuredOutput::new(Arc::new(model))));
            Arc::new(model) as Arc<dyn ChatModel>
        });
        Ok(models.collect())
    }

    /// What is known of the model called `name`, and whether that is more than an assumption. No key needed.
    ///
    /// # Errors
    /// As [`ModelRuntime::model`], without the key.
    pub fn card(&self, name: &str) -> Result<(ModelCard, Known), Error> {
        let id = self.id(name)?;
        if let Some(model) = self.models.iter().find(|model| model.card().id == id) {
            return Ok((model.card().clone(), Known::Card));
        }
        Ok(self.card_of(&id, self.provider_of(&id)?))
    }

    /// The id that `name` stands for, aliases resolved.
    ///
    /// # Errors
    /// As [`ModelRuntime::card`].
    pub fn id(&self, name: &str) -> Result<ModelId, Error> {
        let wrong = |message: String| Error::new(FailureKind::Configuration, ModelId::new(name, ""), message);
        if let Ok(id) = name.parse::<ModelId>() {
            if self.models.iter().any(|model| model.card().id == id) {
                return Ok(id);
            }
            let provider = self.provider_of(&id)?;
            return Ok(ModelId::new(provider.name.clone(), id.model()));
        }
        if let Some(provider) = self.providers.iter().find(|provider| provider.is_called(name)) {
            let model = provider.default_model.as_ref().ok_or_else(|| {
                wrong(format!("{} has no default model: name one as {name}/model", provider.title))
            })?;
            return Ok(ModelId::new(provider.name.clone(), model.clone()));
        }
        let known = self.known_ids();
        let hint = match known.iter().find(|id| id.model() == name) {
            Some(id) => Some(id.to_string()),
            None => nearest(name, known.iter().map(ModelId::model))
                .and_then(|model| known.iter().find(|id| id.model() == model))
                .map(ToString::to_string),
        };
        let hint = hint.map(|hint| format!("; did you mean {hint}?")).unwrap_or_default();
        Err(wrong(format!("a model is named provider/model{hint}")))
    }

    /// All providers, the caller's own first, then in order of preference.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.providers.iter().map(Arc::as_ref)
    }

    /// Whether a key for `provider` was given, or it needs none: none is needed where a recording answers.
    pub fn is_ready(&self, provider: &Provider) -> bool {
        let ways = || self.ways.get(&provider.name).into_iter().flat_map(|ways| &ways.all);
        provider.local
            || self.transport.is_replay()
            || ways().any(|way| way.key.is_some() || way.base_url.is_some())
    }

    /// The cards of all models known: registered ones, then the caller's, then the bundled ones.
    pub fn cards(&self) -> Vec<ModelCard> {
        let mut cards: Vec<ModelCard> = self.models.iter().map(|model| model.card().clone()).collect();
        for card in self.cards.iter().chain(bundled_cards()) {
            if !cards.iter().any(|known| known.id == card.id) {
                cards.push(card.clone());
            }
        }
        cards
    }

    /// The known model whose name is nearest to a wrong one of the same provider.
    pub fn suggestion(&self, id: &ModelId) -> Option<ModelId> {
        let known = self.known_ids();
        let siblings = || known.iter().filter(|known| known.provider() == id.provider());
        let near = nearest(id.model(), siblings().map(ModelId::model))?.to_owned();
        (near != id.model()).then(|| ModelId::new(id.provider(), near))
    }

    fn known_ids(&self) -> Vec<ModelId> {
        let registered = self.models.iter().map(|model| model.card().id.clone());
        registered.chain(self.cards.iter().chain(bundled_cards()).map(|card| card.id.clone())).collect()
    }

    pub(super) fn provider_of(&self, id: &ModelId) -> Result<&Arc<Provider>, Error> {
        let found = self.providers.iter().find(|provider| provider.is_called(id.provider()));
        found.ok_or_else(|| {
            let registered = self.models.iter().map(|model| model.card().id.provider());
            let names = self.providers.iter().map(|provider| provider.name.as_str());
            unknown_provider(id.provider(), names.chain(registered))
        })
    }

    pub(super) fn card_of(&self, id: &ModelId, provider: &Provider) -> (ModelCard, Known) {
        // An exact bundled card goes before a likeness among the caller's own.
        let exact = |cards: &[ModelCard]| cards.iter().find(|card| card.id == *id).cloned();
        let known = exact(&self.cards).or_else(|| exact(bundled_cards()));
        let known =
            known.or_else(|| cards::find(id, &self.cards)).or_else(|| cards::find(id, bundled_cards()));
        match known {
            Some(card) => (card, Known::Card),
            None => (provider.unknown_card(id.model()), Known::Assumed),
        }
    }
}

pub(super) fn unknown_provider<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let hint = nearest(name, known).map(|hint| format!("; did you mean {hint}?")).unwrap_or_default();
    let message = format!("no provider is called {name}{hint}");
    Error::new(FailureKind::NotFound, ModelId::new(name, ""), message)
}

/// The name nearest to a wrong one.
fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    thermidor_types::near(wrong, names, 1).pop()
}

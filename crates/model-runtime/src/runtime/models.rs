use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use secrecy::SecretString;
use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelCard, ModelId};

use super::ModelRuntimeBuilder;
use crate::{
    CallObserver, ChatModel, ConstrainedTools, Error, HttpModel, Metered, Provider, Retry, RetryPolicy,
    StructuredOutput, bundled_cards, cards, http::Clients, layer::Learnt,
};

/// Of so many models the tokens of a text are learnt.
const MOST_LEARNT: usize = 512;

/// Finds models by name and hands them out ready to call: with timeouts, retry and metering.
///
/// Cheap to clone models come out of it; one runtime per program is enough, as it shares its connections.
pub struct ModelRuntime {
    pub(super) providers: Vec<Arc<Provider>>,
    pub(super) keys: HashMap<SmolStr, SecretString>,
    pub(super) cards: Vec<ModelCard>,
    pub(super) models: Vec<Arc<dyn ChatModel>>,
    pub(super) retry: RetryPolicy,
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) clients: Arc<Clients>,
    pub(super) learnt: Mutex<HashMap<ModelId, Learnt>>,
}

impl std::fmt::Debug for ModelRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<_> = self.keys.keys().collect();
        f.debug_struct("ModelRuntime")
            .field("keys", &keys)
            .field("retry", &self.retry)
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
        if let Some(model) = self.models.iter().find(|model| model.card().id == id) {
            return Ok(self.layered(model.clone()));
        }
        let provider = self.provider_of(&id)?;
        let key = self.keys.get(&provider.name);
        if key.is_none() && !provider.local {
            let variable = provider.key_variables.first().map_or("an API key", SmolStr::as_str);
            let message = format!("no key for {}: set {variable}", provider.title);
            return Err(Error::new(FailureKind::Credentials, id, message));
        }
        let (card, _) = self.card_of(&id, provider);
        let model =
            HttpModel::new(card, Arc::new(provider.serving(id.model())), key.cloned(), self.clients.clone());
        // What a model of the caller's own knows, it knows itself: only what is sent gets another form.
        let model = ConstrainedTools::new(Arc::new(StructuredOutput::new(Arc::new(model))));
        Ok(self.layered(Arc::new(model)))
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

    /// Whether a key for `provider` was given, or it needs none.
    pub fn is_ready(&self, provider: &Provider) -> bool {
        provider.local || self.keys.contains_key(&provider.name)
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

    /// What was learnt of a model, by everybody who calls it. Beyond some hundred models nothing is shared.
    fn learnt(&self, id: ModelId) -> Learnt {
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        if learnt.len() >= MOST_LEARNT && !learnt.contains_key(&id) {
            return Learnt::default();
        }
        learnt.entry(id).or_default().clone()
    }

    fn layered(&self, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        let retry = Retry::new(model, self.retry);
        let retry = match &self.observer {
            Some(observer) => retry.observer(observer.clone()),
            None => retry,
        };
        let learnt = self.learnt(retry.card().id.clone());
        Arc::new(Metered::knowing(Arc::new(retry), learnt))
    }

    pub(super) fn provider_of(&self, id: &ModelId) -> Result<&Arc<Provider>, Error> {
        let found = self.providers.iter().find(|provider| provider.is_called(id.provider()));
        found.ok_or_else(|| {
            let registered = self.models.iter().map(|model| model.card().id.provider());
            let names = self.providers.iter().map(|provider| provider.name.as_str());
            unknown_provider(id.provider(), names.chain(registered))
        })
    }

    fn card_of(&self, id: &ModelId, provider: &Provider) -> (ModelCard, Known) {
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

use std::sync::Arc;

use smol_str::SmolStr;
use thermidor_types::{FailureKind, ModelId};

use super::{ModelRuntime, ways::Ways};
use crate::{
    Error, Services,
    embedding::{EmbeddingModel, HttpEmbedding},
    http::Caller,
    image::{HttpImage, ImageModel},
    speech::{HttpSpeech, HttpTranscription, SpeechModel, TranscriptionModel},
    whole::Calls,
};

impl ModelRuntime {
    /// The embedding model called `name`: `provider/model`. It gets retry, the provider's keys in turn, and prices from
    /// its card; limits, breakers and observers are those of chat models only.
    ///
    /// # Errors
    /// As [`ModelRuntime::model`]; [`Configuration`](FailureKind::Configuration) when the provider serves no embeddings
    /// as far as its row tells.
    pub fn embedding(&self, name: &str) -> Result<Arc<dyn EmbeddingModel>, Error> {
        let calls = self.calls(name, "embeddings", |services| services.embedding.is_some())?;
        Ok(Arc::new(HttpEmbedding(calls)))
    }

    /// The image model called `name`. Otherwise as [`ModelRuntime::embedding`].
    ///
    /// # Errors
    /// As [`ModelRuntime::embedding`], for a provider that makes no images.
    pub fn image(&self, name: &str) -> Result<Arc<dyn ImageModel>, Error> {
        Ok(Arc::new(HttpImage(self.calls(name, "images", |services| services.image.is_some())?)))
    }

    /// The model called `name` that writes down what is spoken. Otherwise as [`ModelRuntime::embedding`].
    ///
    /// # Errors
    /// As [`ModelRuntime::embedding`], for a provider that writes nothing down.
    pub fn transcription(&self, name: &str) -> Result<Arc<dyn TranscriptionModel>, Error> {
        let calls = self.calls(name, "transcription", |services| services.transcription.is_some())?;
        Ok(Arc::new(HttpTranscription(calls)))
    }

    /// The model called `name` that speaks. Otherwise as [`ModelRuntime::embedding`].
    ///
    /// # Errors
    /// As [`ModelRuntime::embedding`], for a provider that does not speak.
    pub fn speech(&self, name: &str) -> Result<Arc<dyn SpeechModel>, Error> {
        Ok(Arc::new(HttpSpeech(self.calls(name, "speech", |services| services.speech.is_some())?)))
    }

    /// The ways to a model that does not chat.
    fn calls(&self, name: &str, what: &str, serves: impl Fn(&Services) -> bool) -> Result<Calls, Error> {
        let id: ModelId = name.parse().map_err(|_| {
            let message = format!("a model for {what} is named provider/model");
            Error::new(FailureKind::Configuration, ModelId::new(name, ""), message)
        })?;
        let provider = self.provider_of(&id)?;
        let id = ModelId::new(provider.name.clone(), id.model());
        if !serves(&provider.services) {
            let named = self.providers().filter(|row| serves(&row.services)).map(|row| row.name.as_str());
            let named = named.take(5).collect::<Vec<_>>().join(", ");
            let message = format!("{} serves no {what}; {named} and others do", provider.title);
            return Err(Error::new(FailureKind::Configuration, id, message));
        }
        if !self.is_ready(provider) {
            let variable = provider.key_variables.first().map_or("an API key", SmolStr::as_str);
            let message = format!("no key for {}: set {variable}", provider.title);
            return Err(Error::new(FailureKind::Credentials, id, message));
        }
        let plain = Ways::new(Vec::new(), None);
        let ways = self.ways.get(id.provider()).unwrap_or(&plain);
        let callers = ways.all.iter().map(|way| {
            let mut provider = provider.serving(id.model());
            if let Some(base_url) = &way.base_url {
                provider.move_to(base_url);
            }
            let (key, transport) = (way.key.clone(), self.transport.clone());
            Caller { model: id.clone(), provider: Arc::new(provider), key, transport }
        });
        let (card, _) = self.card_of(&id, provider);
        Ok(Calls::new(card, callers.collect(), ways.turn.clone(), self.layers.retry))
    }
}

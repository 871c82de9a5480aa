use serde::{Deserialize, Serialize};

use crate::{
    Provider,
    embedding::EmbeddingForm,
    image::ImageForm,
    speech::{SpeechForm, TranscriptionForm},
};

/// What a provider serves beside chat, and in which wire forms. What is unset is not served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Services {
    /// Text to vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingForm>,
    /// The most texts it takes in one request, where that is not what its form usually allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_batch: Option<usize>,
    /// Words to images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageForm>,
    /// Speech to words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcription: Option<TranscriptionForm>,
    /// Words to speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speech: Option<SpeechForm>,
}

impl Services {
    /// All that servers in `OpenAI`'s likeness may serve. Whether one does, it says itself when it is asked.
    pub const OPENAI: Self = Self {
        embedding: Some(EmbeddingForm::Openai),
        embedding_batch: None,
        image: Some(ImageForm::Openai),
        transcription: Some(TranscriptionForm::Openai),
        speech: Some(SpeechForm::Openai),
    };
}

/// The path of an endpoint such as `/embeddings`, which stands where a row's own path has the one of chat.
pub(crate) fn beside_chat(provider: &Provider, model: &str, endpoint: &str) -> String {
    match &provider.path {
        Some(path) if path.contains(CHAT) => path.replace(CHAT, endpoint).replace("{model}", model),
        _ => endpoint.to_owned(),
    }
}

const CHAT: &str = "/chat/completions";

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Json, ModelCard, Text, Usage};

use super::AudioFormat;
use crate::Error;

/// Writes down what is spoken.
///
/// ```no_run
/// use thermidor_model_runtime::{ModelRuntime, speech::{AudioFormat, TranscriptionRequest}};
///
/// # async fn run(key: String, sound: Vec<u8>) -> Result<(), thermidor_model_runtime::Error> {
/// let runtime = ModelRuntime::builder().key("openai", key).build()?;
/// let model = runtime.transcription("openai/gpt-4o-transcribe")?;
/// let heard = model.transcribe(TranscriptionRequest::of(sound, AudioFormat::Mp3)).await?;
/// println!("{}", heard.text);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait TranscriptionModel: Send + Sync + 'static {
    /// What is known of the model: its id, and its price where that is known.
    fn card(&self) -> &ModelCard;

    /// The words in a sound; silence has none. Costs one request with the whole sound in it.
    ///
    /// # Errors
    /// [`InvalidRequest`](thermidor_types::FailureKind::InvalidRequest) when there is no sound, or segments are asked of
    /// a provider that tells none. Otherwise as those of a chat.
    async fn transcribe(&self, request: TranscriptionRequest) -> Result<Transcript, Error>;
}

/// Speaks words.
///
/// ```no_run
/// use thermidor_model_runtime::{ModelRuntime, speech::SpeechRequest};
///
/// # async fn run(key: String) -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = ModelRuntime::builder().key("openai", key).build()?;
/// let spoken = runtime.speech("openai/gpt-4o-mini-tts")?.speak(SpeechRequest::of("Good morning.", "alloy")).await?;
/// std::fs::write("morning.mp3", &spoken.audio)?;
/// # Ok(()) }
/// ```
#[async_trait]
pub trait SpeechModel: Send + Sync + 'static {
    /// What is known of the model: its id.
    fn card(&self) -> &ModelCard;

    /// The sound of the words. Costs one request; what it costs in money no provider tells in its answer.
    ///
    /// # Errors
    /// [`InvalidRequest`](thermidor_types::FailureKind::InvalidRequest) without words or a voice;
    /// [`Malformed`](thermidor_types::FailureKind::Malformed) when no sound came. Otherwise as those of a chat.
    async fn speak(&self, request: SpeechRequest) -> Result<Speech, Error>;
}

/// A sound to write down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptionRequest {
    /// The bytes of the sound.
    pub audio: Bytes,
    /// How they are written.
    pub format: AudioFormat,
    /// What is spoken, as a code such as `en` (ISO 639-1); the model finds out when unset.
    pub language: Option<SmolStr>,
    /// Words that go before, or names to expect.
    pub prompt: Option<Text>,
    /// What is told beside the words.
    pub detail: TranscriptDetail,
    /// Fields for this provider alone: a JSON object, added to the request last.
    pub extra: Option<Json>,
}

impl TranscriptionRequest {
    /// This sound, in whatever language.
    pub fn of(audio: impl Into<Bytes>, format: AudioFormat) -> Self {
        Self { audio: audio.into(), format, ..Self::default() }
    }
}

/// What is told of a sound beside its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptDetail {
    /// Nothing.
    #[default]
    Words,
    /// When each part was spoken, for models that can tell.
    Segments,
}

/// What was spoken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The words.
    pub text: Text,
    /// The language, in the provider's word, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<SmolStr>,
    /// How long the sound is, where that is told: some providers bill by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// When each part was spoken; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// What the provider says it took, with its cost where that is known. Nothing where it tells the time only.
    pub usage: Usage,
}

/// A part of a transcript, in time from the start of the sound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// When it begins.
    pub start: Duration,
    /// When it ends.
    pub end: Duration,
    /// Its words.
    pub text: Text,
}

/// Words to speak.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpeechRequest {
    /// The words.
    pub text: Text,
    /// Whose voice, by the provider's name for it.
    pub voice: SmolStr,
    /// How the sound is written; not every provider writes every format.
    pub format: AudioFormat,
    /// How to speak, in words, for models that heed it.
    pub instructions: Option<Text>,
    /// How fast, 1 being as usual; the provider's default when unset.
    pub speed: Option<f32>,
    /// Fields for this provider alone: a JSON object, merged into the body last.
    pub extra: Option<Json>,
}

impl SpeechRequest {
    /// These words in this voice, as MP3.
    pub fn of(text: impl Into<Text>, voice: impl Into<SmolStr>) -> Self {
        Self { text: text.into(), voice: voice.into(), ..Self::default() }
    }
}

/// A sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speech {
    /// Its bytes.
    pub audio: Bytes,
    /// Its media type, as the provider says.
    pub media_type: SmolStr,
}

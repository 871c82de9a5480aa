use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Speech, SpeechRequest, Transcript, TranscriptionRequest, json, multipart, spoken, transcript};
use crate::{
    Provider,
    dialect::{Target, Unencodable, WireRequest, merged},
    whole::Unreadable,
};

/// The wire forms of writing down what is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptionForm {
    /// `OpenAI`'s `POST /audio/transcriptions`, a form with a file in it.
    Openai,
    /// `OpenRouter`'s `POST /audio/transcriptions`, JSON with the sound as base64.
    Openrouter,
}

/// The wire forms of speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeechForm {
    /// `OpenAI`'s `POST /audio/speech`.
    Openai,
}

/// Writes `request` in the form in which the provider of `target` takes sounds. Same request, same bytes.
///
/// # Errors
/// [`Unencodable::OutOfRange`] without a sound; [`Unencodable::NoForm`] when the provider takes none, or tells no
/// segments.
pub fn encode_transcription(
    request: &TranscriptionRequest,
    target: Target<'_>,
) -> Result<WireRequest, Unencodable> {
    if request.audio.is_empty() {
        return Err(Unencodable::OutOfRange(
            "there is no sound to write down: the audio is empty".to_owned(),
        ));
    }
    match target.provider.services.transcription {
        Some(TranscriptionForm::Openai) => multipart::encode(request, target),
        Some(TranscriptionForm::Openrouter) => json::encode(request, target),
        None => Err(Unencodable::NoForm("transcription")),
    }
}

/// Reads the answer of `provider` to a sound. Pure; cost: linear in the bytes.
///
/// # Errors
/// [`Unreadable`] when the bytes are no transcript.
///
/// ```
/// use thermidor_model_runtime::{bundled_providers, speech::read_transcript};
///
/// let openai = &bundled_providers()[0];
/// let heard = read_transcript(openai, br#"{"text":"Good morning.","usage":{"type":"duration","seconds":2}}"#)?;
/// assert_eq!((heard.text.as_str(), heard.duration.map(|time| time.as_secs())), ("Good morning.", Some(2)));
/// # Ok::<(), thermidor_model_runtime::Unreadable>(())
/// ```
pub fn read_transcript(provider: &Provider, bytes: &[u8]) -> Result<Transcript, Unreadable> {
    transcript::read(bytes, &provider.quirks)
}

/// Writes `request` in the form in which the provider of `target` speaks. Same request, same bytes.
///
/// # Errors
/// [`Unencodable::OutOfRange`] without words or a voice, and for a speed that is none; [`Unencodable::NoForm`] when the
/// provider does not speak.
pub fn encode_speech(request: &SpeechRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let wrong = if request.text.trim().is_empty() {
        "there are no words to speak"
    } else if request.voice.is_empty() {
        "speech needs a voice: name one of the provider's"
    } else if request.speed.is_some_and(|speed| !speed.is_finite() || speed <= 0.0) {
        "the speed of speech is a number above 0"
    } else {
        ""
    };
    if !wrong.is_empty() {
        return Err(Unencodable::OutOfRange(wrong.to_owned()));
    }
    let wire = match target.provider.services.speech {
        Some(SpeechForm::Openai) => spoken::encode(request, target)?,
        None => return Err(Unencodable::NoForm("speech")),
    };
    match &request.extra {
        Some(extra) => Ok(WireRequest { body: merged(&wire.body, extra.as_str())?, ..wire }),
        None => Ok(wire),
    }
}

/// Reads a sound; `content_type` is what the answer's head says.
///
/// # Errors
/// [`Unreadable`] when it is empty, or words instead of a sound.
pub fn read_speech(
    request: &SpeechRequest,
    content_type: Option<&str>,
    bytes: Bytes,
) -> Result<Speech, Unreadable> {
    spoken::read(request, content_type, bytes)
}

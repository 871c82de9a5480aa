//! Words to sounds in `OpenAI`'s form.

use bytes::Bytes;
use serde::Serialize;
use smol_str::SmolStr;

use super::{Speech, SpeechRequest};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::{Unreadable, beside_chat},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a str,
    voice: &'a str,
    response_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f32>,
}

pub(super) fn encode(request: &SpeechRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let body = Body {
        model,
        input: &request.text,
        voice: &request.voice,
        response_format: request.format.name(),
        instructions: request.instructions.as_deref(),
        speed: request.speed,
    };
    let path = beside_chat(target.provider, model, "/audio/speech");
    Ok(WireRequest { path, headers: Vec::new(), body: written(&body)? })
}

/// The bytes as they come. A type that says nothing of a sound is replaced by the one asked for.
pub(super) fn read(
    request: &SpeechRequest,
    content_type: Option<&str>,
    audio: Bytes,
) -> Result<Speech, Unreadable> {
    let told = content_type.map(|value| value.split(';').next().unwrap_or_default().trim());
    if told.is_some_and(|told| told == "application/json" || told.starts_with("text/")) {
        return Err(Unreadable::new("words came instead of a sound"));
    }
    if audio.is_empty() {
        return Err(Unreadable::new("an empty sound came"));
    }
    let told = told.filter(|told| told.starts_with("audio/"));
    let media_type = told.map_or_else(|| request.format.media_type().into(), SmolStr::from);
    Ok(Speech { audio, media_type })
}

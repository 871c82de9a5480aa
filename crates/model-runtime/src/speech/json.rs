//! Sounds as base64 in JSON.

use serde::Serialize;

use super::{TranscriptDetail, TranscriptionRequest};
use crate::{
    base64,
    dialect::{Target, Unencodable, WireRequest, merged, written},
    whole::beside_chat,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input_audio: Sound,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

#[derive(Serialize)]
struct Sound {
    data: String,
    format: &'static str,
}

pub(super) fn encode(request: &TranscriptionRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    if request.detail == TranscriptDetail::Segments {
        return Err(Unencodable::NoForm("segments of a transcript"));
    }
    let model = target.card.id.model();
    let sound = Sound { data: base64::encoded(&request.audio), format: request.format.name() };
    let body = written(&Body { model, input_audio: sound, language: request.language.as_deref() })?;
    let body = match &request.extra {
        Some(extra) => merged(&body, extra.as_str())?,
        None => body,
    };
    let path = beside_chat(target.provider, model, "/audio/transcriptions");
    Ok(WireRequest { path, headers: Vec::new(), body })
}

//! Ollama's `POST /api/embed`.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Measure, Text, Tokens, Usage};

use super::{EmbeddingRequest, Embeddings};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::Unreadable,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [Text],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

pub(super) fn encode(request: &EmbeddingRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let body = Body { model, input: &request.inputs, dimensions: request.dimensions };
    Ok(WireRequest { path: "/api/embed".to_owned(), headers: Vec::new(), body: written(&body)? })
}

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Vec<f32>>,
    #[serde(default)]
    model: Option<SmolStr>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
}

/// `{model, embeddings: [[…]], prompt_eval_count?}`, in the order of the texts.
pub(super) fn read(bytes: &[u8]) -> Result<Embeddings, Unreadable> {
    let answer: Answer = serde_json::from_slice(bytes)?;
    let usage = answer.prompt_eval_count.map(|input| Usage {
        input: Tokens(input),
        measure: Measure::Reported,
        ..Usage::default()
    });
    Ok(Embeddings { vectors: answer.embeddings, usage: usage.unwrap_or_default(), model: answer.model })
}

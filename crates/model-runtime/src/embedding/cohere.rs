//! Cohere's `POST /v1/embed`.

use serde::{Deserialize, Serialize};
use thermidor_types::{Measure, Text, Tokens, Usage};

use super::{EmbeddingPurpose, EmbeddingRequest, Embeddings};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::Unreadable,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    texts: &'a [Text],
    input_type: &'static str,
}

/// Without a purpose the texts are taken to be searched: the service demands one.
pub(super) fn encode(request: &EmbeddingRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    if request.dimensions.is_some() {
        return Err(Unencodable::NoForm("length of vectors to choose"));
    }
    let input_type = match request.purpose {
        None | Some(EmbeddingPurpose::Document) => "search_document",
        Some(EmbeddingPurpose::Query) => "search_query",
        Some(EmbeddingPurpose::Classification) => "classification",
        Some(EmbeddingPurpose::Clustering) => "clustering",
    };
    let body = Body { model: target.card.id.model(), texts: &request.inputs, input_type };
    Ok(WireRequest { path: "/v1/embed".to_owned(), headers: Vec::new(), body: written(&body)? })
}

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Vec<f32>>,
    #[serde(default)]
    meta: Meta,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default)]
    billed_units: Units,
}

#[derive(Default, Deserialize)]
struct Units {
    #[serde(default)]
    input_tokens: Option<f64>,
}

/// `{embeddings: [[…]], meta: {billed_units: {input_tokens}}}`, in the order of the texts.
pub(super) fn read(bytes: &[u8]) -> Result<Embeddings, Unreadable> {
    let answer: Answer = serde_json::from_slice(bytes)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates at both ends"
    )]
    let usage = answer.meta.billed_units.input_tokens.map(|input| Usage {
        input: Tokens(input as u64),
        measure: Measure::Reported,
        ..Usage::default()
    });
    Ok(Embeddings { vectors: answer.embeddings, usage: usage.unwrap_or_default(), model: None })
}

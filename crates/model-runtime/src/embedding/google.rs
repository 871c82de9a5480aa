//! Google's `POST /v1beta/models/{model}:batchEmbedContents`.

use serde::{Deserialize, Serialize};

use super::{EmbeddingPurpose, EmbeddingRequest, Embeddings};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::Unreadable,
};

#[derive(Serialize)]
struct Body<'a> {
    requests: Vec<Entry<'a>>,
}

/// Field names as the protocol's definition has them; the service reads these and the camel-cased ones.
#[derive(Serialize)]
struct Entry<'a> {
    model: &'a str,
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimensionality: Option<u32>,
}

#[derive(Serialize)]
struct Content<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

pub(super) fn encode(request: &EmbeddingRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = format!("models/{}", target.card.id.model());
    let task_type = request.purpose.map(|purpose| match purpose {
        EmbeddingPurpose::Document => "RETRIEVAL_DOCUMENT",
        EmbeddingPurpose::Query => "RETRIEVAL_QUERY",
        EmbeddingPurpose::Classification => "CLASSIFICATION",
        EmbeddingPurpose::Clustering => "CLUSTERING",
    });
    let entry = |text| Entry {
        model: &model,
        content: Content { parts: [Part { text }] },
        task_type,
        output_dimensionality: request.dimensions,
    };
    let requests = request.inputs.iter().map(|input| entry(input.as_str())).collect();
    Ok(WireRequest {
        path: format!("/v1beta/{model}:batchEmbedContents"),
        headers: Vec::new(),
        body: written(&Body { requests })?,
    })
}

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Values>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

/// `{embeddings: [{values}]}`, in the order of the texts. The tokens are not told.
pub(super) fn read(bytes: &[u8]) -> Result<Embeddings, Unreadable> {
    let answer: Answer = serde_json::from_slice(bytes)?;
    let vectors = answer.embeddings.into_iter().map(|embedding| embedding.values).collect();
    Ok(Embeddings { vectors, ..Embeddings::default() })
}

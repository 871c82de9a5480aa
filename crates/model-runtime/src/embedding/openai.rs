//! `OpenAI`'s `POST /embeddings`, and what other servers make of it.

use serde::{Deserialize, Serialize};
use serde_json::{Number, value::RawValue};
use smol_str::SmolStr;
use thermidor_types::Text;

use super::{
    EmbeddingForm, EmbeddingRequest, Embeddings,
    vectors::{ordered, vector},
};
use crate::{
    Quirks,
    dialect::{Target, Unencodable, WireRequest, written},
    whole::{Unreadable, beside_chat, usage},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [Text],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimension: Option<u32>,
}

pub(super) fn encode(
    form: EmbeddingForm,
    request: &EmbeddingRequest,
    target: Target<'_>,
) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let (dimensions, output_dimension) = match form {
        EmbeddingForm::Mistral => (None, request.dimensions),
        _ => (request.dimensions, None),
    };
    let body = Body { model, input: &request.inputs, dimensions, output_dimension };
    Ok(WireRequest {
        path: beside_chat(target.provider, model, "/embeddings"),
        headers: Vec::new(),
        body: written(&body)?,
    })
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Vec<Entry<'a>>,
    #[serde(default)]
    model: Option<SmolStr>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    embedding: &'a RawValue,
    #[serde(default)]
    index: Option<Number>,
}

/// `{data: [{index, embedding}], model?, usage?}`, or the bare list that llama.cpp gives at its older address.
pub(super) fn read(bytes: &[u8], quirks: &Quirks) -> Result<Embeddings, Unreadable> {
    let bare = bytes.trim_ascii_start().starts_with(b"[");
    let answer = if bare {
        Answer { data: serde_json::from_slice(bytes)?, model: None, usage: None }
    } else {
        serde_json::from_slice(bytes)?
    };
    let vectors = answer.data.iter().map(|entry| {
        let index = entry.index.as_ref().map(|index| index.as_u64().unwrap_or(u64::MAX));
        Ok((index, vector(entry.embedding)?))
    });
    Ok(Embeddings {
        vectors: ordered(vectors.collect::<Result<_, Unreadable>>()?)?,
        usage: usage(answer.usage, quirks),
        model: answer.model,
    })
}

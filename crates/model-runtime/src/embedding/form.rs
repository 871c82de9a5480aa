use serde::{Deserialize, Serialize};

use super::{EmbeddingRequest, Embeddings, cohere, google, ollama, openai};
use crate::{
    Provider,
    dialect::{Target, Unencodable, WireRequest, merged},
    whole::Unreadable,
};

/// The wire forms of embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingForm {
    /// `OpenAI`'s `POST /embeddings`.
    Openai,
    /// The same with Mistral's name for the length, `output_dimension`.
    Mistral,
    /// Google's `POST /v1beta/models/{model}:batchEmbedContents`.
    Google,
    /// Ollama's own `POST /api/embed`.
    Ollama,
    /// Cohere's `POST /v1/embed`.
    Cohere,
}

impl EmbeddingForm {
    /// The most texts in one request, as the provider that made the form documents it.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Openai => 2_048,
            Self::Mistral | Self::Ollama => 512, // no figure is documented: requests of a moderate size
            Self::Google => 100,
            Self::Cohere => 96,
        }
    }

    /// What of a provider's address the path is appended to.
    pub(super) fn root(self, base_url: &str) -> &str {
        let without = |end: &str| base_url.strip_suffix(end).unwrap_or(base_url);
        match self {
            Self::Openai | Self::Mistral => base_url,
            Self::Google => without("/v1beta"),
            Self::Ollama => without("/v1"),
            Self::Cohere => base_url.strip_suffix("/compatibility/v1").unwrap_or_else(|| without("/v1")),
        }
    }
}

fn form(provider: &Provider) -> Result<EmbeddingForm, Unencodable> {
    provider.services.embedding.ok_or(Unencodable::NoForm("embeddings"))
}

/// Writes `request` in the form in which the provider of `target` serves embeddings. Same request, same bytes.
///
/// It goes into one request, however many texts there are: whoever sends it keeps to the provider's limit.
///
/// # Errors
/// [`Unencodable::OutOfRange`] without a text or with an empty one, [`Unencodable::NoForm`] when the provider serves
/// no embeddings or not of a length asked for.
pub fn encode(request: &EmbeddingRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    check(request)?;
    let wire = match form(target.provider)? {
        form @ (EmbeddingForm::Openai | EmbeddingForm::Mistral) => openai::encode(form, request, target)?,
        EmbeddingForm::Google => google::encode(request, target)?,
        EmbeddingForm::Ollama => ollama::encode(request, target)?,
        EmbeddingForm::Cohere => cohere::encode(request, target)?,
    };
    match &request.extra {
        Some(extra) => Ok(WireRequest { body: merged(&wire.body, extra.as_str())?, ..wire }),
        None => Ok(wire),
    }
}

/// Some providers refuse these without saying why, others return a vector of nothing.
pub(super) fn check(request: &EmbeddingRequest) -> Result<(), Unencodable> {
    let wrong = if request.inputs.is_empty() {
        "there is no text to embed".to_owned()
    } else if let Some(place) = request.inputs.iter().position(|input| input.is_empty()) {
        format!("text {place} (from 0) to embed is empty: leave it out")
    } else if request.dimensions == Some(0) {
        "a vector of 0 dimensions says nothing: ask for more, or for none in particular".to_owned()
    } else {
        return Ok(());
    };
    Err(Unencodable::OutOfRange(wrong))
}

/// Reads the answer of `provider` to `request`.
///
/// Vectors are put in the order of the texts by the indices they carry. Pure; cost: linear in the bytes.
///
/// # Errors
/// [`Unreadable`] when the bytes are no answer of that form, a vector is missing, or a length is not as asked for.
///
/// ```
/// use thermidor_model_runtime::{bundled_providers, embedding::{EmbeddingRequest, read}};
///
/// let openai = &bundled_providers()[0];
/// let answer = br#"{"data":[{"index":1,"embedding":[0.5]},{"index":0,"embedding":[0.25]}]}"#;
/// let found = read(&EmbeddingRequest::of(["a", "b"]), openai, answer)?;
/// assert_eq!(found.vectors, [[0.25], [0.5]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(request: &EmbeddingRequest, provider: &Provider, bytes: &[u8]) -> Result<Embeddings, Unreadable> {
    let form = form(provider).map_err(|error| Unreadable::new(error.to_string()))?;
    let found = match form {
        EmbeddingForm::Openai | EmbeddingForm::Mistral => openai::read(bytes, &provider.quirks)?,
        EmbeddingForm::Google => google::read(bytes)?,
        EmbeddingForm::Ollama => ollama::read(bytes)?,
        EmbeddingForm::Cohere => cohere::read(bytes)?,
    };
    let (asked, came) = (request.inputs.len(), found.vectors.len());
    if asked != came {
        return Err(Unreadable::new(format!("{came} vectors came for {asked} texts")));
    }
    let wanted = request.dimensions.map(|length| length as usize);
    let length = wanted.or_else(|| found.vectors.first().map(Vec::len)).unwrap_or_default();
    match found.vectors.iter().find(|vector| vector.len() != length || vector.is_empty()) {
        Some(odd) => Err(Unreadable::new(format!("a vector has {} dimensions, not {length}", odd.len()))),
        None => Ok(found),
    }
}

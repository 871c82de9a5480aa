use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Json, ModelCard, Text, Usage};

use crate::Error;

/// Turns texts into vectors.
///
/// ```no_run
/// use thermidor_model_runtime::{ModelRuntime, embedding::EmbeddingRequest};
///
/// # async fn run(key: String) -> Result<(), thermidor_model_runtime::Error> {
/// let runtime = ModelRuntime::builder().key("openai", key).build()?;
/// let model = runtime.embedding("openai/text-embedding-3-small")?;
/// let found = model.embed(EmbeddingRequest::of(["a cat", "a dog"])).await?;
/// println!("{} numbers each", found.vectors[0].len());
/// # Ok(()) }
/// ```
#[async_trait]
pub trait EmbeddingModel: Send + Sync + 'static {
    /// What is known of the model: its id, and its price where that is known.
    fn card(&self) -> &ModelCard;

    /// One vector for each text, in the order of the texts.
    ///
    /// Costs a request for as many texts as the provider takes at once; a longer list is sent in parts, one after
    /// the other.
    ///
    /// # Errors
    /// [`InvalidRequest`](thermidor_types::FailureKind::InvalidRequest) when there is no text, a text is empty, or the
    /// provider has no word for a wish. [`Malformed`](thermidor_types::FailureKind::Malformed) when vectors are missing,
    /// or are not as long as was asked. Otherwise as those of a chat; when a part fails, nothing is returned.
    async fn embed(&self, request: EmbeddingRequest) -> Result<Embeddings, Error>;
}

/// Texts to turn into vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingRequest {
    /// The texts; none of them empty.
    pub inputs: Vec<Text>,
    /// How many numbers a vector has, for models that can shorten theirs; the model's own length when unset.
    pub dimensions: Option<u32>,
    /// What the vectors are for. Providers that make no difference are not told.
    pub purpose: Option<EmbeddingPurpose>,
    /// Fields for this provider alone: a JSON object, merged into the body last.
    pub extra: Option<Json>,
}

impl EmbeddingRequest {
    /// These texts, and no wishes.
    pub fn of<T: Into<Text>>(inputs: impl IntoIterator<Item = T>) -> Self {
        Self { inputs: inputs.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// What vectors are for. Some models make them differently for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingPurpose {
    /// Texts that are searched.
    Document,
    /// What they are searched for.
    Query,
    /// To be sorted into classes.
    Classification,
    /// To be gathered into groups.
    Clustering,
}

/// Vectors, and what they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// One for each text, in the order of the texts; all of the same length.
    pub vectors: Vec<Vec<f32>>,
    /// What the provider says it took, with its cost where that is known. Nothing where the provider tells nothing.
    pub usage: Usage,
    /// The model in the provider's word, where it tells.
    pub model: Option<SmolStr>,
}

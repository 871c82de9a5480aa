//! Text to vectors, for search and for comparing meanings.
//!
//! [`EmbeddingModel`] is the trait, [`ModelRuntime::embedding`](crate::ModelRuntime::embedding) hands out models.
//! [`encode`] and [`read`] are the pure codecs behind them.

mod cohere;
mod form;
mod google;
mod http;
mod model;
mod ollama;
mod openai;
mod vectors;

pub use form::{EmbeddingForm, encode, read};
pub(crate) use http::HttpEmbedding;
pub use model::{EmbeddingModel, EmbeddingPurpose, EmbeddingRequest, Embeddings};

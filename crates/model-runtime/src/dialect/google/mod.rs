//! The format of Google's `POST /v1beta/models/{model}:streamGenerateContent`, which Vertex AI speaks too.

mod chunk;
mod contents;
mod encode;
mod mapper;
mod request;
mod sources;
mod thinking;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::ChunkMapper;

//! The format of `OpenAI`'s `POST /chat/completions`, which most providers and local servers speak.

mod chunk;
mod details;
mod encode;
mod mapper;
pub(super) mod media;
mod messages;
mod request;
pub(super) mod sampling;
mod shown;
mod sources;
pub(super) mod thinking;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::ChunkMapper;

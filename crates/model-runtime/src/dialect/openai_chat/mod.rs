//! The format of `OpenAI`'s `POST /chat/completions`, which most providers and local servers speak.

mod chunk;
mod encode;
mod mapper;
mod request;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::ChunkMapper;

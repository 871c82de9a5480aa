//! The format of `OpenAI`'s `POST /chat/completions`, which most providers and local servers speak.

mod chunk;
mod encode;
mod mapper;
mod media;
mod messages;
mod request;
mod sampling;
mod thinking;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::ChunkMapper;

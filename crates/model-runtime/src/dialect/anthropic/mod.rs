//! The format of Anthropic's `POST /v1/messages`, which some other services and local servers speak too.

mod blocks;
mod cache;
mod encode;
mod event;
mod mapper;
mod media;
mod open;
mod request;
mod sampling;
mod sources;
mod thinking;
mod tools;
mod turns;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::EventMapper;

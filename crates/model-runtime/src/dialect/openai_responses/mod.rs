//! The format of `OpenAI`'s `POST /responses`, used statelessly: nothing is stored at the provider.

mod encode;
mod event;
mod input;
mod item;
mod mapper;
mod request;
mod spoken;
mod usage;

pub(super) use encode::encode;
pub(super) use mapper::EventMapper;

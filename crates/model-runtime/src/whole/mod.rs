//! Calls that are answered whole: what embeddings, images and speech have in common.

mod calls;
mod service;
mod unreadable;
mod usage;

pub(crate) use calls::Calls;
pub use service::Services;
pub(crate) use service::beside_chat;
pub use unreadable::Unreadable;
pub(crate) use usage::usage;

//! Providers over HTTP: the only place with a socket.

mod answer;
mod client;
mod headers;
mod key;
mod model;
mod timeouts;

pub(crate) use client::Clients;
pub(crate) use key::key_header;
pub use model::HttpModel;
pub(crate) use model::redacted;
pub use timeouts::Timeouts;

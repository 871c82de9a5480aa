//! Providers over HTTP: the only place with a socket.

mod answer;
mod client;
mod headers;
mod model;
mod timeouts;

pub(crate) use client::Clients;
pub use model::HttpModel;
pub use timeouts::Timeouts;

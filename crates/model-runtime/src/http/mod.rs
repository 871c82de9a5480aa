//! Providers over HTTP: the only place with a socket.

mod answer;
mod caller;
mod client;
mod failing;
mod headers;
mod key;
mod model;
mod timeouts;
mod transport;

pub(crate) use caller::{Ask, Bounds, Caller, Whole};
pub(crate) use client::Clients;
use key::key_header;
pub use model::HttpModel;
pub use timeouts::Timeouts;
pub(crate) use transport::{Broken, Transport, WireAnswer, WireCall, WireError};

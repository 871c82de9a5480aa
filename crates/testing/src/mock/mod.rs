//! The mock provider: an OpenAI-compatible server on the loopback whose model names are scripts.

mod body;
mod connection;
mod decide;
mod echo;
mod history;
mod http;
mod render;
mod script;
mod send;
mod server;
mod state;
mod wire;

pub use server::{MockOptions, MockProvider};
pub use state::MockStats;
pub use wire::{BadWireAnswers, WireAnswer, WireAnswers, WireBody, WireEnd, WirePiece};

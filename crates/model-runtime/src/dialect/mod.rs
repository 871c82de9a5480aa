//! Wire formats: pure codecs, one folder each.
//!
//! [`encode`] writes a request for a [`Target`]; a [`Decoder`] turns the bytes of an answer into events. What all
//! formats share is here: framing, the assembly of answers and of tool calls, reading failures. A format adds a
//! mapper that says what one JSON document means, and an encoder.

mod answer;
mod anthropic;
mod billed;
mod calls;
mod codec;
mod decoder;
mod fault;
pub mod google;
mod lenient;
mod mapper;
pub mod ollama;
pub mod openai_chat;
mod openai_responses;
mod replay;
mod strict;
mod think;
mod transcript;

pub(crate) use billed::Bill;
pub use codec::{Target, Unencodable, WireRequest, encode};
pub(crate) use codec::{merged, written};
pub use decoder::{Close, Decoder};
pub use fault::{Fault, FaultClass, read_fault};
pub(crate) use lenient::count;

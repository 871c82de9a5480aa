//! The format of `OpenAI`'s `POST /chat/completions`, which most providers and local servers speak.
//!
//! ```
//! use thermidor_model_runtime::{ChatEvent, Quirks, StreamEnding, dialect::openai_chat::{Close, Decoder}};
//! use thermidor_types::ModelId;
//!
//! let mut decoder = Decoder::new(ModelId::new("local", "m"), "turn-1", &Quirks::default());
//! decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"fi");
//! decoder.feed(b"nish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
//! let events = decoder.finish(Close::EndOfStream);
//! assert_eq!(events[0], ChatEvent::Text("Hi".into()));
//! assert!(matches!(&events[1], ChatEvent::Ended(end) if end.ending == StreamEnding::Finished));
//! ```

mod calls;
mod chunk;
mod decoder;
mod encode;
mod fault;
mod request;
mod think;
mod transcript;
mod usage;

pub use decoder::{Close, Decoder};
pub use encode::{Unencodable, encode};
pub use fault::{Fault, read_fault};

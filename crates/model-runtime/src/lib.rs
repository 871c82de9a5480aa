//! Talks to language models.

mod chat;
mod error;
mod rehearsal;

pub use chat::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, ResponseSchema, StreamEnd, StreamEnding, ToolChoice,
};
pub use error::Error;
pub use rehearsal::{Contract, Language, Material, MaterialKind, Rehearsal};

//! Talks to language models.

mod chat;
mod error;

pub use chat::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, ResponseSchema, StreamEnd, StreamEnding, ToolChoice,
};
pub use error::Error;

//! Wire formats as pure codecs: a request to JSON, bytes to events. No socket, no clock.

pub mod openai_chat;

//! The format of Ollama's own `POST /api/chat`: one JSON object a line.

mod encode;
mod line;
mod mapper;
mod request;

pub(super) use encode::encode;
pub(super) use mapper::LineMapper;

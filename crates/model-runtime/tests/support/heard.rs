//! What a decoder makes of bytes cut anywhere.

use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirks, StreamEnd,
    dialect::{Close, Decoder},
};
use thermidor_types::ModelId;

/// What the deltas add up to, and the end.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    /// One line for each delta; deltas of one kind in a row are one, however the bytes were cut.
    pub(crate) told: Vec<String>,
    /// How many events were read.
    pub(crate) events: u64,
    pub(crate) end: StreamEnd,
}

pub(crate) fn hear<'a>(
    dialect: Dialect,
    model: &ModelId,
    quirks: &Quirks,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Heard {
    let mut decoder = Decoder::new(dialect, model.clone(), "p", quirks);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        events.extend(decoder.events());
    }
    events.extend(decoder.finish(Close::EndOfStream));
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("the last event is the end") };
    let mut told: Vec<String> = Vec::new();
    for event in events {
        let (kind, more) = match event {
            ChatEvent::Text(text) => ("text ".to_owned(), text.to_string()),
            ChatEvent::Reasoning(text) => ("thought ".to_owned(), text.to_string()),
            ChatEvent::Call { index, name, fragment } => {
                (format!("call {index} {name} "), fragment.to_string())
            }
            ChatEvent::Media(media) => (format!("medium {} ", media.media_type), String::new()),
            ChatEvent::Ended(_) => panic!("two ends"),
        };
        match told.last_mut() {
            Some(last) if last.starts_with(&kind) => last.push_str(&more),
            _ => told.push(kind + &more),
        }
    }
    Heard { told, events: decoder.events_read(), end: *end }
}

use serde::{Deserialize, Serialize};

use crate::{Heard, mock::WireAnswer};

/// An answer on the wire and what a client must make of it, as the notes of a [`WireAnswer`] say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientCase {
    /// Whether it answers a request for a stream.
    pub stream: bool,
    /// What a client must hear.
    pub expected: Heard,
    /// A text that is expected many times over, instead of one that fills a page.
    #[serde(skip_serializing)]
    repeated: Option<Repeated>,
    /// Why the official Python client hears something else, where it does.
    pub python: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeated {
    text: String,
    times: usize,
}

impl ClientCase {
    /// Reads the notes of an answer: `stream` is true unless they say otherwise.
    ///
    /// # Errors
    /// When they have another form; the message names the field.
    pub fn of(answer: &WireAnswer) -> Result<Self, serde_json::Error> {
        let mut case =
            if answer.notes.is_null() { Self::default() } else { Self::deserialize(&answer.notes)? };
        case.stream = answer.notes.get("stream").is_none_or(|stream| stream == true);
        if let Some(Repeated { text, times }) = case.repeated.take() {
            case.expected.text = text.repeat(times);
        }
        Ok(case)
    }
}

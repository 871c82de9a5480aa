use thermidor_types::{Content, Message, Part};

use crate::{Draft, Error, MessageProcessor, View};

/// Leaves out messages with nothing in them but blanks or bare reasoning, which providers refuse. The step's
/// name is `drop-empty`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropEmpty;

impl MessageProcessor for DropEmpty {
    fn name(&self) -> &'static str {
        "drop-empty"
    }

    fn process(&self, draft: &mut Draft, _: &View) -> Result<(), Error> {
        draft.retain("empty", |unit| unit.message().is_none_or(has_content));
        Ok(())
    }
}

fn has_content(message: &Message) -> bool {
    match message {
        Message::System(system) => !system.text.trim().is_empty(),
        Message::User(user) => user.content.iter().any(|content| match content {
            Content::Text(text) => !text.trim().is_empty(),
            Content::Media(_) => true,
        }),
        Message::Assistant(answer) => answer.parts.iter().any(|part| match part {
            Part::Text(text) => !text.trim().is_empty(),
            Part::Exchange(_) | Part::Media(_) | Part::Native(_) => true,
            Part::Reasoning(_) => false,
        }),
    }
}

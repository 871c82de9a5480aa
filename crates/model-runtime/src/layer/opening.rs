use futures_util::{StreamExt, stream};
use thermidor_types::{AssistantMessage, Failure, FailureKind, Part};

use crate::{ChatEvent, ChatStream, StreamEnd, StreamEnding};

/// How an answer opens.
pub(super) enum Opening {
    /// Something is to be seen: the stream from its first event on, blanks before it included.
    Seen(ChatStream),
    /// It ended, and nobody saw anything: the blanks that came, and the end.
    Unseen(Vec<ChatEvent>, Box<StreamEnd>),
    /// It stopped without an end.
    Endless,
}

/// Reads until something is to be seen: words or thoughts that are not blank, media, a call.
pub(super) async fn open(mut stream: ChatStream) -> Opening {
    let mut held = Vec::new();
    while let Some(event) = stream.next().await {
        let seen = match event {
            ChatEvent::Ended(end) if is_empty(&end.message) || unseen_failure(&end).is_some() => {
                return Opening::Unseen(held, end);
            }
            ChatEvent::Text(ref text) | ChatEvent::Reasoning(ref text) => !is_blank(text),
            ChatEvent::Call { .. } | ChatEvent::Media(_) | ChatEvent::Ended(_) => true,
        };
        held.push(event);
        if seen {
            return Opening::Seen(stream::iter(held).chain(stream).boxed());
        }
    }
    Opening::Endless
}

/// Whether a message holds nothing anybody could see or use.
fn is_empty(message: &AssistantMessage) -> bool {
    is_unseen(message) && !message.parts.iter().any(|part| matches!(part, Part::Native(_)))
}

/// Whether a message holds nothing that was to be seen. An item of the provider's own is of use in an answer that
/// ended; of one that broke it is no reason to keep nothing else.
fn is_unseen(message: &AssistantMessage) -> bool {
    message.citations.is_empty()
        && message.parts.iter().all(|part| match part {
            Part::Text(text) => is_blank(text),
            Part::Reasoning(reasoning) => is_blank(&reasoning.text),
            Part::Native(_) => true,
            Part::Exchange(_) | Part::Media(_) => false,
        })
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The failure of an answer nobody saw a word of.
pub(crate) fn unseen_failure(end: &StreamEnd) -> Option<&Failure> {
    match &end.ending {
        StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) if is_unseen(&end.message) => {
            Some(failure)
        }
        StreamEnding::CutOff(_) | StreamEnding::Failed(_) | StreamEnding::Finished | StreamEnding::Length => {
            None
        }
    }
}

/// The failure of a stream that stops without an end.
pub(super) fn endless() -> Failure {
    Failure::new(FailureKind::Malformed, "the stream had no ending")
}

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};
use thermidor_types::{
    AssistantMessage, Citation, Ending, Exchange, Json, Media, ModelId, NativeItem, Part, Reasoning,
    ToolCall, Usage,
};

use super::calls::{CallDelta, Calls, Form};
use crate::ChatEvent;

/// The answer as far as it has come, and the deltas not handed out yet.
///
/// Neighbouring deltas of one kind are one event: how the bytes were cut shows in the number of events only.
#[derive(Debug)]
pub(super) struct Transcript {
    model: ModelId,
    call_prefix: SmolStr,
    pieces: Vec<Piece>,
    /// Whether the last piece may grow.
    open: bool,
    /// Bytes of all text pieces.
    text_length: usize,
    calls: Calls,
    citations: Vec<Citation>,
    pending: Vec<Delta>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Reasoning { text: String, signature: Option<String> },
    Call { slot: usize, place: usize },
    Media(Media),
    Native(Json),
}

#[derive(Debug)]
enum Delta {
    Text(String),
    Reasoning(String),
    Call { place: usize, name: SmolStr, fragment: String },
    Media(Media),
}

impl Transcript {
    pub(super) fn new(model: ModelId, call_prefix: SmolStr) -> Self {
        Self {
            model,
            call_prefix,
            pieces: Vec::new(),
            open: false,
            text_length: 0,
            calls: Calls::default(),
            citations: Vec::new(),
            pending: Vec::new(),
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text_length += text.len();
        match self.pieces.last_mut() {
            Some(Piece::Text(all)) if self.open => all.push_str(text),
            _ => self.push(Piece::Text(text.to_owned())),
        }
        match self.pending.last_mut() {
            Some(Delta::Text(all)) => all.push_str(text),
            _ => self.pending.push(Delta::Text(text.to_owned())),
        }
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Reasoning { text: all, .. }) if self.open => all.push_str(text),
            _ => self.push(Piece::Reasoning { text: text.to_owned(), signature: None }),
        }
        match self.pending.last_mut() {
            Some(Delta::Reasoning(all)) => all.push_str(text),
            _ => self.pending.push(Delta::Reasoning(text.to_owned())),
        }
    }

    /// Adds to the signature of the reasoning on its way; without one, the signature stands alone.
    pub(super) fn sign_reasoning(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Reasoning { signature, .. }) if self.open => {
                signature.get_or_insert_default().push_str(more);
            }
            _ => self.push(Piece::Reasoning { text: String::new(), signature: Some(more.to_owned()) }),
        }
    }

    pub(super) fn media(&mut self, media: Media) {
        self.push(Piece::Media(media.clone()));
        self.pending.push(Delta::Media(media));
    }

    pub(super) fn native(&mut self, item: Json) {
        self.push(Piece::Native(item));
    }

    pub(super) fn citation(&mut self, citation: Citation) {
        if !self.citations.contains(&citation) {
            self.citations.push(citation);
        }
    }

    /// Ends the piece on its way: what comes next is a part of its own.
    pub(super) fn close_part(&mut self) {
        self.open = false;
    }

    pub(super) fn text_length(&self) -> usize {
        self.text_length
    }

    /// The byte of the character that many characters after byte `from`, in all text pieces.
    pub(super) fn text_place(&self, from: usize, mut characters: usize) -> Option<usize> {
        let mut at = 0;
        for piece in &self.pieces {
            let Piece::Text(text) = piece else { continue };
            let start = from.saturating_sub(at).min(text.len());
            let rest = text.get(start..)?;
            if let Some((byte, _)) = rest.char_indices().nth(characters).filter(|_| at + text.len() > from) {
                return Some(at + start + byte);
            }
            characters -= rest.chars().count();
            at += text.len();
        }
        (characters == 0).then_some(at)
    }

    /// For each of the `characters` of all text pieces the byte where it begins, in one pass.
    pub(super) fn bytes_of_characters(&self, characters: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.chars()),
            _ => None,
        });
        let mut byte = 0;
        let begins = texts.flatten().map(|character| {
            byte += character.len_utf8();
            byte
        });
        let begins = std::iter::once(0).chain(begins).enumerate();
        begins.filter(|(character, _)| characters.contains(character)).collect()
    }

    fn push(&mut self, piece: Piece) {
        self.open = true;
        self.pieces.push(piece);
    }

    /// Begins a list of deltas: two entries of one list are two calls, unless they name one index.
    pub(super) fn begin_calls(&mut self) {
        self.calls.begin();
    }

    pub(super) fn call(&mut self, delta: &CallDelta<'_>, form: Form) {
        let Some(step) = self.calls.take(delta, form) else { return };
        if step.first {
            self.push(Piece::Call { slot: step.slot, place: step.place });
        }
        let (name, untold) = self.calls.untold(step.slot);
        match self.pending.last_mut() {
            Some(Delta::Call { place, fragment, .. }) if *place == step.place => {
                fragment.push_str(untold);
            }
            _ if untold.is_empty() && !step.first => {}
            _ => self.pending.push(Delta::Call { place: step.place, name, fragment: untold.to_owned() }),
        }
    }

    /// The deltas since the last time.
    pub(super) fn drain(&mut self) -> Vec<ChatEvent> {
        let events = self.pending.drain(..).map(|delta| match delta {
            Delta::Text(text) => ChatEvent::Text(text.into()),
            Delta::Reasoning(text) => ChatEvent::Reasoning(text.into()),
            Delta::Call { place, name, fragment } => {
                ChatEvent::Call { index: place, name, fragment: fragment.into() }
            }
            Delta::Media(media) => ChatEvent::Media(media),
        });
        events.collect()
    }

    /// Whether there is something to be told.
    pub(super) fn has_news(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether nothing at all was said yet.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many calls never got a name; they are not part of the message.
    pub(super) fn nameless_calls(&self) -> usize {
        self.calls.nameless()
    }

    /// The assembled answer. Absent arguments of a finished one are `{}`; broken and cut ones stay as they came.
    pub(super) fn message(&mut self, usage: Usage, ending: Ending) -> AssistantMessage {
        let pieces = std::mem::take(&mut self.pieces);
        // Arguments that no call could be found for may be those that a call lacks.
        let lost = self.calls.nameless() > 0;
        let parts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => Part::text(text),
            Piece::Reasoning { text, signature } => Part::Reasoning(Reasoning {
                text: text.into(),
                signature: signature.map(Into::into),
                model: Some(self.model.clone()),
            }),
            Piece::Call { slot, place } => {
                let slot = self.calls.slot(slot);
                let absent = !lost && ending == Ending::Finished && slot.arguments.trim().is_empty();
                let arguments = if absent { "{}" } else { &slot.arguments };
                let id = format_smolstr!("{}.{place}", self.call_prefix);
                let call = ToolCall {
                    wire_id: slot.id.clone(),
                    signature: slot.signature.as_deref().map(Into::into),
                    ..ToolCall::new(id, slot.name.clone(), arguments)
                };
                Part::Exchange(Exchange::open(call))
            }
            Piece::Media(media) => Part::Media(media),
            Piece::Native(item) => Part::Native(NativeItem { model: self.model.clone(), item }),
        });
        let parts = parts.collect();
        AssistantMessage {
            parts,
            model: Some(self.model.clone()),
            usage,
            ending,
            citations: std::mem::take(&mut self.citations),
            ..AssistantMessage::default()
        }
    }
}

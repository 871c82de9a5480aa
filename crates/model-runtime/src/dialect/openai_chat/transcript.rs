use smol_str::{SmolStr, format_smolstr};
use thermidor_types::{AssistantMessage, Ending, Exchange, ModelId, Part, Reasoning, ToolCall, Usage};

use super::calls::{Calls, Form};
use super::chunk::CallDelta;
use crate::ChatEvent;

/// The answer as far as it has come, and the deltas not handed out yet.
///
/// Neighbouring deltas of one kind are one event: how the bytes were cut shows in the number of events only.
#[derive(Debug)]
pub(super) struct Transcript {
    model: ModelId,
    call_prefix: SmolStr,
    pieces: Vec<Piece>,
    calls: Calls,
    pending: Vec<Delta>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Reasoning(String),
    Call { slot: usize, place: usize },
}

#[derive(Debug)]
enum Delta {
    Text(String),
    Reasoning(String),
    Call { place: usize, name: SmolStr, fragment: String },
}

impl Transcript {
    pub(super) fn new(model: ModelId, call_prefix: SmolStr) -> Self {
        Self { model, call_prefix, pieces: Vec::new(), calls: Calls::default(), pending: Vec::new() }
    }

    pub(super) fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(all)) => all.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
        match self.pending.last_mut() {
            Some(Delta::Text(all)) => all.push_str(text),
            _ => self.pending.push(Delta::Text(text.to_owned())),
        }
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Reasoning(all)) => all.push_str(text),
            _ => self.pieces.push(Piece::Reasoning(text.to_owned())),
        }
        match self.pending.last_mut() {
            Some(Delta::Reasoning(all)) => all.push_str(text),
            _ => self.pending.push(Delta::Reasoning(text.to_owned())),
        }
    }

    pub(super) fn calls(&mut self, deltas: &[CallDelta<'_>], form: Form) {
        self.calls.begin();
        for delta in deltas {
            let Some(step) = self.calls.take(delta, form) else { continue };
            if step.first {
                self.pieces.push(Piece::Call { slot: step.slot, place: step.place });
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
    }

    /// The deltas since the last time.
    pub(super) fn drain(&mut self) -> Vec<ChatEvent> {
        let events = self.pending.drain(..).map(|delta| match delta {
            Delta::Text(text) => ChatEvent::Text(text.into()),
            Delta::Reasoning(text) => ChatEvent::Reasoning(text.into()),
            Delta::Call { place, name, fragment } => {
                ChatEvent::Call { index: place, name, fragment: fragment.into() }
            }
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

    /// The assembled answer. Absent arguments are `{}`; broken ones stay as they came.
    pub(super) fn message(&mut self, usage: Usage, ending: Ending) -> AssistantMessage {
        let pieces = std::mem::take(&mut self.pieces);
        let parts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => Part::text(text),
            Piece::Reasoning(text) => Part::Reasoning(Reasoning {
                text: text.into(),
                signature: None,
                model: Some(self.model.clone()),
            }),
            Piece::Call { slot, place } => {
                let slot = self.calls.slot(slot);
                let arguments = if slot.arguments.trim().is_empty() { "{}" } else { &slot.arguments };
                let id = format_smolstr!("{}.{place}", self.call_prefix);
                let call =
                    ToolCall { wire_id: slot.id.clone(), ..ToolCall::new(id, slot.name.clone(), arguments) };
                Part::Exchange(Exchange::open(call))
            }
        });
        let parts = parts.collect();
        AssistantMessage {
            parts,
            model: Some(self.model.clone()),
            usage,
            ending,
            ..AssistantMessage::default()
        }
    }
}

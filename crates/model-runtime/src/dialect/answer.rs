use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;
use thermidor_types::{Citation, Ending, Failure, FailureKind, Json, Media, ModelId, Usage};

use super::{
    Close,
    calls::{CallDelta, Form},
    fault::Fault,
    think::{ThinkTags, Told},
    transcript::Transcript,
};
use crate::{ChatEvent, StreamEnd, StreamEnding, UnknownShape};

/// The longest sample of something unknown, in bytes.
const LONGEST_SAMPLE: usize = 2 << 10;

/// So many kinds of unknown things are told apart; further ones share the last place.
const MOST_UNKNOWN: usize = 32;

/// What all dialects put an answer together with: a [`Mapper`](super::Mapper) reads one event and says here
/// what it means.
#[derive(Debug)]
pub(crate) struct Answer {
    transcript: Transcript,
    think: Option<ThinkTags>,
    usage: Option<Usage>,
    stop: Option<(SmolStr, Stop)>,
    complete: bool,
    whole: bool,
    refused: bool,
    fault: Option<Fault>,
    unknown: Vec<UnknownShape>,
}

/// What a provider's stop reason means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Finished,
    Length,
    /// The provider failed, or refused, in the middle of the answer.
    Failed(FailureKind, &'static str),
}

impl Stop {
    /// The meaning of `reason` in the words of all dialects. The set is open, providers invent words: an
    /// unknown one means that the model stopped.
    pub(crate) fn of(reason: &str) -> Self {
        match reason {
            "length"
            | "max_tokens"
            | "model_length"
            | "max_output_tokens"
            | "MAX_TOKENS"
            | "model_context_window_exceeded" => Self::Length,
            "content_filter"
            | "sensitive"
            | "refusal"
            | "SAFETY"
            | "PROHIBITED_CONTENT"
            | "RECITATION"
            | "BLOCKLIST"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT" => {
                Self::Failed(FailureKind::ContentRefused, "the provider's content rules stopped the answer")
            }
            "error" | "network_error" => {
                Self::Failed(FailureKind::Server, "the provider failed in the middle of the answer")
            }
            "insufficient_system_resource" => Self::Failed(
                FailureKind::Overloaded,
                "the provider ran out of resources in the middle of the answer",
            ),
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => Self::Failed(
                FailureKind::Malformed,
                "the model wrote a tool call that the provider could not read",
            ),
            "stop" | "tool_calls" | "function_call" | "end_turn" | "stop_sequence" | "tool_use"
            | "pause_turn" | "STOP" | "completed" => Self::Finished,
            other => {
                tracing::debug!(reason = other, "an unknown stop reason counts as finished");
                Self::Finished
            }
        }
    }
}

impl Answer {
    pub(super) fn new(model: ModelId, call_prefix: SmolStr, think: Option<ThinkTags>) -> Self {
        Self {
            transcript: Transcript::new(model, call_prefix),
            think,
            usage: None,
            stop: None,
            complete: false,
            whole: false,
            refused: false,
            fault: None,
            unknown: Vec::new(),
        }
    }

    /// More words. Where the provider writes reasoning as `<think>…</think>`, it is told apart here.
    pub(crate) fn text(&mut self, text: &str) {
        let Some(think) = &mut self.think else { return self.transcript.text(text) };
        let transcript = &mut self.transcript;
        think.feed(text, |told| tell(transcript, told));
    }

    /// The provider says that the words are those of a refusal.
    pub(crate) fn refused(&mut self) {
        self.refused = true;
    }

    /// More thoughts.
    pub(crate) fn reasoning(&mut self, text: &str) {
        self.transcript.reasoning(text);
    }

    /// More of the signature of the reasoning on its way; without one, a signature that stands alone.
    pub(crate) fn sign_reasoning(&mut self, signature: &str) {
        self.transcript.sign_reasoning(signature);
    }

    /// Ends the text or the reasoning on its way: what comes next is a part of its own.
    pub(crate) fn close_part(&mut self) {
        self.transcript.close_part();
    }

    /// What one event says of calls: two entries of one list are two calls, unless they name one index.
    pub(crate) fn calls<'a>(&mut self, deltas: impl IntoIterator<Item = CallDelta<'a>>, form: Form) {
        self.transcript.begin_calls();
        for delta in deltas {
            self.transcript.call(&delta, form);
        }
    }

    /// An image or a sound, whole.
    pub(crate) fn media(&mut self, media: Media) {
        self.transcript.media(media);
    }

    /// An item that only the provider understands, to be sent back to it in this place.
    pub(crate) fn native(&mut self, item: Json) {
        self.transcript.native(item);
    }

    /// A source. One that was named before, for the same words, is no news.
    pub(crate) fn citation(&mut self, citation: Citation) {
        self.transcript.citation(citation);
    }

    /// Bytes of all words so far: where a citation's span begins or ends.
    pub(crate) fn text_length(&self) -> usize {
        self.transcript.text_length()
    }

    /// The place, in bytes of all words so far, of the character that many characters after byte `from`; `None` when
    /// there are not so many yet. Cost: linear in the text.
    pub(crate) fn text_place(&self, from: usize, characters: usize) -> Option<usize> {
        self.transcript.text_place(from, characters)
    }

    /// For each of the `characters`, counted in all words so far, the byte where it begins; without those that
    /// are behind the end.
    pub(crate) fn bytes_of_characters(&self, characters: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        self.transcript.bytes_of_characters(characters)
    }

    /// Whether nothing at all was said yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.transcript.is_empty()
    }

    /// The figures so far, to be replaced by newer ones.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// What was consumed; the last word counts.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Why the model stopped, in the provider's word; the first word counts.
    pub(crate) fn stop(&mut self, reason: &str, stop: Stop) {
        if self.stop.is_none() {
            self.stop = Some((reason.into(), stop));
        }
    }

    /// Nothing more is to be read.
    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }

    /// The message came whole: it needs no other sign that it is complete, but figures may follow.
    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }

    /// The provider reported a failure inside the answer; the first one counts.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// The answer cannot be read, or does not come to an end as it should.
    pub(crate) fn fail(&mut self, kind: FailureKind, message: &str) {
        self.fault(Fault::new(kind, message));
    }

    /// Something nobody understands: it is left out of the answer, counted, and kept once as a sample.
    pub(crate) fn unknown(&mut self, what: &str, sample: &str) {
        tracing::debug!(what, "an answer holds a shape nobody knows");
        let known = self.unknown.iter().position(|shape| shape.what == what);
        let place = known.or_else(|| (self.unknown.len() >= MOST_UNKNOWN).then_some(MOST_UNKNOWN - 1));
        if let Some(place) = place {
            self.unknown[place].count += 1;
            return;
        }
        let end = sample.floor_char_boundary(LONGEST_SAMPLE);
        self.unknown.push(UnknownShape { what: what.into(), count: 1, sample: sample[..end].into() });
    }

    pub(super) fn drain(&mut self) -> Vec<ChatEvent> {
        self.transcript.drain()
    }

    pub(super) fn has_news(&self) -> bool {
        self.transcript.has_news()
    }

    /// Whether nothing more is to be read: the end came, or a failure.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete || self.fault.is_some()
    }

    pub(super) fn reason(&self) -> Option<&str> {
        self.stop.as_ref().map(|(reason, _)| reason.as_str())
    }

    pub(super) fn reported_fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    pub(super) fn unknown_shapes(&self) -> &[UnknownShape] {
        &self.unknown
    }

    pub(super) fn flush_think_tags(&mut self) {
        let transcript = &mut self.transcript;
        if let Some(think) = &mut self.think {
            think.finish(|told| tell(transcript, told));
        }
    }

    pub(super) fn end(&mut self, close: Close) -> StreamEnd {
        let meaning = self.stop.as_ref().map(|(_, meaning)| *meaning);
        let ending = match (&self.fault, meaning) {
            (Some(fault), _) => StreamEnding::Failed(Failure::new(fault.kind, fault.message.as_str())),
            (None, Some(Stop::Finished)) => StreamEnding::Finished,
            (None, Some(Stop::Length)) => StreamEnding::Length,
            (None, Some(Stop::Failed(kind, words))) => StreamEnding::Failed(Failure::new(kind, words)),
            (None, None) if self.complete || self.whole => StreamEnding::Finished,
            (None, None) => StreamEnding::CutOff(match close {
                Close::Broken(failure) => failure,
                Close::EndOfStream => {
                    Failure::new(FailureKind::Network, "the stream closed before the answer was complete")
                }
            }),
        };
        for _ in 0..self.transcript.nameless_calls() {
            self.unknown("a call without a name", "");
        }
        let shown = match ending {
            StreamEnding::Finished => Ending::Finished,
            StreamEnding::Length => Ending::Length,
            StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Ending::CutOff,
        };
        let message = self.transcript.message(self.usage.unwrap_or_default(), shown);
        let reason = self.stop.as_ref().map(|(reason, _)| reason.clone());
        StreamEnd { message, ending, reason, refused: self.refused, unknown: self.unknown.clone() }
    }
}

fn tell(transcript: &mut Transcript, told: Told<'_>) {
    match told {
        Told::Text(text) => transcript.text(text),
        Told::Reasoning(text) => transcript.reasoning(text),
    }
}

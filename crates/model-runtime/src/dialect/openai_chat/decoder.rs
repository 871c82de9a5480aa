use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use smol_str::SmolStr;
use thermidor_types::{Ending, Failure, FailureKind, ModelId, Usage};

use super::{
    calls::Form,
    chunk::{Block, CallDelta, Choice, Chunk, Delta, FunctionDelta, list, string},
    fault::{Fault, read_fault, read_fault_text},
    think::{ThinkTags, Told},
    transcript::Transcript,
    usage::{self, Cost},
};
use crate::{
    ChatEvent, Quirk, Quirks, StreamEnd, StreamEnding,
    sse::{Frame, LARGEST_EVENT, Sse},
};

/// How the bytes came to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// The other side closed the stream.
    EndOfStream,
    /// The connection broke, or the time was up.
    Broken(Failure),
}

/// Turns the bytes of one answer into events, cut as they may be.
///
/// It reads an event stream, and also the whole JSON answer that some servers give to a request for a stream.
/// The answer counts as finished only if the provider said so, by a `finish_reason` or by `[DONE]`; a failure
/// reported inside the stream is one, whatever came before.
///
/// Cost: linear in the bytes. Memory: the answer once, and one unfinished event.
#[derive(Debug)]
pub struct Decoder {
    body: Body,
    answer: Answer,
}

#[derive(Debug)]
enum Body {
    Unknown,
    Stream(Sse),
    Json(Vec<u8>),
}

#[derive(Debug)]
struct Answer {
    transcript: Transcript,
    think: Option<ThinkTags>,
    cost: Cost,
    usage: Option<Usage>,
    finish_reason: Option<SmolStr>,
    complete: bool,
    whole: bool,
    fault: Option<Fault>,
    events: u64,
    unknown: u64,
}

impl Decoder {
    /// A decoder for one answer of `model`; calls in it get the ids `{call_prefix}.{place}`.
    pub fn new(model: ModelId, call_prefix: impl Into<SmolStr>, quirks: &Quirks) -> Self {
        let answer = Answer {
            transcript: Transcript::new(model, call_prefix.into()),
            think: quirks.has(Quirk::ThinkTags).then(ThinkTags::default),
            cost: if quirks.has(Quirk::BilledCost) { Cost::Dollars } else { Cost::Ignored },
            usage: None,
            finish_reason: None,
            complete: false,
            whole: false,
            fault: None,
            events: 0,
            unknown: 0,
        };
        Self { body: Body::Unknown, answer }
    }

    /// Takes the next bytes. What comes after the end of the answer is ignored.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.is_complete() {
            return;
        }
        if matches!(self.body, Body::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return,
                Some(b'{' | b'[') => self.body = Body::Json(Vec::new()),
                Some(b'<') => {
                    return self.answer.fail(FailureKind::Malformed, "a web page came instead of an answer");
                }
                Some(_) => self.body = Body::Stream(Sse::default()),
            }
        }
        let fits = match &mut self.body {
            Body::Unknown => true,
            Body::Stream(sse) => sse.feed(bytes, |frame| self.answer.frame(frame)).is_ok(),
            Body::Json(text) => {
                text.extend_from_slice(bytes);
                text.len() <= LARGEST_EVENT
            }
        };
        if !fits {
            self.answer.fail(FailureKind::Malformed, "one event is larger than 32 MiB");
        }
    }

    /// Hands out what has come since the last time, neighbouring deltas of one kind as one event.
    pub fn events(&mut self) -> Vec<ChatEvent> {
        self.answer.transcript.drain()
    }

    /// Whether [`Decoder::events`] has something to hand out.
    pub fn has_news(&self) -> bool {
        self.answer.transcript.has_news()
    }

    /// Whether nothing more is to be read: `[DONE]` came, or a failure. Servers may keep the socket open.
    pub fn is_complete(&self) -> bool {
        self.answer.complete || self.answer.fault.is_some()
    }

    /// Why the model stopped, in the provider's word.
    pub fn finish_reason(&self) -> Option<&str> {
        self.answer.finish_reason.as_deref()
    }

    /// The failure that the provider reported inside the answer.
    pub fn fault(&self) -> Option<&Fault> {
        self.answer.fault.as_ref()
    }

    /// How many events of any sort were read; keep-alive comments are none.
    pub fn events_read(&self) -> u64 {
        self.answer.events
    }

    /// How many events, calls or choices had a shape nobody knows. They were left out of the answer.
    pub fn unknown_shapes(&self) -> u64 {
        self.answer.unknown
    }

    /// Ends the answer: the last deltas, then exactly one [`ChatEvent::Ended`].
    pub fn finish(&mut self, close: Close) -> Vec<ChatEvent> {
        if !self.is_complete() {
            match std::mem::replace(&mut self.body, Body::Unknown) {
                Body::Unknown => {}
                Body::Stream(mut sse) => sse.finish(|frame| self.answer.last_frame(frame)),
                Body::Json(text) => self.answer.documents(&text),
            }
        }
        self.answer.flush_think_tags();
        let mut events = self.answer.transcript.drain();
        events.push(ChatEvent::Ended(Box::new(self.answer.end(close))));
        events
    }
}

impl Answer {
    fn frame(&mut self, frame: Frame<'_>) {
        self.data(frame, Complaint::Fail);
    }

    /// The last event of a stream that lacks its blank line: it may be cut, then it is none.
    fn last_frame(&mut self, frame: Frame<'_>) {
        self.data(frame, Complaint::Ignore);
    }

    fn data(&mut self, frame: Frame<'_>, complaint: Complaint) {
        let data = frame.data.trim_ascii();
        if self.complete || self.fault.is_some() || data.is_empty() {
            return;
        }
        self.events += 1;
        if data == b"[DONE]" {
            self.complete = true;
        } else if frame.event == b"error" {
            self.fault = Some(read_fault(None, data));
        } else if !self.chunk(data) && !self.repaired(data) && complaint == Complaint::Fail {
            self.fail(FailureKind::Malformed, "an event of the stream is no JSON");
        }
    }

    /// Reads one JSON object; false when it is none.
    fn chunk(&mut self, data: &[u8]) -> bool {
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                self.unknown_shape("an event that is no chunk");
            }
            return json;
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            self.fault = Some(read_fault_text(None, error.get()));
            return true;
        }
        if chunk.base_resp.is_some_and(|response| response.status_code != 0) {
            self.fault = Some(read_fault(None, data));
            return true;
        }
        let mut known = chunk.usage.is_some_and(|usage| self.usage(usage));
        for choice in chunk.choices.iter().flatten() {
            known = true;
            self.choice(choice);
        }
        if !known {
            self.unknown_shape("an event without choices and usage");
        }
        true
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        if choice.index.is_some_and(|index| index != 0) {
            return self.unknown_shape("a second choice");
        }
        if let Some(usage) = choice.usage {
            self.usage(usage);
        }
        if let Some(delta) = &choice.delta {
            self.delta(delta, Form::Fragments);
        } else if let Some(message) = &choice.message
            && self.transcript.is_empty()
        {
            // Some streams end with the whole message once more: then it is no news.
            self.delta(message, Form::Whole);
            self.whole = true;
        }
        if self.finish_reason.is_none() {
            self.finish_reason = string(choice.finish_reason).map(SmolStr::from);
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, form: Form) {
        if string(delta.role).as_deref() == Some("tool") {
            return; // the result of a tool that the provider ran itself
        }
        self.reasoning(delta);
        if let Some(text) = string(delta.content) {
            self.words(&text);
        } else if delta.content.is_some_and(|content| content.get().starts_with('[')) {
            self.blocks(delta.content);
        }
        if let Some(text) = string(delta.refusal) {
            self.words(&text);
        }
        match list::<CallDelta<'_>>(delta.tool_calls) {
            Ok(calls) if calls.is_empty() => {}
            Ok(calls) => self.transcript.calls(&calls, form),
            Err(_) => self.unknown_shape("a tool call"),
        }
        match list::<FunctionDelta<'_>>(delta.function_call) {
            Ok(functions) => {
                for function in functions {
                    let call = CallDelta { index: Some(0), id: None, function: Some(function) };
                    self.transcript.calls(&[call], form);
                }
            }
            Err(_) => self.unknown_shape("a function call"),
        }
    }

    /// One source of reasoning per chunk: some servers say the same in several fields.
    fn reasoning(&mut self, delta: &Delta<'_>) {
        let sources = [delta.reasoning_content, delta.reasoning, delta.reasoning_text];
        if let Some(text) = sources.into_iter().find_map(string) {
            self.transcript.reasoning(&text);
        } else if delta.reasoning_details.is_some() {
            match list::<Block<'_>>(delta.reasoning_details) {
                Ok(blocks) => {
                    for text in blocks.iter().filter_map(|block| string(block.text)) {
                        self.transcript.reasoning(&text);
                    }
                }
                Err(_) => self.unknown_shape("reasoning details"),
            }
        }
    }

    /// A content given as a list of blocks, thinking ones among them.
    fn blocks(&mut self, content: Option<&RawValue>) {
        let Ok(blocks) = list::<Block<'_>>(content) else { return self.unknown_shape("a content list") };
        for block in blocks {
            if let Some(text) = string(block.text) {
                self.words(&text);
            } else if let Some(text) = string(block.thinking) {
                self.transcript.reasoning(&text);
            } else if let Ok(thoughts) = list::<Block<'_>>(block.thinking) {
                for text in thoughts.iter().filter_map(|thought| string(thought.text)) {
                    self.transcript.reasoning(&text);
                }
            }
        }
    }

    fn words(&mut self, text: &str) {
        let Some(think) = &mut self.think else { return self.transcript.text(text) };
        let transcript = &mut self.transcript;
        think.feed(text, |told| tell(transcript, told));
    }

    fn flush_think_tags(&mut self) {
        let transcript = &mut self.transcript;
        if let Some(think) = &mut self.think {
            think.finish(|told| tell(transcript, told));
        }
    }

    /// Whether it was a usage; the last one counts.
    fn usage(&mut self, raw: &RawValue) -> bool {
        match usage::read(raw, self.cost) {
            Ok(None) => false,
            Ok(Some(usage)) => {
                self.usage = Some(usage);
                true
            }
            Err(_) => {
                self.unknown_shape("a usage");
                true
            }
        }
    }

    /// A second try for data that is no JSON as it stands: several documents on neighbouring lines, bytes
    /// that are no UTF-8.
    #[cold]
    fn repaired(&mut self, data: &[u8]) -> bool {
        let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        if lines.len() > 1 {
            return lines.iter().all(|line| {
                self.complete |= line.trim_ascii() == b"[DONE]";
                self.complete || self.chunk(line)
            });
        }
        std::str::from_utf8(data).is_err() && self.chunk(String::from_utf8_lossy(data).as_bytes())
    }

    /// A body that is JSON, not a stream: one document, or one per line.
    fn documents(&mut self, text: &[u8]) {
        for document in serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>() {
            let Ok(document) = document else { return }; // cut: what is missing decides the ending
            self.events += 1;
            if !self.chunk(document.get().as_bytes()) {
                self.fail(FailureKind::Malformed, "the answer is no JSON");
            }
        }
        self.complete |= self.whole;
    }

    fn fail(&mut self, kind: FailureKind, message: &str) {
        self.fault.get_or_insert(Fault { kind, code: None, message: message.to_owned() });
    }

    fn unknown_shape(&mut self, what: &'static str) {
        self.unknown += 1;
        tracing::debug!(what, "an answer holds a shape nobody knows");
    }

    fn end(&mut self, close: Close) -> StreamEnd {
        let ending = match (&self.fault, &self.finish_reason) {
            (Some(fault), _) => StreamEnding::Failed(Failure::new(fault.kind, fault.message.as_str())),
            (None, Some(reason)) => ending_of(reason),
            (None, None) if self.complete => StreamEnding::Finished,
            (None, None) => StreamEnding::CutOff(match close {
                Close::Broken(failure) => failure,
                Close::EndOfStream => {
                    Failure::new(FailureKind::Network, "the stream closed before the answer was complete")
                }
            }),
        };
        for _ in 0..self.transcript.nameless_calls() {
            self.unknown_shape("a call without a name");
        }
        let shown = match ending {
            StreamEnding::Finished => Ending::Finished,
            StreamEnding::Length => Ending::Length,
            StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Ending::CutOff,
        };
        let message = self.transcript.message(self.usage.unwrap_or_default(), shown);
        StreamEnd::new(message, ending)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Complaint {
    Fail,
    Ignore,
}

fn tell(transcript: &mut Transcript, told: Told<'_>) {
    match told {
        Told::Text(text) => transcript.text(text),
        Told::Reasoning(text) => transcript.reasoning(text),
    }
}

/// An unknown word means that the model stopped: providers invent them.
fn ending_of(reason: &str) -> StreamEnding {
    let failed = |kind, message: &str| StreamEnding::Failed(Failure::new(kind, message));
    match reason {
        "length" | "max_tokens" | "model_length" | "max_output_tokens" | "MAX_TOKENS" => StreamEnding::Length,
        "content_filter" | "sensitive" | "refusal" | "SAFETY" | "PROHIBITED_CONTENT" | "RECITATION" => {
            failed(FailureKind::ContentRefused, "the provider's content rules stopped the answer")
        }
        "error" | "network_error" => {
            failed(FailureKind::Server, "the provider failed in the middle of the answer")
        }
        "insufficient_system_resource" => {
            failed(FailureKind::Overloaded, "the provider ran out of resources in the middle of the answer")
        }
        "stop" | "tool_calls" | "function_call" => StreamEnding::Finished,
        other => {
            tracing::debug!(finish_reason = other, "an unknown finish reason counts as finished");
            StreamEnding::Finished
        }
    }
}

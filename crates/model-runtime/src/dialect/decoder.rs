use serde_json::value::RawValue;
use smol_str::SmolStr;
use thermidor_types::{Failure, FailureKind, ModelId};

use super::{
    answer::Answer,
    codec,
    fault::{Fault, read_fault},
    mapper::Mapper,
    think::ThinkTags,
};
use crate::{
    ChatEvent, Dialect, Quirk, Quirks, UnknownShape,
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
/// It reads an event stream, one JSON document a line, and also the whole JSON answer that some servers give
/// to a request for a stream. The answer counts as finished only if the provider said so; a failure reported
/// inside the stream is one, whatever came before.
///
/// Cost: linear in the bytes. Memory: the answer once, and one unfinished event.
///
/// ```
/// use thermidor_model_runtime::{ChatEvent, Dialect, Quirks, StreamEnding, dialect::{Close, Decoder}};
/// use thermidor_types::ModelId;
///
/// let mut decoder = Decoder::new(Dialect::OpenaiChat, ModelId::new("local", "m"), "turn-1", &Quirks::default());
/// decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"fi");
/// decoder.feed(b"nish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
/// let events = decoder.finish(Close::EndOfStream);
/// assert_eq!(events[0], ChatEvent::Text("Hi".into()));
/// assert!(matches!(&events[1], ChatEvent::Ended(end) if end.ending == StreamEnding::Finished));
/// ```
#[derive(Debug)]
pub struct Decoder {
    body: Body,
    reader: Reader,
}

#[derive(Debug)]
enum Body {
    Unknown,
    Stream(Sse),
    Documents(Documents),
}

/// Documents without framing: each is read when its line ends, or at the end of the body.
#[derive(Debug, Default)]
struct Documents {
    text: Vec<u8>,
    /// No line ends before this byte.
    scanned: usize,
    /// A document over several lines, or a list: nothing is read before the end.
    whole: bool,
}

#[derive(Debug)]
struct Reader {
    mapper: Box<dyn Mapper>,
    answer: Answer,
    events: u64,
}

impl Decoder {
    /// A decoder for one answer of `model`; calls in it get the ids `{call_prefix}.{place}`.
    pub fn new(dialect: Dialect, model: ModelId, call_prefix: impl Into<SmolStr>, quirks: &Quirks) -> Self {
        let think = quirks.has(Quirk::ThinkTags).then(ThinkTags::default);
        let answer = Answer::new(model, call_prefix.into(), think);
        let reader = Reader { mapper: codec::mapper(dialect, quirks), answer, events: 0 };
        Self { body: Body::Unknown, reader }
    }

    /// Takes the next bytes. What comes after the end of the answer is ignored.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        if self.is_complete() {
            return;
        }
        if matches!(self.body, Body::Unknown) {
            // Blanks in front are no part of a body, however they are cut off.
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return,
                Some(b'{' | b'[') => self.body = Body::Documents(Documents::default()),
                Some(b'<') => {
                    let what = "a web page came instead of an answer";
                    return self.reader.answer.fail(FailureKind::Malformed, what);
                }
                Some(_) => self.body = Body::Stream(Sse::default()),
            }
        }
        let fits = match &mut self.body {
            Body::Unknown => true,
            Body::Stream(sse) => sse.feed(bytes, |frame| self.reader.frame(frame, Complaint::Fail)).is_ok(),
            Body::Documents(documents) => {
                documents.feed(bytes, |line| self.reader.line(line));
                documents.text.len() <= LARGEST_EVENT
            }
        };
        if !fits {
            self.reader.answer.fail(FailureKind::Malformed, "one event is larger than 32 MiB");
        }
    }

    /// Hands out what has come since the last time, neighbouring deltas of one kind as one event.
    pub fn events(&mut self) -> Vec<ChatEvent> {
        self.reader.answer.drain()
    }

    /// Whether [`Decoder::events`] has something to hand out.
    pub fn has_news(&self) -> bool {
        self.reader.answer.has_news()
    }

    /// Whether nothing more is to be read: the end came, or a failure. Servers may keep the socket open.
    pub fn is_complete(&self) -> bool {
        self.reader.answer.is_complete()
    }

    /// Why the model stopped, in the provider's word.
    pub fn finish_reason(&self) -> Option<&str> {
        self.reader.answer.reason()
    }

    /// The failure that the provider reported inside the answer.
    pub fn fault(&self) -> Option<&Fault> {
        self.reader.answer.reported_fault()
    }

    /// How many events of any sort were read; keep-alive comments are none.
    pub fn events_read(&self) -> u64 {
        self.reader.events
    }

    /// What had a shape nobody knows, until now. None of it is in the answer.
    pub fn unknown_shapes(&self) -> &[UnknownShape] {
        self.reader.answer.unknown_shapes()
    }

    /// Ends the answer: the last deltas, then exactly one [`ChatEvent::Ended`].
    pub fn finish(&mut self, close: Close) -> Vec<ChatEvent> {
        if !self.is_complete() {
            match std::mem::replace(&mut self.body, Body::Unknown) {
                Body::Unknown => {}
                Body::Stream(mut sse) => sse.finish(|frame| self.reader.frame(frame, Complaint::Ignore)),
                Body::Documents(documents) => self.reader.documents(&documents.text),
            }
        }
        let answer = &mut self.reader.answer;
        answer.flush_think_tags();
        self.reader.mapper.finish(answer);
        let mut events = answer.drain();
        events.push(ChatEvent::Ended(Box::new(answer.end(close))));
        events
    }
}

impl Reader {
    /// One event. The last one of a stream that lacks its blank line may be cut: then it is none.
    fn frame(&mut self, frame: Frame<'_>, complaint: Complaint) {
        let data = frame.data.trim_ascii();
        if self.answer.is_complete() || data.is_empty() {
            return;
        }
        self.events += 1;
        if data == b"[DONE]" {
            self.answer.complete();
        } else if frame.event == b"error" {
            self.answer.fault(read_fault(None, data));
        } else if !self.mapper.read(frame.event, data, &mut self.answer)
            && !self.repaired(frame.event, data)
            && complaint == Complaint::Fail
        {
            self.answer.fail(FailureKind::Malformed, "an event of the stream is no JSON");
        }
    }

    /// A second try for data that is no JSON as it stands: several documents on neighbouring lines, bytes
    /// that are no UTF-8.
    #[cold]
    fn repaired(&mut self, event: &[u8], data: &[u8]) -> bool {
        let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        if lines.len() > 1 {
            return lines.iter().all(|line| {
                if line.trim_ascii() == b"[DONE]" {
                    self.answer.complete();
                }
                self.answer.is_complete() || self.mapper.read(event, line, &mut self.answer)
            });
        }
        std::str::from_utf8(data).is_err()
            && self.mapper.read(event, String::from_utf8_lossy(data).as_bytes(), &mut self.answer)
    }

    /// Reads a line that is a document; false when it is none, or only the beginning of one.
    fn line(&mut self, line: &[u8]) -> bool {
        let document = line.starts_with(b"{") && serde_json::from_slice::<&RawValue>(line).is_ok();
        if document && !self.answer.is_complete() {
            self.events += 1;
            self.mapper.read(b"", line, &mut self.answer);
        }
        document || line.is_empty()
    }

    /// A body that is JSON, not a stream: one document, several, or a list of them, read as far as it came.
    fn documents(&mut self, text: &[u8]) {
        let list = text.trim_ascii_start().starts_with(b"[");
        let between = |byte: &u8| byte.is_ascii_whitespace() || (list && matches!(byte, b',' | b'[' | b']'));
        let mut rest = text;
        loop {
            let start = rest.iter().position(|byte| !between(byte)).unwrap_or(rest.len());
            rest = &rest[start..];
            let mut documents = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
            let Some(Ok(document)) = documents.next() else { return }; // cut: what is missing decides the ending
            self.document(document);
            rest = &rest[documents.byte_offset()..];
        }
    }

    fn document(&mut self, document: &RawValue) {
        if self.answer.is_complete() {
            return;
        }
        self.events += 1;
        if !self.mapper.read(b"", document.get().as_bytes(), &mut self.answer) {
            self.answer.fail(FailureKind::Malformed, "the answer is no JSON");
        }
    }
}

impl Documents {
    /// Takes the next bytes and hands every finished line to `read`, until one is no document.
    fn feed(&mut self, bytes: &[u8], mut read: impl FnMut(&[u8]) -> bool) {
        self.text.extend_from_slice(bytes);
        let mut start = 0;
        while !self.whole
            && let Some(end) = memchr::memchr(b'\n', &self.text[self.scanned..])
        {
            let end = self.scanned + end;
            self.whole = !read(self.text[start..end].trim_ascii());
            if !self.whole {
                start = end + 1;
            }
            self.scanned = end + 1;
        }
        self.text.drain(..start);
        self.scanned = self.text.len();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Complaint {
    Fail,
    Ignore,
}

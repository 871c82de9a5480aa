//! The bytes of an answer, through the framing and the assembly of one dialect.

use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirk, Quirks, StreamEnd, UnknownShape,
    dialect::{Close, Decoder},
};
use thermidor_types::{ModelId, Part};

use crate::{input::Input, linear};

/// Bytes of an answer for each byte that came in: one byte that is no UTF-8 becomes a sign of three.
const MOST_GROWTH: usize = 3;
/// Bytes that an answer may have whatever came in: names, sentences of our own.
const OVERHEAD: usize = 4096;
/// The most bytes kept of one unknown shape, and some words around them.
const MOST_SAMPLE: usize = 4096;

/// What the events of an answer add up to.
#[derive(Debug, PartialEq)]
struct Heard {
    text: String,
    reasoning: String,
    /// Name and arguments of each call.
    calls: Vec<(String, String)>,
    media: usize,
    end: StreamEnd,
}

pub(super) fn check(dialect: Dialect, bytes: &[u8]) {
    for quirks in [Quirks::default(), Quirks::of([Quirk::ThinkTags, Quirk::BilledCost])] {
        let whole = hear(dialect, &quirks, [bytes]);
        coherent(&whole);
        bounded(&whole, bytes.len());
        let single = hear(dialect, &quirks, bytes.chunks(1));
        assert_eq!(single, whole, "the answer depends on how its bytes are cut: one by one");
        let torn = hear(dialect, &quirks, Input::of_hash(bytes).cuts(bytes));
        assert_eq!(torn, whole, "the answer depends on how its bytes are cut: anywhere");
    }
    linear::check(bytes, |bytes| {
        hear(dialect, &Quirks::default(), bytes.chunks(7));
    });
}

fn hear<'a>(dialect: Dialect, quirks: &Quirks, pieces: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut decoder = Decoder::new(dialect, ModelId::new("fuzz", "m"), "p", quirks);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        let news = decoder.has_news();
        let more = decoder.events();
        assert_eq!(news, !more.is_empty(), "it says that it has news exactly when it has");
        events.extend(more);
    }
    events.extend(decoder.finish(Close::EndOfStream));
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("the last event is not the end") };
    let mut heard =
        Heard { text: String::new(), reasoning: String::new(), calls: Vec::new(), media: 0, end: *end };
    for event in events {
        match event {
            ChatEvent::Text(text) => heard.text += &text,
            ChatEvent::Reasoning(text) => heard.reasoning += &text,
            ChatEvent::Call { index, name, fragment } => {
                assert!(index <= heard.calls.len(), "call {index} is told before those in front of it");
                if index == heard.calls.len() {
                    heard.calls.push((name.to_string(), String::new()));
                }
                assert_eq!(heard.calls[index].0, name, "the name of a call changes");
                heard.calls[index].1 += &fragment;
            }
            ChatEvent::Media(_) => heard.media += 1,
            ChatEvent::Ended(_) => panic!("there are two ends"),
        }
    }
    heard
}

/// What was told on the way is what the message says at the end.
fn coherent(heard: &Heard) {
    let message = &heard.end.message;
    let (mut text, mut reasoning, mut media) = (String::new(), String::new(), 0);
    for part in &message.parts {
        match part {
            Part::Text(more) => text += more,
            Part::Reasoning(more) => reasoning += &more.text,
            Part::Media(_) => media += 1,
            Part::Exchange(_) | Part::Native(_) => {}
        }
    }
    assert_eq!(text, heard.text, "the text of the events is not the text of the message");
    assert_eq!(reasoning, heard.reasoning, "the reasoning of the events is not that of the message");
    assert_eq!(media, heard.media, "the media of the events are not those of the message");
    let calls: Vec<_> = message.exchanges().map(|exchange| &exchange.call).collect();
    assert_eq!(
        calls.len(),
        heard.calls.len(),
        "a call was told that is not in the message, or the other way round"
    );
    let mut seen = vec![false; calls.len()];
    for call in calls {
        let place = call.id.as_str().strip_prefix("p.").and_then(|place| place.parse::<usize>().ok());
        let place = place.expect("the id of a call is its prefix and its place");
        assert!(!std::mem::replace(&mut seen[place], true), "two calls have one id");
        let (name, arguments) = &heard.calls[place];
        assert_eq!(*name, call.name, "the events and the message name a call differently");
        assert!(!name.is_empty(), "a call without a name");
        let absent = arguments.trim().is_empty() && call.arguments == "{}";
        assert!(
            absent || *arguments == *call.arguments,
            "{arguments:?} was told, {:?} is in the message",
            call.arguments
        );
    }
    let usage = &message.usage;
    assert!(
        usage.cached_input <= usage.input && usage.reasoning <= usage.output,
        "{usage:?} counts a part above its whole"
    );
}

/// A few bytes never become many.
fn bounded(heard: &Heard, came: usize) {
    let calls: usize = heard.calls.iter().map(|(name, arguments)| name.len() + arguments.len()).sum();
    let length = heard.text.len() + heard.reasoning.len() + calls;
    assert!(length <= came * MOST_GROWTH + OVERHEAD, "{came} bytes became {length}");
    let samples = heard.end.unknown.iter().map(|UnknownShape { what, sample, .. }| what.len() + sample.len());
    assert!(samples.clone().all(|sample| sample <= MOST_SAMPLE), "an unknown shape is kept whole");
    assert!(
        samples.sum::<usize>() <= came * MOST_GROWTH + 64 * MOST_SAMPLE,
        "unknown shapes fill the memory"
    );
}

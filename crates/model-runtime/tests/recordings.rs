//! Every recorded answer is read as an independent reader reads it, whole and cut anywhere.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde::Deserialize;
use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirks, StreamEnd, StreamEnding,
    dialect::{Close, Decoder, read_fault},
};
use thermidor_types::{FailureKind, Measure, ModelId, Part};

#[derive(Deserialize)]
struct Recording {
    case: String,
    response: String,
    #[serde(default)]
    status: u16,
    expected: Option<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    text: String,
    reasoning: String,
    calls: Vec<ExpectedCall>,
    finish: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct ExpectedCall {
    name: String,
    arguments: String,
    wire_id: Option<String>,
}

fn recordings(file: &str) -> Vec<Recording> {
    let path = format!("{}/testdata/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    lines.lines().map(|line| serde_json::from_str(line).expect("a recording")).collect()
}

/// What the deltas add up to, and the end.
#[derive(Debug, PartialEq)]
struct Heard {
    text: String,
    reasoning: String,
    fragments: Vec<(String, String)>,
    end: StreamEnd,
    unknown_shapes: u64,
}

fn hear<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut decoder = Decoder::new(Dialect::OpenaiChat, ModelId::new("test", "m"), "p", &Quirks::default());
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        events.extend(decoder.events());
    }
    events.extend(decoder.finish(Close::EndOfStream));
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("the last event is the end") };
    let (mut text, mut reasoning, mut fragments) = (String::new(), String::new(), Vec::new());
    for event in events {
        match event {
            ChatEvent::Text(more) => text += &more,
            ChatEvent::Reasoning(more) => reasoning += &more,
            ChatEvent::Media(_) => {}
            ChatEvent::Call { index, name, fragment } => {
                fragments.resize(fragments.len().max(index + 1), (String::new(), String::new()));
                fragments[index].0 = name.to_string();
                fragments[index].1 += &fragment;
            }
            ChatEvent::Ended(_) => panic!("two ends"),
        }
    }
    Heard {
        text,
        reasoning,
        fragments,
        end: *end,
        unknown_shapes: decoder.unknown_shapes().iter().map(|shape| shape.count).sum(),
    }
}

fn check(recording: &Recording) {
    let (case, expected) = (&recording.case, recording.expected.as_ref().expect("an expectation"));
    let heard = hear([recording.response.as_bytes()]);
    assert_eq!(heard.text, expected.text, "{case}");
    assert_eq!(heard.reasoning, expected.reasoning, "{case}");

    let message = &heard.end.message;
    let calls: Vec<_> = message.exchanges().map(|exchange| &exchange.call).collect();
    let told = calls.iter().map(|call| ExpectedCall {
        name: call.name.to_string(),
        arguments: call.arguments.to_string(),
        wire_id: call.wire_id.as_ref().map(ToString::to_string),
    });
    assert_eq!(told.collect::<Vec<_>>(), expected.calls, "{case}");
    for (place, call) in calls.iter().enumerate() {
        assert_eq!(call.id.as_str(), format!("p.{place}"), "{case}");
        let fragments = &heard.fragments[place].1;
        assert!(*fragments == *call.arguments || fragments.trim().is_empty(), "{case}: {fragments}");
    }
    assert_eq!(message.parts.iter().filter_map(spoken).collect::<String>(), heard.text, "{case}");

    let ending = match expected.finish.as_deref() {
        Some("length") => StreamEnding::Length,
        _ => StreamEnding::Finished,
    };
    assert_eq!(heard.end.ending, ending, "{case}");
    let usage = &message.usage;
    let figures = (expected.input.unwrap_or_default(), expected.output.unwrap_or_default());
    assert_eq!((usage.input.0, usage.output.0), figures, "{case}");
    assert_eq!(usage.measure == Measure::Reported, expected.input.is_some(), "{case}");
}

fn spoken(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    }
}

#[test]
fn recorded_streams_say_what_they_said() {
    let all = recordings("streams");
    assert!(all.len() > 100);
    all.iter().for_each(check);
}

#[test]
fn recorded_whole_answers_say_what_they_said() {
    let all = recordings("answers");
    assert!(all.len() > 50);
    all.iter().for_each(check);
}

/// Invariant 6: whatever way the bytes of a stream are cut, the result is the same.
#[test]
fn any_size_of_chunk_gives_the_same_answer() {
    for recording in recordings("streams").iter().chain(&recordings("answers")) {
        let bytes = recording.response.as_bytes();
        let whole = hear([bytes]);
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(hear(bytes.chunks(size)), whole, "{} cut at {size}", recording.case);
        }
    }
}

#[test]
fn recorded_refusals_are_understood() {
    let kinds: Vec<_> = recordings("faults")
        .iter()
        .map(|recording| {
            (recording.status, read_fault(Some(recording.status), recording.response.as_bytes()).kind)
        })
        .collect();
    let count = |kind| kinds.iter().filter(|(_, found)| *found == kind).count();
    assert_eq!(count(FailureKind::NotFound), 16, "{kinds:?}");
    assert_eq!(count(FailureKind::ContextTooLong), 2, "{kinds:?}");
    assert_eq!(count(FailureKind::Credentials), 7, "{kinds:?}");
    assert_eq!(count(FailureKind::InvalidRequest), 18, "{kinds:?}");
    assert_eq!(count(FailureKind::Server), 1, "{kinds:?}");
}

/// A stream with everything that is hard to cut: Chinese, an emoji, escapes, calls, CRLF, comments.
const HARD: &str = ": hi\r\n\r\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"嗯…\",\"content\":\"答案 🦀\"}}]}\r\n\r\n\
    data: {\"choices\":[{\"delta\":{\"content\":\" \\ud83e\\udd80\\n\"}}]}\r\rdata: {\"choices\":\r\ndata: [{\"delta\":\
    {\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"查\",\"arguments\":\"{\\\"城\\\":\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},\"finish_reason\":\
    \"tool_calls\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: [DONE]";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariant 6, at random cuts.
    #[test]
    fn random_cuts_give_the_same_answer(sizes in prop::collection::vec(1_usize..40, 1..200)) {
        let (mut rest, mut chunks) = (HARD.as_bytes(), Vec::new());
        for size in sizes.into_iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, tail) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        let heard = hear(chunks);
        prop_assert_eq!(&heard.text, "答案 🦀 🦀\n");
        prop_assert_eq!(heard, hear([HARD.as_bytes()]));
    }

    /// Invariant 7: a stream that did not end properly is never a finished answer.
    #[test]
    fn a_cut_stream_is_never_finished(recording in 0_usize..1000, at in 0_usize..1 << 20) {
        static ALL: LazyLock<Vec<Recording>> = LazyLock::new(|| recordings("streams"));
        let recording = &ALL[recording % ALL.len()];
        let said_so = recording.response.find("\"finish_reason\":\"").expect("all recordings were finished");
        let end = at % said_so;
        let heard = hear([&recording.response.as_bytes()[..end]]);
        let cut = matches!(&heard.end.ending, StreamEnding::CutOff(failure) if failure.kind == FailureKind::Network);
        prop_assert!(cut, "{:?}", heard.end.ending);
        prop_assert_eq!(heard.end.message.ending, thermidor_types::Ending::CutOff);
    }

    /// Garbage never panics, and the end is always told.
    #[test]
    fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0_usize..4) {
        let head = ["", "data: ", "{", "data: {\"choices\":[{\"delta\":{\"tool_calls\":"][head];
        hear([head.as_bytes(), &bytes, b"\n\n"]);
    }
}

//! Bytes cut, broken off and made up.

use std::sync::LazyLock;

use proptest::prelude::*;
use thermidor_model_runtime::{Provider, StreamEnding};
use thermidor_types::{Ending, FailureKind};

use crate::exchange::{Exchange, exchanges, hear};

fn plain() -> Provider {
    Provider::new("test", "http://127.0.0.1")
}

fn streams() -> Vec<Exchange> {
    let stream =
        |exchange: &Exchange| exchange.status < 400 && exchange.content_type.starts_with("text/event-stream");
    exchanges("chat/completions").into_iter().filter(stream).collect()
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
        let heard = hear(&plain(), chunks);
        prop_assert_eq!(&heard.text, "答案 🦀 🦀\n");
        prop_assert_eq!(heard, hear(&plain(), [HARD.as_bytes()]));
    }

    /// Invariant 7: a stream that did not end properly is never a finished answer.
    #[test]
    fn a_cut_stream_is_never_finished(recording in 0_usize..1000, at in 0_usize..1 << 20) {
        static ALL: LazyLock<Vec<Exchange>> = LazyLock::new(streams);
        let recording = &ALL[recording % ALL.len()];
        let said_so = recording.response.find("\"finish_reason\":\"").expect("all recordings were finished");
        let end = at % said_so;
        let heard = hear(&plain(), [&recording.response.as_bytes()[..end]]);
        let cut = matches!(&heard.end.ending, StreamEnding::CutOff(failure) if failure.kind == FailureKind::Network);
        prop_assert!(cut, "{:?}", heard.end.ending);
        prop_assert_eq!(heard.end.message.ending, Ending::CutOff);
    }

    /// Garbage never panics, and the end is always told.
    #[test]
    fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0_usize..4) {
        let head = ["", "data: ", "{", "data: {\"choices\":[{\"delta\":{\"tool_calls\":"][head];
        hear(&plain(), [head.as_bytes(), &bytes, b"\n\n"]);
    }
}

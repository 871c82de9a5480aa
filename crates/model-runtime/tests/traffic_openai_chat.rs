//! Recorded traffic in the format of `POST /chat/completions`: what was sent and what came back.

mod support;

#[path = "openai_chat/by_meaning.rs"]
mod by_meaning;
#[path = "openai_chat/cuts.rs"]
mod cuts;
#[path = "support/exchange.rs"]
mod exchange;
#[path = "openai_chat/independent.rs"]
mod independent;
#[path = "openai_chat/requests.rs"]
mod requests;

use std::{collections::BTreeMap, fmt::Write as _};

use exchange::{Exchange, Heard, exchanges, hear, row};
use independent::Said;
use thermidor_model_runtime::{Provider, Quirk, StreamEnding, dialect::read_fault};
use thermidor_types::{AssistantMessage, FailureKind, Measure, Part};

/// What the recorded requests asked of providers, beside their rows: both refused it.
const FURTHER: &[(&str, &[Quirk])] = &[("llamacpp", &[Quirk::VideoUrl]), ("deepseek", &[Quirk::VideoUrl])];

#[derive(Default)]
struct Row {
    streams: usize,
    answers: usize,
    refusals: usize,
    events: u64,
    unwanted: u64,
    unknown: u64,
}

#[test]
fn recorded_answers_say_what_they_said() {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for exchange in exchanges("chat/completions") {
        let counts = rows.entry(exchange.provider.clone()).or_default();
        if exchange.status >= 400 {
            counts.refusals += 1;
            continue;
        }
        let row = provider(&exchange);
        let heard = hear(&row, [exchange.response.as_bytes()]);
        let said = independent::read(&exchange.content_type, &exchange.response);
        check(&exchange, &row, &heard, &said);
        let stream = exchange.content_type.starts_with("text/event-stream");
        counts.streams += usize::from(stream);
        counts.answers += usize::from(!stream);
        counts.events += heard.events;
        for shape in &heard.end.unknown {
            // Further choices were asked for by a field of the provider's own: only the first one is told.
            let count =
                if shape.what == "a second choice" { &mut counts.unwanted } else { &mut counts.unknown };
            *count += shape.count;
        }
    }
    let mut table = "provider       streams  answers  refusals   events  unwanted  unknown\n".to_owned();
    for (provider, row) in &rows {
        let Row { streams, answers, refusals, events, unwanted, unknown } = row;
        writeln!(
            table,
            "{provider:<14}{streams:>8}{answers:>9}{refusals:>10}{events:>9}{unwanted:>10}{unknown:>9}"
        )
        .expect("a string takes all");
    }
    #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
    {
        println!("{table}");
    }
    assert!(rows.values().map(|row| row.streams + row.answers + row.refusals).sum::<usize>() > 390);
    assert!(rows.values().all(|row| row.unknown == 0), "something was not understood");
}

fn provider(exchange: &Exchange) -> Provider {
    let further = FURTHER.iter().find(|(name, _)| *name == exchange.provider);
    row(&exchange.provider, "m", further.map_or(&[], |(_, quirks)| quirks))
}

fn check(exchange: &Exchange, row: &Provider, heard: &Heard, said: &Said) {
    let (case, message) = (&exchange.case, &heard.end.message);
    let (mut text, mut reasoning) = (said.text.as_str(), said.reasoning.clone());
    if row.quirks.has(Quirk::ThinkTags)
        && let Some((thoughts, rest)) =
            text.strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"))
    {
        reasoning += thoughts;
        text = rest.trim_start();
    }
    assert_eq!((texts(message).as_str(), heard.text.as_str()), (text, text), "{case}");
    assert_eq!((&thoughts(message), &heard.reasoning), (&reasoning, &reasoning), "{case}");
    let calls = message.exchanges().map(|exchange| &exchange.call);
    let calls = calls.map(|call| {
        let id = call.wire_id.as_deref().unwrap_or_default();
        (call.name.to_string(), call.arguments.to_string(), id.to_owned())
    });
    assert_eq!(calls.collect::<Vec<_>>(), said.calls, "{case}");
    for (place, exchange) in message.exchanges().enumerate() {
        let (call, (name, fragments)) = (&exchange.call, &heard.fragments[place]);
        assert_eq!(call.id.as_str(), format!("p.{place}"), "{case}");
        assert_eq!(
            (call.name.as_str(), call.arguments.as_str()),
            (name.as_str(), fragments.as_str()),
            "{case}"
        );
    }

    assert_eq!(heard.end.reason.as_deref(), Some(said.finish.as_str()), "{case}");
    assert_eq!(heard.end.refused, said.refused, "{case}");
    let ending = if said.finish == "length" { StreamEnding::Length } else { StreamEnding::Finished };
    assert_eq!(heard.end.ending, ending, "{case}");

    let figure = |pointer: &str| said.usage.pointer(pointer).and_then(serde_json::Value::as_u64).unwrap_or(0);
    let usage = &message.usage;
    assert_eq!(usage.measure == Measure::Reported, !said.usage.is_null(), "{case}");
    let cached = figure("/prompt_tokens_details/cached_tokens").max(figure("/cache_read_input_tokens"));
    // One server counts more thoughts than words: a part is never more than the whole.
    let reasoning = figure("/completion_tokens_details/reasoning_tokens").min(usage.output.0);
    assert_eq!(
        (usage.input.0, usage.output.0, usage.cached_input.0, usage.reasoning.0),
        (figure("/prompt_tokens"), figure("/completion_tokens"), cached, reasoning),
        "{case}",
    );

    let urls = message.citations.iter().map(|citation| citation.url.as_deref().unwrap_or_default());
    let mut urls: Vec<_> = urls.collect();
    urls.sort_unstable();
    let mut sources: Vec<_> = said.sources.iter().map(String::as_str).collect();
    sources.sort_unstable();
    assert_eq!(urls, sources, "{case}");
    let natives = message.parts.iter().filter(|part| matches!(part, Part::Native(_))).count();
    let kept = row.quirks.has(Quirk::ReasoningDetails) && said.details > 0;
    assert_eq!(natives, usize::from(kept), "{case}");
}

fn texts(message: &AssistantMessage) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    });
    texts.collect()
}

fn thoughts(message: &AssistantMessage) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Reasoning(reasoning) => Some(reasoning.text.as_str()),
        Part::Text(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    });
    texts.collect()
}

/// Whatever way the bytes of an answer are cut, the message and the ending are the same.
#[test]
fn any_size_of_piece_gives_the_same_answer() {
    for exchange in exchanges("chat/completions").iter().filter(|exchange| exchange.status < 400) {
        let row = provider(exchange);
        let whole = hear(&row, [exchange.response.as_bytes()]);
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(
                hear(&row, exchange.response.as_bytes().chunks(size)),
                whole,
                "{} cut at {size}",
                exchange.case
            );
        }
    }
}

/// A wrong kind is a retry that cannot help, or a person told the wrong remedy.
#[test]
fn recorded_refusals_are_understood() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for exchange in exchanges("chat/completions").iter().filter(|exchange| exchange.status >= 400) {
        let fault = read_fault(Some(exchange.status), exchange.response.as_bytes());
        assert!(!fault.message.is_empty(), "{}: the provider said why", exchange.case);
        *kinds.entry(format!("{} {:?}", exchange.status, fault.kind)).or_default() += 1;
    }
    let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    assert_eq!(
        kinds,
        [
            format!("400 {:?} 1", FailureKind::ContextTooLong),
            format!("400 {:?} 4", FailureKind::InvalidRequest),
            format!("400 {:?} 3", FailureKind::NotFound),
            format!("401 {:?} 1", FailureKind::Credentials),
            format!("404 {:?} 3", FailureKind::NotFound),
            format!("500 {:?} 1", FailureKind::InvalidRequest),
            format!("500 {:?} 1", FailureKind::Server),
        ],
    );
}

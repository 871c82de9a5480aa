//! Recorded traffic in the format of `POST /responses`.

mod support;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, Dialect, Provider, Quirk, Quirks, ReasoningEffort, ResponseSchema, StreamEnd,
    StreamEnding, ToolChoice,
    dialect::{Close, Decoder, Target, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Exchange, Json, Message, ModelCard, ModelId, NativeItem, Part, Text, Tokens,
    ToolCall, ToolResult, ToolSchema,
};

#[derive(Deserialize)]
struct Exchanged {
    case: String,
    provider: String,
    path: String,
    request: Option<String>,
    status: u16,
    response: String,
}

/// The exchanges of this format, requests without a body left out.
fn recorded() -> Vec<Exchanged> {
    let files = ["openai", "xai", "copilot", "openrouter"];
    let lines = files.map(|file| {
        let path = format!("{}/testdata/recordings/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the recordings are there")
    });
    let rows = lines.iter().flat_map(|text| text.lines());
    let rows = rows.map(|line| serde_json::from_str::<Exchanged>(line).expect("a recording"));
    rows.filter(|row| row.path.ends_with("/responses") && row.request.is_some()).collect()
}

fn model(row: &Exchanged) -> ModelId {
    let request: Value = serde_json::from_str(row.request.as_deref().expect("a request")).expect("JSON");
    ModelId::new(row.provider.as_str(), request["model"].as_str().expect("a model"))
}

#[derive(Debug, PartialEq)]
struct Heard {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    end: StreamEnd,
    events: u64,
}

fn hear<'a>(model: &ModelId, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut decoder = Decoder::new(Dialect::OpenaiResponses, model.clone(), "p", &Quirks::default());
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        events.extend(decoder.events());
    }
    events.extend(decoder.finish(Close::EndOfStream));
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("the last event is the end") };
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for event in events {
        match event {
            ChatEvent::Text(more) => text += &more,
            ChatEvent::Reasoning(more) => reasoning += &more,
            ChatEvent::Call { index, name, fragment } => {
                calls.resize(calls.len().max(index + 1), (String::new(), String::new()));
                calls[index].0 = name.to_string();
                calls[index].1 += &fragment;
            }
            ChatEvent::Media(_) => {}
            ChatEvent::Ended(_) => panic!("two ends"),
        }
    }
    Heard { text, reasoning, calls, end: *end, events: decoder.events_read() }
}

/// The answer as it stands at its end: the last event of a stream holds it whole.
fn whole(response: &str) -> Value {
    if response.starts_with('{') {
        return serde_json::from_str(response).expect("JSON");
    }
    let events = response.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let last = events.filter(|event| event["type"] == "response.completed").last();
    last.expect("an end")["response"].clone()
}

fn texts(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|part| part[field].as_str()).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// An independent reading: the items of the whole answer, one after the other.
fn check(row: &Exchanged) -> Heard {
    let (case, model) = (&row.case, model(row));
    let heard = hear(&model, [row.response.as_bytes()]);
    let answer = whole(&row.response);
    let mut expected: Vec<Part> = Vec::new();
    let (mut words, mut thoughts, mut calls) = (String::new(), String::new(), Vec::new());
    for item in answer["output"].as_array().expect("items") {
        match item["type"].as_str().expect("a type") {
            "message" => {
                for text in
                    texts(&item["content"], "text").into_iter().chain(texts(&item["content"], "refusal"))
                {
                    words += &text;
                    expected.push(Part::text(text));
                }
            }
            "reasoning" => {
                let text = texts(&item["summary"], "text").join("\n\n");
                thoughts += &text;
                if !text.is_empty() {
                    let reasoning = thermidor_types::Reasoning {
                        text: text.into(),
                        signature: None,
                        model: Some(model.clone()),
                    };
                    expected.push(Part::Reasoning(reasoning));
                }
                let item = Json::of(item).expect("JSON");
                expected.push(Part::Native(NativeItem { model: model.clone(), item }));
            }
            "function_call" => {
                let text = |field: &str| item[field].as_str().expect("a string").to_owned();
                let id = format!("p.{}", calls.len());
                calls.push((text("name"), text("arguments")));
                let call = ToolCall {
                    wire_id: Some(text("call_id").into()),
                    ..ToolCall::new(id, text("name"), text("arguments"))
                };
                expected.push(Part::Exchange(Exchange::open(call)));
            }
            other => panic!("{case}: {other} is not read here"),
        }
    }
    assert_eq!((&heard.text, &heard.reasoning, &heard.calls), (&words, &thoughts, &calls), "{case}");
    let message = &heard.end.message;
    assert_eq!(
        message.parts.iter().map(comparable).collect::<Vec<_>>(),
        expected.iter().map(comparable).collect::<Vec<_>>(),
        "{case}"
    );

    let usage = &answer["usage"];
    let figure = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let expected = [
        figure("/input_tokens"),
        figure("/output_tokens"),
        figure("/input_tokens_details/cached_tokens"),
        figure("/output_tokens_details/reasoning_tokens"),
    ];
    let usage = &message.usage;
    let figures = [usage.input.0, usage.output.0, usage.cached_input.0, usage.reasoning.0];
    assert_eq!(figures, expected, "{case}");
    let ending = match answer["status"].as_str() {
        Some("completed") => StreamEnding::Finished,
        Some("incomplete") => StreamEnding::Length,
        other => panic!("{case}: the status is {other:?}"),
    };
    assert_eq!(heard.end.ending, ending, "{case}");
    heard
}

/// A part in a form that can be compared: a native item by its meaning, as a recording rewrote its bytes.
fn comparable(part: &Part) -> (String, Value) {
    match part {
        Part::Native(native) => ("native".to_owned(), native.item.read().expect("JSON")),
        other => (format!("{other:?}"), Value::Null),
    }
}

/// Every recorded answer says what an independent reader finds in it, however its bytes are cut.
#[test]
fn recorded_answers_say_what_they_said() {
    let mut table: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for row in recorded().iter().filter(|row| row.status == 200) {
        let heard = check(row);
        let bytes = row.response.as_bytes();
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(hear(&model(row), bytes.chunks(size)), heard, "{} cut at {size}", row.case);
        }
        let unknown: u64 = heard.end.unknown.iter().map(|shape| shape.count).sum();
        let figures = table.entry(row.provider.clone()).or_default();
        for (sum, figure) in figures.iter_mut().zip([1, heard.events, unknown]) {
            *sum += figure;
        }
    }
    let lines = table.iter().map(|(provider, [exchanges, events, unknown])| {
        format!("{provider:<12}{exchanges:>10}{events:>8}{unknown:>16}\n")
    });
    let table = lines.collect::<Vec<_>>().concat();
    let head = "provider     exchanges  events  not understood\n";
    expect_test::expect![[r"
    "]]
    .assert_eq(&format!("{head}{table}"));
}

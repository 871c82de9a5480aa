//! Recorded traffic in the format of `POST /api/chat`.

#[path = "support/heard.rs"]
mod heard;
mod support;

use std::sync::LazyLock;

use heard::Heard;
use serde::Deserialize;
use serde_json::{Value, json};
use support::meaning::{Report, Rules};
use thermidor_model_runtime::{
    ChatRequest, Dialect, Provider, ReasoningEffort, StreamEnding, bundled_providers,
    dialect::{Target, encode},
};
use thermidor_types::{
    AssistantMessage, Exchange, Json, Measure, Message, ModelId, Part, Reasoning, Tokens, ToolCall,
    ToolResult, ToolSchema,
};

#[derive(Deserialize)]
struct Recording {
    case: String,
    path: String,
    request: String,
    content_type: String,
    response: String,
}

static ALL: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let path = format!("{}/testdata/recordings/ollama.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    lines.lines().map(|line| serde_json::from_str::<Recording>(line).expect("a recording")).collect()
});

static ROW: LazyLock<&Provider> =
    LazyLock::new(|| bundled_providers().iter().find(|row| row.name == "ollama-native").expect("a row"));

fn model() -> ModelId {
    ModelId::new("ollama-native", "qwen3:4b")
}

fn hear<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    heard::hear(Dialect::OllamaChat, &model(), &ROW.quirks, chunks)
}

impl Recording {
    /// The documents of the answer, read with no help of the crate.
    fn documents(&self) -> Vec<Value> {
        self.response.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn request(&self) -> Value {
        serde_json::from_str(&self.request).expect("a JSON body")
    }
}

fn texts(documents: &[Value], field: &str) -> String {
    documents.iter().filter_map(|document| document["message"][field].as_str()).collect()
}

fn calls(documents: &[Value]) -> Vec<(String, Value, Option<String>)> {
    let calls =
        documents.iter().filter_map(|document| document["message"]["tool_calls"].as_array()).flatten();
    let call = |call: &Value| {
        let name = call["function"]["name"].as_str().expect("a name").to_owned();
        (name, call["function"]["arguments"].clone(), call["id"].as_str().map(str::to_owned))
    };
    calls.map(call).collect()
}

/// Our reading against one that knows nothing of the crate.
#[test]
fn recorded_answers_say_what_they_said() {
    let (mut exchanges, mut events, mut unknown) = (0, 0, 0);
    for recording in ALL.iter() {
        let (case, documents) = (&recording.case, recording.documents());
        let heard = hear([recording.response.as_bytes()]);
        let (told, end) = (&heard.told, &heard.end);
        let joined = |kind: &str| told.iter().filter_map(|line| line.strip_prefix(kind)).collect::<String>();
        assert_eq!(joined("text "), texts(&documents, "content"), "{case}");
        assert_eq!(joined("thought "), texts(&documents, "thinking"), "{case}");
        let heard_calls = end.message.exchanges().map(|exchange| {
            let call = &exchange.call;
            let arguments = serde_json::from_str(&call.arguments).expect("an object");
            (call.name.to_string(), arguments, call.wire_id.as_ref().map(ToString::to_string))
        });
        assert_eq!(heard_calls.collect::<Vec<_>>(), calls(&documents), "{case}");

        let last = documents.last().expect("an end");
        assert_eq!(end.reason.as_deref(), last["done_reason"].as_str(), "{case}");
        let cut = last["done_reason"] == "length";
        assert_eq!(end.ending, if cut { StreamEnding::Length } else { StreamEnding::Finished }, "{case}");
        let usage = &end.message.usage;
        assert_eq!(Some(usage.input.0), last["prompt_eval_count"].as_u64(), "{case}");
        assert_eq!(Some(usage.output.0), last["eval_count"].as_u64(), "{case}");
        assert_eq!(usage.measure, Measure::Reported, "{case}");
        exchanges += 1;
        events += heard.events;
        unknown += end.unknown.iter().map(|shape| shape.count).sum::<u64>();
        assert_eq!(heard.events, documents.len() as u64, "{case}");
    }
    #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
    {
        println!("ollama {exchanges:>5} exchanges{events:>6} events{unknown:>4} not understood");
    }
    assert_eq!((exchanges, unknown), (5, 0));
}

/// Invariant 6: whatever way the bytes of an answer are cut, the result is the same.
#[test]
fn any_size_of_chunk_gives_the_same_answer() {
    for recording in ALL.iter() {
        let bytes = recording.response.as_bytes();
        let whole = hear([bytes]);
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(hear(bytes.chunks(size)), whole, "{} cut at {size}", recording.case);
        }
    }
}

/// Invariant 7: a stream that did not come to its last line is never a finished answer.
#[test]
fn a_stream_without_its_last_line_is_cut_off() {
    for recording in ALL.iter().filter(|recording| recording.content_type == "application/x-ndjson") {
        let done = recording.response.find("\"done\":true").expect("all were finished");
        for end in [done, done / 2, done / 3] {
            let heard = hear([&recording.response.as_bytes()[..end]]);
            assert!(matches!(heard.end.ending, StreamEnding::CutOff(_)), "{}", recording.case);
        }
    }
}

fn body(request: &ChatRequest, model: &ModelId) -> Value {
    let card = ROW.unknown_card(model.model());
    let wire = encode(request, Target { card: &card, provider: &ROW }).expect("encodable");
    assert_eq!(wire.path, "/api/chat");
    serde_json::from_slice(&wire.body).expect("JSON")
}

/// Thoughts and calls go back to the model that made them; another one gets the calls.
#[test]
fn an_answer_goes_back_as_it_came() {
    for recording in ALL.iter() {
        let documents = recording.documents();
        let end = hear([recording.response.as_bytes()]).end;
        let messages = vec![Message::user("Go"), Message::Assistant(end.message.clone())];
        let request = ChatRequest { messages, ..ChatRequest::default() };
        let made = calls(&documents).into_iter();
        let made: Vec<Value> = made
            .map(|(name, arguments, _)| json!({"function": {"name": name, "arguments": arguments}}))
            .collect();
        let (own, other) =
            (body(&request, &model()), body(&request, &ModelId::new("ollama-native", "other")));
        let thoughts = texts(&documents, "thinking");
        assert_eq!(
            own["messages"][1]["thinking"].as_str().unwrap_or_default(),
            thoughts,
            "{}",
            recording.case
        );
        assert_eq!(other["messages"][1]["thinking"], Value::Null, "{}", recording.case);
        for body in [own, other] {
            let message = &body["messages"][1];
            assert_eq!(message["content"], texts(&documents, "content"), "{}", recording.case);
            assert_eq!(
                message["tool_calls"].as_array().cloned().unwrap_or_default(),
                made,
                "{}",
                recording.case
            );
            let results = body["messages"].as_array().expect("a list")[2..].iter();
            let names = results.map(|result| (result["role"].clone(), result["tool_name"].clone()));
            let wanted = made.iter().map(|call| (json!("tool"), call["function"]["name"].clone()));
            assert!(names.eq(wanted), "{}", recording.case);
        }
    }
}

/// The conversation that a recorded request holds.
fn conversation(recorded: &Value) -> ChatRequest {
    let mut messages: Vec<Message> = Vec::new();
    for entry in recorded["messages"].as_array().expect("messages") {
        let content = entry["content"].as_str().expect("words");
        match entry["role"].as_str().expect("a role") {
            "system" => messages.push(Message::system(content)),
            "user" => messages.push(Message::user(content)),
            "assistant" => messages.push(Message::Assistant(said(entry))),
            _ => {
                let Some(Message::Assistant(message)) = messages.last_mut() else { panic!("no call") };
                let open = message.exchanges_mut().find(|exchange| exchange.result.is_none());
                open.expect("a call").result = Some(ToolResult::text(content));
            }
        }
    }
    let tool = |tool: &Value| ToolSchema {
        name: tool["function"]["name"].as_str().expect("a name").into(),
        description: tool["function"]["description"].as_str().expect("words").into(),
        parameters: Json::of(&tool["function"]["parameters"]).expect("JSON"),
    };
    ChatRequest {
        messages,
        tools: recorded["tools"].as_array().into_iter().flatten().map(tool).collect(),
        max_output: recorded["options"]["num_predict"].as_u64().map(Tokens),
        reasoning: recorded["think"]
            .as_bool()
            .map(|think| if think { ReasoningEffort::Medium } else { ReasoningEffort::Off }),
        ..ChatRequest::default()
    }
}

fn said(entry: &Value) -> AssistantMessage {
    let mut parts = Vec::new();
    if let Some(thoughts) = entry["thinking"].as_str() {
        let reasoning = Reasoning { text: thoughts.into(), signature: None, model: Some(model()) };
        parts.push(Part::Reasoning(reasoning));
    }
    parts.push(Part::text(entry["content"].as_str().expect("words")));
    for call in entry["tool_calls"].as_array().into_iter().flatten() {
        let name = call["function"]["name"].as_str().expect("a name");
        let arguments = call["function"]["arguments"].to_string();
        parts.push(Part::Exchange(Exchange::open(ToolCall::new("a.0", name, arguments))));
    }
    AssistantMessage { parts, model: Some(model()), ..AssistantMessage::default() }
}

const DEFAULTS: &[(&str, &str)] = &[("/options", "{}"), ("/messages/*/tool_calls/*/type", r#""function""#)];

/// The same conversation makes a body of the same meaning.
#[test]
fn recorded_requests_are_written_alike() {
    let mut report = Report::new(Rules { defaults: DEFAULTS, reasons: &[] });
    for recording in ALL.iter() {
        assert_eq!(recording.path, "/api/chat");
        let body = body(&conversation(&recording.request()), &model()).to_string();
        report.compare("ollama", &recording.case, &recording.request, Ok(body.as_bytes()));
    }
    report.finish();
}

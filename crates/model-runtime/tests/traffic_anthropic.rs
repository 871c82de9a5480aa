//! Recorded traffic in the format of `POST /v1/messages`.

#[path = "support/heard.rs"]
mod heard;
mod support;

use std::{collections::BTreeMap, sync::LazyLock};

use heard::Heard;
use serde::Deserialize;
use serde_json::{Value, json};
use support::meaning::{Reason, Report, Rules, differences};
use thermidor_model_runtime::{
    CacheLifetime, CacheMarks, ChatRequest, Dialect, PromptCache, Provider, Quirks, ReasoningEffort,
    ResponseSchema, StreamEnd, StreamEnding, ToolChoice, bundled_providers,
    dialect::{Target, encode, read_fault},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, FailureKind, Json, Measure, Media, MediaSource, Message,
    ModelCard, ModelId, NativeItem, Part, Reasoning, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema,
    UserMessage,
};

#[derive(Clone, Deserialize)]
struct Recording {
    case: String,
    path: String,
    #[serde(default)]
    request: Option<String>,
    status: u16,
    content_type: String,
    response: String,
}

static ALL: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let path = format!("{}/testdata/recordings/anthropic.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    let all = lines.lines().map(|line| serde_json::from_str::<Recording>(line).expect("a recording"));
    all.filter(|recording| recording.path == "/v1/messages").collect()
});

impl Recording {
    fn request(&self) -> Value {
        serde_json::from_str(self.request.as_deref().expect("a body")).expect("a JSON body")
    }

    fn model(&self) -> ModelId {
        ModelId::new("anthropic", self.request()["model"].as_str().expect("a model"))
    }

    fn is_stream(&self) -> bool {
        self.content_type.starts_with("text/event-stream")
    }

    /// The message as one document, put together from the events with no help of the crate.
    fn message(&self) -> Value {
        if !self.is_stream() {
            return serde_json::from_str(&self.response).expect("a message");
        }
        let mut message = Value::Null;
        let mut inputs: BTreeMap<u64, String> = BTreeMap::new();
        for line in self.response.lines().filter_map(|line| line.strip_prefix("data:")) {
            let event: Value = serde_json::from_str(line).expect("an event");
            let place = event["index"].as_u64().unwrap_or_default();
            let index = usize::try_from(place).expect("small");
            let delta = &event["delta"];
            match event["type"].as_str().expect("a type") {
                "message_start" => message = event["message"].clone(),
                "content_block_start" => {
                    let blocks = message["content"].as_array_mut().expect("a list");
                    assert_eq!(blocks.len(), index, "{}: blocks come in order", self.case);
                    blocks.push(event["content_block"].clone());
                }
                "content_block_delta" => {
                    let field = match delta["type"].as_str().expect("a type") {
                        "text_delta" => "text",
                        "thinking_delta" => "thinking",
                        "signature_delta" => "signature",
                        "input_json_delta" => {
                            *inputs.entry(place).or_default() +=
                                delta["partial_json"].as_str().expect("text");
                            continue;
                        }
                        other => panic!("{}: {other}", self.case),
                    };
                    let block = &mut message["content"][index];
                    let all = block[field].as_str().unwrap_or_default().to_owned();
                    block[field] = json!(all + delta[field].as_str().expect("text"));
                }
                "message_delta" => {
                    message["stop_reason"] = delta["stop_reason"].clone();
                    for (name, figure) in event["usage"].as_object().expect("figures") {
                        message["usage"][name] = figure.clone();
                    }
                }
                "ping" | "content_block_stop" | "message_stop" => {}
                other => panic!("{}: {other}", self.case),
            }
        }
        for (place, input) in inputs.iter().filter(|(_, input)| !input.is_empty()) {
            let index = usize::try_from(*place).expect("small");
            message["content"][index]["input"] = serde_json::from_str(input).expect("an input");
        }
        message
    }

    /// The blocks of the message that say something.
    fn blocks(&self) -> Vec<Value> {
        let message = self.message();
        let blocks = message["content"].as_array().expect("a list").iter();
        blocks.filter(|block| block["text"] != "").cloned().collect()
    }
}

fn answers() -> impl Iterator<Item = &'static Recording> {
    ALL.iter().filter(|recording| recording.status == 200)
}

fn hear<'a>(recording: &Recording, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    heard::hear(Dialect::AnthropicMessages, &recording.model(), &Quirks::default(), chunks)
}

fn whole(recording: &Recording) -> StreamEnd {
    hear(recording, [recording.response.as_bytes()]).end
}

fn all_of(blocks: &[Value], field: &str) -> String {
    blocks.iter().filter_map(|block| block[field].as_str()).collect()
}

/// Our reading against one that knows nothing of the crate.
#[test]
fn recorded_answers_say_what_they_said() {
    let mut table: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for recording in answers() {
        let (case, said, blocks) = (&recording.case, recording.message(), recording.blocks());
        let Heard { told, events, end } = hear(recording, [recording.response.as_bytes()]);
        let message = &end.message;

        let joined =
            |wanted: &str| told.iter().filter_map(|event| event.strip_prefix(wanted)).collect::<String>();
        assert_eq!(joined("text "), all_of(&blocks, "text"), "{case}");
        assert_eq!(joined("thought "), all_of(&blocks, "thinking"), "{case}");

        let wanted: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        let calls: Vec<&ToolCall> = message.exchanges().map(|exchange| &exchange.call).collect();
        assert_eq!(calls.len(), wanted.len(), "{case}");
        for (place, (call, block)) in calls.iter().zip(wanted).enumerate() {
            let arguments: Value = serde_json::from_str(&call.arguments).expect("an object");
            assert_eq!(arguments, block["input"], "{case}");
            assert_eq!(call.name, block["name"].as_str().expect("a name"), "{case}");
            assert_eq!(call.wire_id.as_deref(), block["id"].as_str(), "{case}");
            assert_eq!(call.id.as_str(), format!("p.{place}"), "{case}");
            assert_eq!(call.signature, None, "{case}: a model's own call");
        }
        let thoughts = message.parts.iter().filter_map(|part| match part {
            Part::Reasoning(reasoning) => Some((reasoning.text.as_str(), reasoning.signature.as_deref())),
            Part::Text(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
        });
        let expected = blocks.iter().filter(|block| block["type"] == "thinking");
        let expected =
            expected.map(|block| (block["thinking"].as_str().expect("text"), block["signature"].as_str()));
        assert_eq!(thoughts.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{case}");
        let hidden = message.parts.iter().filter(|part| matches!(part, Part::Native(_))).count();
        let expected = blocks.iter().filter(|block| block["type"] == "redacted_thinking").count();
        assert_eq!(hidden, expected, "{case}");

        let reason = said["stop_reason"].as_str();
        assert_eq!(end.reason.as_deref(), reason, "{case}");
        let ending = match reason {
            Some("end_turn" | "tool_use" | "stop_sequence") => Some(StreamEnding::Finished),
            Some("max_tokens") => Some(StreamEnding::Length),
            Some("refusal") => None,
            other => panic!("{case}: {other:?}"),
        };
        match ending {
            Some(ending) => assert_eq!(end.ending, ending, "{case}"),
            None => assert!(
                matches!(&end.ending, StreamEnding::Failed(failure) if failure.kind == FailureKind::ContentRefused),
                "{case}"
            ),
        }

        let (usage, figures) = (&message.usage, &said["usage"]);
        let figure = |name: &str| figures[name].as_u64().unwrap_or_default();
        let written = figure("cache_creation_input_tokens");
        let read = figure("cache_read_input_tokens");
        assert_eq!(usage.input.0, figure("input_tokens") + written + read, "{case}");
        assert_eq!((usage.cached_input.0, usage.cache_write.0), (read, written), "{case}");
        let hour = figures["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap_or_default();
        assert_eq!(usage.cache_write_hour.0, hour, "{case}");
        assert_eq!(usage.output.0, figure("output_tokens"), "{case}");
        assert_eq!(usage.measure, Measure::Reported, "{case}");

        let unknown: u64 = end.unknown.iter().map(|shape| shape.count).sum();
        let row = table.entry(if recording.is_stream() { "stream" } else { "whole" }).or_default();
        *row = (row.0 + 1, row.1 + events, row.2 + unknown);
    }
    #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
    for (form, (exchanges, events, unknown)) in &table {
        println!("anthropic {form:<8}{exchanges:>5} exchanges{events:>6} events{unknown:>4} not understood");
    }
    let sum = table.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.2));
    assert_eq!(sum, (133, 0));
}

#[test]
fn recorded_refusals_are_understood() {
    for recording in ALL.iter().filter(|recording| recording.status != 200) {
        let kind = read_fault(Some(recording.status), recording.response.as_bytes()).kind;
        let expected =
            if recording.status == 404 { FailureKind::NotFound } else { FailureKind::InvalidRequest };
        assert_eq!(kind, expected, "{}", recording.case);
    }
}

/// Invariant 6: whatever way the bytes of an answer are cut, the result is the same.
#[test]
fn any_size_of_chunk_gives_the_same_answer() {
    for recording in ALL.iter() {
        let bytes = recording.response.as_bytes();
        let whole = hear(recording, [bytes]);
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(hear(recording, bytes.chunks(size)), whole, "{} cut at {size}", recording.case);
        }
    }
}

/// Invariant 7: a stream that did not come to its reason is never a finished answer.
#[test]
fn a_stream_without_its_reason_is_cut_off() {
    for recording in answers().filter(|recording| recording.is_stream()) {
        let reason = recording.response.find("message_delta").expect("all were finished");
        for end in [reason, reason / 2, reason / 3] {
            let Heard { end, .. } = hear(recording, [&recording.response.as_bytes()[..end]]);
            assert!(matches!(end.ending, StreamEnding::CutOff(_)), "{}: {:?}", recording.case, end.ending);
        }
    }
}

fn row(model: &ModelId) -> Provider {
    let row = bundled_providers().iter().find(|row| row.name == "anthropic").expect("a row");
    row.serving(model.model())
}

fn card(model: ModelId) -> ModelCard {
    let abilities = Abilities {
        vision: true,
        files: true,
        reasoning: true,
        structured_output: true,
        ..Abilities::default()
    };
    let max_output = Some(Tokens(128_000));
    ModelCard { abilities, max_output, ..ModelCard::unknown(model, Tokens(1_000_000)) }
}

fn body(request: &ChatRequest, model: &ModelId) -> Value {
    let (card, provider) = (card(model.clone()), row(model));
    let wire = encode(request, Target { card: &card, provider: &provider }).expect("encodable");
    assert_eq!(wire.path, "/v1/messages");
    serde_json::from_slice(&wire.body).expect("JSON")
}

/// What is sent for the answer, its calls answered.
fn replayed(end: &StreamEnd, model: &ModelId) -> Value {
    let mut message = end.message.clone();
    for exchange in message.exchanges_mut() {
        exchange.result = Some(ToolResult::text("done"));
    }
    let messages = vec![Message::user("Go"), Message::Assistant(message), Message::user("On")];
    body(&ChatRequest { messages, cache: uncached(), ..ChatRequest::default() }, model)
}

fn uncached() -> PromptCache {
    PromptCache { marks: CacheMarks::Off, ..PromptCache::default() }
}

/// What a model said goes back to it block by block: a changed thought is refused, or costs the thoughts.
#[test]
fn an_answer_goes_back_as_it_came() {
    let mut signed = 0;
    for recording in answers() {
        let mut expected = recording.blocks();
        let body = replayed(&whole(recording), &recording.model());
        let (mut calls, mut results) = (0, Vec::new());
        for block in &mut expected {
            let fields = block.as_object_mut().expect("a block");
            fields.remove("caller");
            fields.remove("citations");
            signed += usize::from(fields.contains_key("signature") || fields.contains_key("data"));
            if fields["type"] == "tool_use" {
                calls += 1;
                let id = json!(format!("call{calls:05}"));
                let content = json!([{ "type": "text", "text": "done" }]);
                results.push(json!({ "type": "tool_result", "tool_use_id": id, "content": content }));
                fields.insert("id".to_owned(), id);
            }
        }
        let said =
            expected.iter().any(|block| block["text"].as_str().is_some_and(|text| !text.trim().is_empty()));
        if !said && results.is_empty() {
            assert_eq!(body["messages"].as_array().map(Vec::len), Some(1), "{}", recording.case);
            continue; // an answer of nothing but thoughts cannot be sent
        }
        results.push(json!({ "type": "text", "text": "On" }));
        assert_eq!(body["messages"][1]["content"], Value::Array(expected), "{}", recording.case);
        assert_eq!(body["messages"][2]["content"], Value::Array(results), "{}", recording.case);
    }
    assert!(signed >= 12, "{signed}");
}

/// Another model gets words, calls and results, and nothing that holds for the first one alone.
#[test]
fn another_model_gets_no_signature_and_no_thoughts() {
    for recording in answers() {
        let end = whole(recording);
        for (other, provider) in [("claude-opus-4-5", "anthropic"), (recording.model().model(), "elsewhere")]
        {
            let body = replayed(&end, &ModelId::new(provider, other)).to_string();
            for alien in ["signature", "thinking", "toolu_"] {
                assert!(!body.contains(alien), "{}: {alien} in {body}", recording.case);
            }
        }
    }
}

/// Fields that mean nothing when they have this value.
const DEFAULTS: &[(&str, &str)] = &[
    ("/tool_choice", r#"{"type":"auto"}"#),
    // Whether thoughts can be read: they are thought in any case.
    ("/thinking/display", r#""summarized""#),
    // Five minutes are what a mark says without a word.
    ("/cache_control/ttl", r#""5m""#),
    ("/system/*/cache_control/ttl", r#""5m""#),
    ("/tools/*/cache_control/ttl", r#""5m""#),
    ("/messages/*/content/*/cache_control/ttl", r#""5m""#),
];

const REASONS: &[Reason] = &[
    Reason {
        case: "anthropic/plaintext_document/document_citations_followup*",
        pointer: "/messages/0/content/0/citations",
        why: "citations from documents cannot be asked for yet",
    },
    Reason {
        case: "anthropic/plaintext_document/document_citations_followup*",
        pointer: "/messages/1/content",
        why: "words go back without the sources they named, which are of no use to the model",
    },
    Reason {
        case: "anthropic/prompt_caching/matrix_manual_prefix_1h_tools_nonstreaming*",
        pointer: "/messages/0/content/0/cache_control/ttl",
        why: "all marks of a request have one lifetime",
    },
    Reason {
        case: "anthropic/response_identity_edge/caching_and_identity*",
        pointer: "/messages/0/content/0/cache_control/ttl",
        why: "all marks of a request have one lifetime",
    },
];

#[test]
fn recorded_requests_are_written_with_the_same_meaning() {
    let mut report = Report::new(Rules { defaults: DEFAULTS, reasons: REASONS });
    for recording in answers() {
        let ours = encoded(recording);
        let ours = ours.as_deref().map_err(Clone::clone);
        report.compare("anthropic", &recording.case, &recording.request().to_string(), ours);
    }
    report.finish();
}

fn encoded(recording: &Recording) -> Result<Vec<u8>, String> {
    let model = recording.model();
    let request = read_request(&recording.request(), &model);
    let (card, provider) = (card(model.clone()), row(&model));
    let wire = encode(&request, Target { card: &card, provider: &provider });
    wire.map(|wire| wire.body).map_err(|error| error.to_string())
}

/// Requests that were refused: what is wrong with them is not sent, where we can know it.
#[test]
fn refused_requests_are_written_alike_or_better() {
    let mut told = Vec::new();
    for recording in ALL.iter().filter(|recording| recording.status != 200) {
        let name = recording.case.rsplit('/').next().expect("a name");
        match encoded(recording) {
            Err(error) => told.push(format!("{name}: {error}")),
            Ok(body) => {
                let ours: Value = serde_json::from_slice(&body).expect("JSON");
                for difference in differences(&recording.request(), &ours, DEFAULTS) {
                    told.push(format!("{name}: {} is {}", difference.pointer, difference.ours));
                }
            }
        }
    }
    told.sort();
    let expected = [
        "boolean_root_schema_is_rejected_for_tool_input#0: /tools/0/strict is null",
        "scalar_root_ref_is_rejected_for_tool_input#0: /tools/0/strict is null",
        "validation_error_carries_identity#0: the temperature -5 is not between 0 and 2",
    ];
    assert_eq!(told, expected);
}

/// The request in no provider's format.
fn read_request(body: &Value, model: &ModelId) -> ChatRequest {
    let mut reader = RequestReader { model, messages: Vec::new(), marked: Vec::new(), hour: false };
    for block in body["system"].as_array().into_iter().flatten() {
        reader.messages.push(Message::system(words(&block["text"])));
        reader.mark(block);
    }
    for message in body["messages"].as_array().expect("messages") {
        reader.message(message);
    }
    let mut strict_tools = false;
    let mut tools = Vec::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        strict_tools |= tool["strict"] == true;
        reader.hour |= tool["cache_control"]["ttl"] == "1h";
        tools.push(ToolSchema {
            name: words(&tool["name"]).into(),
            description: words(&tool["description"]).into(),
            parameters: Json::of(&tool["input_schema"]).expect("JSON"),
        });
    }
    let thinking = &body["thinking"];
    let format = &body["output_config"]["format"];
    #[expect(clippy::cast_possible_truncation, reason = "temperatures are small")]
    let float = |value: &Value| value.as_f64().map(|value| value as f32);
    let marks = if reader.marked.is_empty() { CacheMarks::Off } else { CacheMarks::After(reader.marked) };
    let lifetime = if reader.hour { CacheLifetime::Hour } else { CacheLifetime::Minutes };
    // A wish about caching at the head of the body is a field of this provider alone.
    let extra = (!body["cache_control"].is_null()).then(|| json!({ "cache_control": body["cache_control"] }));
    ChatRequest {
        messages: reader.messages,
        tools,
        tool_choice: match body["tool_choice"]["type"].as_str() {
            Some("any") => ToolChoice::Required,
            Some("none") => ToolChoice::None,
            Some("tool") => ToolChoice::Named(words(&body["tool_choice"]["name"]).into()),
            Some("auto") | None => ToolChoice::Auto,
            Some(other) => panic!("{other}"),
        },
        max_output: body["max_tokens"].as_u64().map(Tokens),
        temperature: float(&body["temperature"]),
        top_p: float(&body["top_p"]),
        stop: body["stop_sequences"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|stop| words(stop).into())
            .collect(),
        reasoning: match thinking["type"].as_str() {
            Some("enabled") => {
                Some(ReasoningEffort::Budget(Tokens(thinking["budget_tokens"].as_u64().expect("a budget"))))
            }
            Some("adaptive") => Some(ReasoningEffort::High),
            Some(other) => panic!("{other}"),
            None => None,
        },
        strict_tools,
        response_schema: (!format.is_null()).then(|| ResponseSchema {
            name: "answer".into(),
            schema: Json::of(&format["schema"]).expect("JSON"),
        }),
        cache: PromptCache { marks, lifetime, key: None },
        extra: extra.map(|extra| Json::of(&extra).expect("JSON")),
        ..ChatRequest::default()
    }
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

struct RequestReader<'a> {
    model: &'a ModelId,
    messages: Vec<Message>,
    /// The places of messages that end with a mark.
    marked: Vec<usize>,
    hour: bool,
}

impl RequestReader<'_> {
    /// Notes a mark on the message read last.
    fn mark(&mut self, block: &Value) {
        if !block["cache_control"].is_null() {
            self.marked.push(self.messages.len() - 1);
            self.hour |= block["cache_control"]["ttl"] == "1h";
        }
    }

    fn message(&mut self, message: &Value) {
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({ "type": "text", "text": text })],
        };
        if message["role"] == "assistant" {
            let parts = blocks.iter().map(|block| self.part(block)).collect();
            let model = Some(self.model.clone());
            self.messages.push(Message::Assistant(AssistantMessage {
                parts,
                model,
                ..AssistantMessage::default()
            }));
            return;
        }
        let mut content = Vec::new();
        for block in &blocks {
            if block["type"] == "tool_result" {
                self.result(block);
            } else {
                content.push(said(block));
            }
        }
        if !content.is_empty() {
            self.messages.push(Message::User(UserMessage { content, ..UserMessage::default() }));
        }
        self.mark(blocks.last().expect("a block"));
    }

    fn part(&self, block: &Value) -> Part {
        match words(&block["type"]) {
            "text" => Part::text(words(&block["text"])),
            "thinking" => Part::Reasoning(Reasoning {
                text: words(&block["thinking"]).into(),
                signature: block["signature"].as_str().map(Into::into),
                model: Some(self.model.clone()),
            }),
            "tool_use" => {
                let call =
                    ToolCall::new(words(&block["id"]), words(&block["name"]), block["input"].to_string());
                Part::Exchange(Exchange::open(ToolCall { wire_id: Some(words(&block["id"]).into()), ..call }))
            }
            _ => Part::Native(NativeItem { model: self.model.clone(), item: Json::of(block).expect("JSON") }),
        }
    }

    /// Puts a result to its call.
    fn result(&mut self, block: &Value) {
        let Some(Message::Assistant(message)) = self.messages.last_mut() else {
            panic!("an answer with calls")
        };
        let id = words(&block["tool_use_id"]);
        let exchange = message.exchanges_mut().find(|exchange| exchange.call.wire_id.as_deref() == Some(id));
        let outcome = if block["is_error"] == true { ToolOutcome::Error } else { ToolOutcome::Success };
        let content = match &block["content"] {
            Value::Array(blocks) => blocks.iter().map(said).collect(),
            text => vec![Content::text(words(text))],
        };
        exchange.expect("a call").result = Some(ToolResult { content, outcome });
    }
}

fn said(block: &Value) -> Content {
    let source = &block["source"];
    let (media_type, source) = match words(&source["type"]) {
        "" => return Content::text(words(&block["text"])),
        "base64" => (words(&source["media_type"]), MediaSource::Base64(words(&source["data"]).into())),
        "text" => ("text/plain", MediaSource::Base64(base64(words(&source["data"])).into())),
        "file" => ("application/pdf", MediaSource::Url(words(&source["file_id"]).into())),
        other => panic!("{other}"),
    };
    let name = block["title"].as_str().map(Into::into);
    Content::Media(Media { media_type: media_type.into(), source, name })
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4_usize {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            encoded.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    encoded
}

//! Recorded traffic in the format of `POST /v1beta/models/{model}:streamGenerateContent`.

#[path = "support/heard.rs"]
mod heard;
mod support;

use std::{collections::BTreeMap, sync::LazyLock};

use heard::Heard;
use serde::Deserialize;
use serde_json::{Value, json};
use support::meaning::{Reason, Report, Rules};
use thermidor_model_runtime::{
    Auth, ChatRequest, Dialect, Provider, Quirks, ReasoningEffort, ResponseSchema, StreamEnd, StreamEnding,
    ToolChoice, bundled_providers,
    dialect::{Target, encode, read_fault},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, FailureKind, Json, Measure, Media, MediaSource, Message,
    ModelCard, ModelId, Part, Reasoning, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema, UserMessage,
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
    let path = format!("{}/testdata/recordings/gemini.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    let all = lines.lines().map(|line| serde_json::from_str::<Recording>(line).expect("a recording"));
    all.filter(|recording| recording.path.to_lowercase().contains("generatecontent")).collect()
});

impl Recording {
    fn model(&self) -> ModelId {
        let name = self.path.split("models/").nth(1).expect("a model").split(':').next().expect("a name");
        ModelId::new("google", name)
    }

    fn is_stream(&self) -> bool {
        self.content_type.starts_with("text/event-stream")
    }

    /// The documents of the answer, read with no help of the crate.
    fn documents(&self) -> Vec<Value> {
        let data = |line: &str| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok();
        if self.is_stream() {
            self.response.lines().filter_map(data).collect()
        } else {
            vec![serde_json::from_str(&self.response).expect("a document")]
        }
    }

    fn request(&self) -> Value {
        serde_json::from_str(self.request.as_deref().expect("a body")).expect("a JSON body")
    }
}

fn hear<'a>(recording: &Recording, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    heard::hear(Dialect::GoogleGenerate, &recording.model(), &Quirks::default(), chunks)
}

fn whole(recording: &Recording) -> StreamEnd {
    hear(recording, [recording.response.as_bytes()]).end
}

/// The parts of the first candidate, neighbouring words as one, a signature on words as a part of its own: what
/// goes back to the model.
fn spoken(recording: &Recording) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for document in recording.documents() {
        let first = |candidate: &&Value| candidate["index"].as_u64().unwrap_or_default() == 0;
        let candidates = document["candidates"].as_array().cloned().unwrap_or_default();
        for candidate in candidates.iter().filter(first) {
            for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                let (mut part, signature) = (part.clone(), part["thoughtSignature"].clone());
                let words = part["text"].as_str().map(str::to_owned);
                let thought = part["thought"] == true;
                let Some(words) = words else {
                    parts.push(part);
                    continue;
                };
                let last = parts.last_mut().filter(|last| {
                    (last["thought"] == true) == thought
                        && last["text"].as_str().is_some_and(|text| !text.is_empty())
                        && last["thoughtSignature"].is_null()
                });
                match last {
                    Some(last) if thought || signature.is_null() || !words.is_empty() => {
                        last["text"] = json!(last["text"].as_str().unwrap_or_default().to_owned() + &words);
                        if thought && !signature.is_null() {
                            last["thoughtSignature"] = signature.clone();
                        }
                    }
                    _ if !words.is_empty() => {
                        if !thought {
                            part.as_object_mut().expect("a part").remove("thoughtSignature");
                        }
                        parts.push(part);
                    }
                    _ => {}
                }
                if !thought && !signature.is_null() {
                    parts.push(json!({ "text": "", "thoughtSignature": signature }));
                }
            }
        }
    }
    parts
}

fn texts(parts: &[Value], thought: bool) -> String {
    let wanted = parts.iter().filter(|part| (part["thought"] == true) == thought);
    wanted.filter_map(|part| part["text"].as_str()).collect()
}

fn figure(documents: &[Value], name: &str) -> u64 {
    documents.iter().rev().find_map(|document| document["usageMetadata"][name].as_u64()).unwrap_or_default()
}

/// Our reading against one that knows nothing of the crate.
#[test]
fn recorded_answers_say_what_they_said() {
    let mut table: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    let mut answers = 0;
    for recording in ALL.iter().filter(|recording| recording.status == 200) {
        let (case, documents, parts) = (&recording.case, recording.documents(), spoken(recording));
        let Heard { told, events, end } = hear(recording, [recording.response.as_bytes()]);
        let message = &end.message;
        answers += 1;

        let joined = |wanted: &str| {
            let words = told.iter().filter_map(|event| event.strip_prefix(wanted));
            words.collect::<String>()
        };
        assert_eq!(joined("text "), texts(&parts, false), "{case}");
        assert_eq!(joined("thought "), texts(&parts, true), "{case}");
        let words = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
        });
        assert_eq!(words.collect::<String>(), texts(&parts, false), "{case}");

        let wanted = parts.iter().filter(|part| !part["functionCall"].is_null());
        let calls: Vec<&ToolCall> = message.exchanges().map(|exchange| &exchange.call).collect();
        assert_eq!(calls.len(), wanted.clone().count(), "{case}");
        for (place, (call, part)) in calls.iter().zip(wanted).enumerate() {
            let arguments: Value = serde_json::from_str(&call.arguments).expect("an object");
            assert_eq!(arguments, part["functionCall"]["args"], "{case}");
            assert_eq!(call.name, part["functionCall"]["name"].as_str().expect("a name"), "{case}");
            assert_eq!(call.wire_id.as_deref(), part["functionCall"]["id"].as_str(), "{case}");
            assert_eq!(call.signature.as_deref(), part["thoughtSignature"].as_str(), "{case}");
            assert_eq!(call.id.as_str(), format!("p.{place}"), "{case}");
        }

        let reason = documents.iter().find_map(|document| document["candidates"][0]["finishReason"].as_str());
        assert_eq!(end.reason.as_deref(), reason, "{case}");
        let ending = match reason {
            Some("STOP") => StreamEnding::Finished,
            Some("MAX_TOKENS") => StreamEnding::Length,
            other => panic!("{case}: {other:?}"),
        };
        assert_eq!(end.ending, ending, "{case}");

        let usage = &message.usage;
        let figure = |name| figure(&documents, name);
        assert_eq!(usage.input.0, figure("promptTokenCount") + figure("toolUsePromptTokenCount"), "{case}");
        assert_eq!(usage.total().0, figure("totalTokenCount"), "{case}");
        assert_eq!(usage.cached_input.0, figure("cachedContentTokenCount"), "{case}");
        assert_eq!(usage.reasoning.0, figure("thoughtsTokenCount"), "{case}");
        assert_eq!(usage.measure, Measure::Reported, "{case}");

        // Only a second candidate is left out, and we never ask for one.
        let second: usize = documents
            .iter()
            .flat_map(|document| document["candidates"].as_array().into_iter().flatten())
            .filter(|candidate| candidate["index"] == 1)
            .count();
        let unknown: u64 = end.unknown.iter().map(|shape| shape.count).sum();
        assert_eq!(unknown, second as u64, "{case}: {:?}", end.unknown);
        let row = table.entry(if recording.is_stream() { "stream" } else { "whole" }).or_default();
        *row = (row.0 + 1, row.1 + events, row.2 + unknown - second as u64);
    }
    #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
    for (form, (exchanges, events, unknown)) in &table {
        println!("google {form:<8}{exchanges:>5} exchanges{events:>6} events{unknown:>4} not understood");
    }
    assert_eq!((answers, table.values().map(|row| row.2).sum::<u64>()), (111, 0));
}

#[test]
fn recorded_refusals_are_understood() {
    let refused = ALL.iter().filter(|recording| recording.status != 200);
    let kinds: Vec<_> = refused
        .map(|recording| read_fault(Some(recording.status), recording.response.as_bytes()).kind)
        .collect();
    assert_eq!(kinds, [FailureKind::NotFound]);
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
    for recording in ALL.iter().filter(|recording| recording.is_stream()) {
        let reason = recording.response.find("\"finishReason\"").expect("all were finished");
        for end in [reason, reason / 2, reason / 3] {
            let Heard { end, .. } = hear(recording, [&recording.response.as_bytes()[..end]]);
            assert!(matches!(end.ending, StreamEnding::CutOff(_)), "{}: {:?}", recording.case, end.ending);
        }
    }
}

fn row(model: &ModelId) -> Provider {
    let row = bundled_providers().iter().find(|row| row.name == "google").expect("a row");
    row.serving(model.model())
}

fn card(model: ModelId) -> ModelCard {
    let abilities = Abilities { vision: true, audio: true, video: true, files: true, ..Abilities::default() };
    ModelCard { abilities, ..ModelCard::unknown(model, Tokens(1_000_000)) }
}

fn body(request: &ChatRequest, model: &ModelId) -> Value {
    let (card, provider) = (card(model.clone()), row(model));
    let wire = encode(request, Target { card: &card, provider: &provider }).expect("encodable");
    serde_json::from_slice(&wire.body).expect("JSON")
}

fn replayed(end: &StreamEnd, model: &ModelId) -> Value {
    let messages = vec![Message::user("Go"), Message::Assistant(end.message.clone())];
    body(&ChatRequest { messages, ..ChatRequest::default() }, model)
}

/// What a model said goes back to it part by part: a lost signature is refused, or costs the thoughts.
#[test]
fn an_answer_goes_back_as_it_came() {
    let mut signed = 0;
    for recording in ALL.iter().filter(|recording| recording.status == 200) {
        let mut expected = spoken(recording);
        let end = whole(recording);
        let body = replayed(&end, &recording.model());
        // A turn of nothing is not sent.
        let sent =
            if body["contents"][1]["role"] == "model" { &body["contents"][1]["parts"] } else { &json!([]) };
        let model = recording.model();
        if model.model().starts_with("gemini-3") {
            fill(&mut expected);
        }
        signed += expected.iter().filter(|part| !part["thoughtSignature"].is_null()).count();
        assert_eq!(*sent, Value::Array(expected), "{}", recording.case);
    }
    assert!(signed > 50, "{signed}");
}

/// The first call of a turn of the third generation is never without a signature.
fn fill(parts: &mut [Value]) {
    let mut calls = parts.iter_mut().filter(|part| !part["functionCall"].is_null());
    if let Some(first) = calls.next()
        && first["thoughtSignature"].is_null()
    {
        first["thoughtSignature"] = json!("skip_thought_signature_validator");
    }
}

/// Another model gets words, calls and results, and nothing that holds for the first one alone.
#[test]
fn another_model_gets_no_signature_and_no_thoughts() {
    for recording in ALL.iter().filter(|recording| recording.status == 200) {
        let end = whole(recording);
        for (other, provider) in [("gemini-2.5-pro", "google"), (recording.model().model(), "elsewhere")] {
            let body = replayed(&end, &ModelId::new(provider, other)).to_string();
            for alien in
                ["signature_REDACTED", "\"thought\"", "executableCode", "codeExecutionResult", "call_320"]
            {
                assert!(!body.contains(alien), "{}: {alien} in {body}", recording.case);
            }
        }
        let newer = replayed(&end, &ModelId::new("google", "gemini-3.1-pro-preview"));
        let calls = end.message.exchanges().count();
        let fillers = newer.to_string().matches("skip_thought_signature_validator").count();
        assert_eq!(fillers, calls.min(1), "{}", recording.case);
    }
}

/// The conversation that a recorded request holds.
fn conversation(recording: &Recording) -> ChatRequest {
    let (recorded, model) = (recording.request(), recording.model());
    let mut messages = Vec::new();
    if let Some(text) = recorded["systemInstruction"]["parts"][0]["text"].as_str() {
        messages.push(Message::system(text));
    }
    for content in recorded["contents"].as_array().expect("contents") {
        let parts = content["parts"].as_array().expect("parts");
        if content["role"] == "model" {
            messages.push(Message::Assistant(AssistantMessage {
                parts: parts.iter().map(|part| said(part, &model)).collect(),
                model: Some(model.clone()),
                ..AssistantMessage::default()
            }));
        } else if parts.iter().any(|part| !part["functionResponse"].is_null()) {
            let Some(Message::Assistant(message)) = messages.last_mut() else { panic!("results of nothing") };
            for response in parts.iter().map(|part| &part["functionResponse"]) {
                let mut open = message.exchanges_mut().filter(|exchange| exchange.result.is_none());
                let exchange = open.find(|exchange| response["name"] == exchange.call.name.as_str());
                exchange.expect("a result of a call").result = Some(result(response));
            }
        } else {
            let content = parts.iter().map(asked).collect();
            messages.push(Message::User(UserMessage { content, ..UserMessage::default() }));
        }
    }
    let generation = &recorded["generationConfig"];
    let thinking = &generation["thinkingConfig"];
    let reasoning = match (thinking["thinkingBudget"].as_u64(), thinking["thinkingLevel"].as_str()) {
        (Some(budget), _) => Some(ReasoningEffort::Budget(Tokens(budget))),
        (_, Some("low")) => Some(ReasoningEffort::Low),
        (_, Some("medium")) => Some(ReasoningEffort::Medium),
        (_, other) => other.map(|other| panic!("a level {other}")),
    };
    let calling = &recorded["toolConfig"]["functionCallingConfig"];
    let tool_choice = match (calling["mode"].as_str(), calling["allowed_function_names"][0].as_str()) {
        (Some("ANY"), Some(name)) => ToolChoice::Named(name.into()),
        (Some("ANY"), None) => ToolChoice::Required,
        _ => ToolChoice::Auto,
    };
    let native = recorded["tools"].as_array().is_some_and(|tools| tools[0]["functionDeclarations"].is_null());
    let mut extra = serde_json::Map::new();
    if native {
        extra.insert("tools".to_owned(), recorded["tools"].clone());
    }
    if !recorded["cachedContent"].is_null() {
        extra.insert("cachedContent".to_owned(), recorded["cachedContent"].clone());
    }
    #[expect(clippy::cast_possible_truncation, reason = "a temperature")]
    let temperature = generation["temperature"].as_f64().map(|temperature| temperature as f32);
    ChatRequest {
        messages,
        tools: if native {
            Vec::new()
        } else {
            recorded["tools"][0]["functionDeclarations"].as_array().into_iter().flatten().map(tool).collect()
        },
        tool_choice,
        max_output: generation["maxOutputTokens"].as_u64().map(Tokens),
        temperature,
        reasoning,
        response_schema: (!generation["responseJsonSchema"].is_null()).then(|| ResponseSchema {
            name: "form".into(),
            schema: Json::of(&generation["responseJsonSchema"]).expect("JSON"),
        }),
        extra: (!extra.is_empty()).then(|| Json::of(&extra).expect("JSON")),
        ..ChatRequest::default()
    }
}

fn tool(declaration: &Value) -> ToolSchema {
    ToolSchema {
        name: declaration["name"].as_str().expect("a name").into(),
        description: declaration["description"].as_str().unwrap_or_default().into(),
        parameters: Json::of(&declaration["parameters"]).expect("JSON"),
    }
}

fn medium(inline: &Value) -> Content {
    Content::Media(Media {
        media_type: inline["mimeType"].as_str().expect("a type").into(),
        source: MediaSource::Base64(inline["data"].as_str().expect("bytes").into()),
        name: None,
    })
}

fn asked(part: &Value) -> Content {
    match part["text"].as_str() {
        Some(text) => Content::text(text),
        None => medium(&part["inlineData"]),
    }
}

fn said(part: &Value, model: &ModelId) -> Part {
    let signature = part["thoughtSignature"].as_str().map(Into::into);
    if let Some(text) = part["text"].as_str() {
        let reasoning = Reasoning { text: text.into(), signature, model: Some(model.clone()) };
        return if part["thought"] == true { Part::Reasoning(reasoning) } else { Part::text(text) };
    }
    let call = &part["functionCall"];
    let name = call["name"].as_str().expect("a name");
    Part::Exchange(Exchange::open(ToolCall {
        wire_id: call["id"].as_str().map(Into::into),
        signature,
        ..ToolCall::new("a.0", name, call["args"].to_string())
    }))
}

fn result(response: &Value) -> ToolResult {
    let mut content = vec![Content::text(response["response"].to_string())];
    let media = response["parts"].as_array().into_iter().flatten();
    content.extend(media.map(|part| medium(&part["inlineData"])));
    ToolResult { content, outcome: ToolOutcome::Success }
}

/// The recorded body in the names that we use. The service takes both spellings of a field, and a schema in
/// `parameters` or, as JSON Schema, in `parametersJsonSchema`; a schema without fields says nothing.
fn respelled(mut recorded: Value) -> Value {
    for tool in recorded["tools"].as_array_mut().into_iter().flatten() {
        for declaration in tool["functionDeclarations"].as_array_mut().into_iter().flatten() {
            let declaration = declaration.as_object_mut().expect("a declaration");
            if let Some(schema) = declaration.remove("parameters")
                && schema["properties"].as_object().is_some_and(|fields| !fields.is_empty())
            {
                declaration.insert("parametersJsonSchema".to_owned(), schema);
            }
        }
    }
    let calling = recorded.pointer_mut("/toolConfig/functionCallingConfig").and_then(Value::as_object_mut);
    if let Some(calling) = calling
        && let Some(names) = calling.remove("allowed_function_names")
    {
        calling.insert("allowedFunctionNames".to_owned(), names);
    }
    recorded
}

const DEFAULTS: &[(&str, &str)] = &[
    ("/contents/*/parts/*/thought", "false"),
    ("/systemInstruction/parts/*/thought", "false"),
    ("/systemInstruction/role", "*"),
    ("/generationConfig", "{}"),
    ("/generationConfig/thinkingConfig/includeThoughts", "false"),
];

const REASONS: &[Reason] = &[
    Reason {
        case: "gemini/agent_run_stepping/hand_driven_parallel_tool_calls_arrive_in_one_step#1",
        pointer: "/contents/2/parts",
        why: "the results were sent as they came in; ours stand in the order of their calls",
    },
    Reason {
        case: "gemini/hook_stress*",
        pointer: "/contents",
        why: "two messages of the user in a row are one turn of ours, as the roles of a talk take turns",
    },
    Reason {
        case: "gemini/thought_text_matrix/text_response_across_two_candidates#0",
        pointer: "/generationConfig/candidateCount",
        why: "one answer is asked for, never several",
    },
];

/// The same conversation makes a body of the same meaning.
#[test]
fn recorded_requests_are_written_alike() {
    let mut report = Report::new(Rules { defaults: DEFAULTS, reasons: REASONS });
    for recording in ALL.iter() {
        let model = recording.model();
        let (card, provider) = (card(model.clone()), row(&model));
        let wire = encode(&conversation(recording), Target { card: &card, provider: &provider });
        let path = "/v1beta/models/NAME:streamGenerateContent?alt=sse".replace("NAME", model.model());
        assert_eq!(wire.as_ref().map(|wire| &wire.path), Ok(&path));
        let recorded = respelled(recording.request()).to_string();
        let ours = wire.as_ref().map(|wire| wire.body.as_slice()).map_err(ToString::to_string);
        report.compare("google", &recording.case, &recorded, ours);
    }
    report.finish();
}

/// Vertex AI is this format at another path, with a token in place of a key.
#[test]
fn another_path_serves_another_door() {
    let vertex = Provider {
        dialect: Dialect::GoogleGenerate,
        auth: Auth::Bearer,
        path: Some(
            "/v1/projects/p/locations/global/publishers/google/models/{model}:streamGenerateContent?alt=sse"
                .to_owned(),
        ),
        ..Provider::new("vertex", "https://aiplatform.googleapis.com")
    };
    let card = card(ModelId::new("vertex", "gemini-2.5-pro"));
    let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
    let wire = encode(&request, Target { card: &card, provider: &vertex }).expect("encodable");
    assert_eq!(
        wire.path,
        "/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    );
    assert_eq!(wire.body, br#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#);
}

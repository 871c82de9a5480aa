//! Recorded traffic in the format of `POST /responses`.

mod support;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use support::meaning::{Reason, Report, Rules};
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, Dialect, Provider, Quirk, Quirks, ReasoningEffort, ResponseSchema, StreamEnd,
    StreamEnding, ToolChoice, bundled_providers,
    dialect::{Close, Decoder, Target, encode},
};
use thermidor_types::{
    AssistantMessage, Content, Exchange, Json, Message, ModelCard, ModelId, NativeItem, Part, Reasoning,
    Tokens, ToolCall, ToolResult, ToolSchema, UserMessage,
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

/// The answer as it stands at its end: the last event of a stream tells it whole.
fn whole(response: &str) -> Value {
    if response.starts_with('{') {
        return serde_json::from_str(response).expect("JSON");
    }
    let events = response.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let last = events.rfind(|event| event["type"] == "response.completed");
    last.expect("an end")["response"].clone()
}

/// The items of an answer byte for byte: each in an event of its own, or all in one document.
fn items(response: &str) -> Vec<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Document {
        #[serde(default)]
        output: Vec<Box<RawValue>>,
        item: Option<Box<RawValue>>,
        r#type: Option<String>,
    }
    if response.starts_with('{') {
        return serde_json::from_str::<Document>(response).expect("JSON").output;
    }
    let events = response.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = events.filter_map(|data| serde_json::from_str::<Document>(data).ok());
    let done = events.filter(|event| event.r#type.as_deref() == Some("response.output_item.done"));
    done.filter_map(|event| event.item).collect()
}

fn read(item: &RawValue) -> Value {
    serde_json::from_str(item.get()).expect("JSON")
}

fn texts(list: &Value, fields: &[&str]) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    let texts = list.filter_map(|part| fields.iter().find_map(|field| part[*field].as_str()));
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn field(item: &Value, name: &str) -> String {
    item[name].as_str().expect("a string").to_owned()
}

/// An independent reading: the items of the answer, one after the other.
fn check(row: &Exchanged) -> Heard {
    let (case, model) = (&row.case, model(row));
    let heard = hear(&model, [row.response.as_bytes()]);
    let mut expected: Vec<Part> = Vec::new();
    let (mut words, mut thoughts, mut calls) = (String::new(), String::new(), Vec::new());
    for raw in items(&row.response) {
        let item = read(&raw);
        match item["type"].as_str().expect("a type") {
            "message" => {
                for text in texts(&item["content"], &["text", "refusal"]) {
                    words += &text;
                    expected.push(Part::text(text));
                }
            }
            "reasoning" => {
                let text = texts(&item["summary"], &["text"]).join("\n\n");
                thoughts += &text;
                if !text.is_empty() {
                    let (text, model) = (text.into(), Some(model.clone()));
                    expected.push(Part::Reasoning(Reasoning { text, signature: None, model }));
                }
                expected.push(Part::Native(NativeItem { model: model.clone(), item: Json::from(raw) }));
            }
            "function_call" => {
                let id = format!("p.{}", calls.len());
                calls.push((field(&item, "name"), field(&item, "arguments")));
                let call = ToolCall {
                    wire_id: Some(field(&item, "call_id").into()),
                    ..ToolCall::new(id, field(&item, "name"), field(&item, "arguments"))
                };
                expected.push(Part::Exchange(Exchange::open(call)));
            }
            other => panic!("{case}: {other} is not read here"),
        }
    }
    assert_eq!((&heard.text, &heard.reasoning, &heard.calls), (&words, &thoughts, &calls), "{case}");
    assert_eq!(heard.end.message.parts, expected, "{case}");

    let answer = whole(&row.response);
    let figure = |place: &str| answer.pointer(place).and_then(Value::as_u64).unwrap_or_default();
    let expected = [
        figure("/usage/input_tokens"),
        figure("/usage/output_tokens"),
        figure("/usage/input_tokens_details/cached_tokens"),
        figure("/usage/output_tokens_details/reasoning_tokens"),
    ];
    let usage = &heard.end.message.usage;
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
        provider     exchanges  events  not understood
        copilot              3       3               0
        openai              47     547               0
        openrouter           1       1               0
        xai                 23     623               0
    "]]
    .assert_eq(&format!("{head}{table}"));
}

/// What a recorded request leaves to the API, said: both say the same in the API's own words.
fn spelt_out(provider: &str, mut body: Value) -> Value {
    if let Value::String(text) = &body["input"] {
        body["input"] = json!([{"type": "message", "role": "user", "content": text}]);
    }
    let input = body["input"].as_array_mut().expect("items");
    for item in input.iter_mut().filter(|item| item["type"] != "reasoning") {
        // An item that is sent whole needs no id of its own, and is complete.
        let item = item.as_object_mut().expect("an object");
        item.remove("id");
        item.remove("status");
    }
    if let Some(instructions) = body.as_object_mut().and_then(|body| body.remove("instructions")) {
        let first = json!({"type": "message", "role": "system", "content": instructions});
        body["input"].as_array_mut().expect("items").insert(0, first);
    }
    for tool in body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        // Answers of xAI say `strict: false` of a tool that says nothing, those of OpenAI `true`.
        if provider == "xai" && tool["strict"].is_null() {
            tool["strict"] = json!(false);
        }
    }
    body
}

fn content(content: &Value) -> Vec<Content> {
    match content {
        Value::String(text) => vec![Content::text(text.as_str())],
        parts => texts(parts, &["text"]).into_iter().map(Content::text).collect(),
    }
}

/// The conversation in a recorded request, in the words of all dialects.
fn conversation(items: &[Value], model: &ModelId) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut answer: Option<AssistantMessage> = None;
    let mut answered = false;
    for item in items {
        let kind = (item["type"].as_str().expect("a type"), item["role"].as_str());
        let part = match kind {
            ("message", Some("assistant")) => {
                let words = content(&item["content"]).into_iter().map(|words| match words {
                    Content::Text(text) => Part::Text(text),
                    Content::Media(_) => panic!("media in an answer"),
                });
                words.last()
            }
            ("reasoning", _) => {
                let item = Json::of(item).expect("JSON");
                Some(Part::Native(NativeItem { model: model.clone(), item }))
            }
            ("function_call", _) => {
                let wire_id = Some(field(item, "call_id").into());
                let call = ToolCall::new("c", field(item, "name"), field(item, "arguments"));
                Some(Part::Exchange(Exchange::open(ToolCall { wire_id, ..call })))
            }
            ("function_call_output", _) => {
                let wanted = field(item, "call_id");
                let answer = answer.as_mut().expect("a call");
                let exchange = answer
                    .exchanges_mut()
                    .find(|exchange| exchange.call.wire_id.as_deref() == Some(wanted.as_str()));
                exchange.expect("a call").result =
                    Some(ToolResult { content: content(&item["output"]), ..ToolResult::text("") });
                answered = true;
                continue;
            }
            _ => None,
        };
        if let Some(part) = part {
            if std::mem::take(&mut answered) {
                messages.extend(answer.take().map(Message::Assistant));
            }
            let answer = answer.get_or_insert_with(|| AssistantMessage {
                model: Some(model.clone()),
                ..AssistantMessage::default()
            });
            answer.parts.push(part);
            continue;
        }
        messages.extend(answer.take().map(Message::Assistant));
        answered = false;
        let content = content(&item["content"]);
        messages.push(match kind.1 {
            Some("system") => Message::system(content.first().map(text).unwrap_or_default()),
            Some("user") => Message::User(UserMessage { content, ..UserMessage::default() }),
            other => panic!("the role {other:?}"),
        });
    }
    messages.extend(answer.map(Message::Assistant));
    messages
}

fn text(content: &Content) -> &str {
    match content {
        Content::Text(text) => text,
        Content::Media(_) => panic!("media in words"),
    }
}

/// The recorded request in the words of all dialects. What has no such words is sent as a field for this provider
/// alone, as a caller would.
fn request(body: &Value, model: &ModelId) -> ChatRequest {
    let mut extra = serde_json::Map::new();
    let mut request = ChatRequest {
        messages: conversation(body["input"].as_array().expect("items"), model),
        ..ChatRequest::default()
    };
    for (name, value) in body.as_object().expect("an object") {
        match name.as_str() {
            "input" | "model" | "stream" | "include" => {}
            "max_output_tokens" => request.max_output = value.as_u64().map(Tokens),
            "temperature" => {
                request.temperature = Some(serde_json::from_value(value.clone()).expect("a number"));
            }
            "parallel_tool_calls" => request.parallel_calls = value.as_bool(),
            "tools" => {
                let tools = value.as_array().expect("tools");
                request.strict_tools = tools.iter().any(|tool| tool["strict"] != false);
                request.tools = tools.iter().map(schema).collect();
            }
            "tool_choice" => match (value.as_str(), value["type"].as_str()) {
                (Some("required"), _) => request.tool_choice = ToolChoice::Required,
                (Some("none"), _) => request.tool_choice = ToolChoice::None,
                (_, Some("function")) => request.tool_choice = ToolChoice::Named(field(value, "name").into()),
                _ => drop(extra.insert(name.clone(), value.clone())),
            },
            "reasoning" => match value["effort"].as_str() {
                Some("low") if value.as_object().is_some_and(|fields| fields.len() == 1) => {
                    request.reasoning = Some(ReasoningEffort::Low);
                }
                Some("high") if value.as_object().is_some_and(|fields| fields.len() == 1) => {
                    request.reasoning = Some(ReasoningEffort::High);
                }
                _ => drop(extra.insert(name.clone(), value.clone())),
            },
            "text" => {
                let format = &value["format"];
                request.response_schema = Some(ResponseSchema {
                    name: field(format, "name").into(),
                    schema: Json::of(&format["schema"]).expect("JSON"),
                });
            }
            "previous_response_id" => drop(extra.insert(name.clone(), value.clone())),
            other => panic!("the field {other} is not read here"),
        }
    }
    request.extra = (!extra.is_empty()).then(|| Json::of(&extra).expect("JSON"));
    request
}

fn schema(tool: &Value) -> ToolSchema {
    ToolSchema {
        name: field(tool, "name").into(),
        description: field(tool, "description").into(),
        parameters: Json::of(&tool["parameters"]).expect("JSON"),
    }
}

fn card(model: &ModelId, reasons: bool) -> ModelCard {
    let mut card = ModelCard::unknown(model.clone(), Tokens(200_000));
    card.abilities.reasoning = reasons;
    card
}

/// A provider of this dialect that takes reasoning back without an encrypted form.
fn provider() -> Provider {
    let quirks = Quirks::of([Quirk::PlainReasoningItems]);
    Provider { dialect: Dialect::OpenaiResponses, quirks, ..Provider::new("lab", "http://127.0.0.1") }
}

/// Nothing is stored at the provider: recorded requests leave that to the API, which stores.
const DEFAULTS: &[(&str, &str)] = &[("/store", "false"), ("/tool_choice", r#""auto""#)];

const REASONS: &[Reason] = &[];

/// Would fail if our encoder said something else than a request that a provider took.
#[test]
fn recorded_requests_are_written_with_the_same_meaning() {
    let mut report = Report::new(Rules { defaults: DEFAULTS, reasons: REASONS });
    for row in recorded() {
        let model = model(&row);
        let body = serde_json::from_str(row.request.as_deref().expect("a request")).expect("JSON");
        let body = spelt_out(&row.provider, body);
        let (request, card) = (request(&body, &model), card(&model, body["include"].is_array()));
        let wire = encode(&request, Target { card: &card, provider: &provider() });
        let ours = wire.as_ref().map(|wire| wire.body.as_slice()).map_err(ToString::to_string);
        report.compare(&row.provider, &row.case, &body.to_string(), ours);
    }
    report.finish();
}

/// The input items that are sent after `message`, whose calls all got the result `done`, byte for byte.
fn sent_back(mut message: AssistantMessage, card: &ModelCard) -> Vec<String> {
    #[derive(Deserialize)]
    struct Body {
        input: Vec<Box<RawValue>>,
    }
    for exchange in message.exchanges_mut() {
        exchange.result = Some(ToolResult::text("done"));
    }
    let messages = vec![Message::user("Go"), Message::Assistant(message)];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    let wire = encode(&request, Target { card, provider: &provider() }).expect("encodable");
    let body: Body = serde_json::from_slice(&wire.body).expect("JSON");
    body.input.iter().skip(1).map(|item| item.get().to_owned()).collect()
}

/// Would fail if an answer went back in other bytes or another order than it came, or reasoning without what it led
/// to. A message goes back as its words, a call without its own id.
#[test]
fn recorded_answers_go_back_as_they_came() {
    let (mut answers, mut verbatim) = (0, 0);
    for row in recorded().iter().filter(|row| row.status == 200) {
        let model = model(row);
        let (mut expected, mut outputs) = (Vec::new(), Vec::new());
        let mut items = items(&row.response);
        while items.last().is_some_and(|item| read(item)["type"] == "reasoning") {
            items.pop();
        }
        for raw in items {
            let item = read(&raw);
            let quoted = |name: &str| json!(field(&item, name)).to_string();
            match item["type"].as_str().expect("a type") {
                "reasoning" => {
                    verbatim += 1;
                    expected.push(raw.get().to_owned());
                }
                "message" => {
                    for text in texts(&item["content"], &["text", "refusal"]) {
                        let text = json!(text);
                        expected.push(format!(r#"{{"type":"message","role":"assistant","content":{text}}}"#));
                    }
                }
                _ => {
                    let (id, name, arguments) = (quoted("call_id"), quoted("name"), quoted("arguments"));
                    expected.push(format!(
                        r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{arguments}}}"#
                    ));
                    outputs
                        .push(format!(r#"{{"type":"function_call_output","call_id":{id},"output":"done"}}"#));
                }
            }
        }
        expected.extend(outputs);
        let message = hear(&model, [row.response.as_bytes()]).end.message;
        assert_eq!(sent_back(message, &card(&model, true)), expected, "{}", row.case);
        answers += 1;
    }
    assert!(answers > 70 && verbatim > 25, "{answers} answers, {verbatim} items of reasoning");
}

const ANSWER: &str = r#"{"object":"response","status":"completed","output":[
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"a+b"},
    {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Looking."}]},
    {"type":"web_search_call","id":"ws_1","status":"completed"},
    {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"c"},
    {"type":"function_call","id":"fc_1","call_id":"call_a","name":"look","arguments":"{\"b\": 1.10}"},
    {"type":"function_call","id":"fc_2","call_id":"call_a","name":"look","arguments":"{\"b\""},
    {"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"d"},
    {"type":"computer_call","id":"cu_1","call_id":"call_c"},
    {"type":"reasoning","id":"rs_4","summary":[],"encrypted_content":"e"}]}"#;

/// Would fail if an item went to a model that cannot read it, or reasoning without the item it led to.
#[test]
fn native_items_go_to_the_model_that_made_them_and_to_no_other() {
    let maker = ModelId::new("lab", "maker");
    let message = hear(&maker, [ANSWER.as_bytes()]).end.message;
    let sent = |model: &ModelId| sent_back(message.clone(), &card(model, true)).join("\n") + "\n";
    expect_test::expect![[r#"
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"a+b"}
        {"type":"message","role":"assistant","content":"Looking."}
        {"type":"web_search_call","id":"ws_1","status":"completed"}
        {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"c"}
        {"type":"function_call","call_id":"call_a","name":"look","arguments":"{\"b\": 1.10}"}
        {"type":"function_call","call_id":"call00001","name":"look","arguments":"{\"unparsed_arguments\":\"{\\\"b\\\"\"}"}
        {"type":"function_call_output","call_id":"call_a","output":"done"}
        {"type":"function_call_output","call_id":"call00001","output":"done"}
    "#]]
    .assert_eq(&sent(&maker));
    expect_test::expect![[r#"
        {"type":"message","role":"assistant","content":"Looking."}
        {"type":"function_call","call_id":"call00001","name":"look","arguments":"{\"b\": 1.10}"}
        {"type":"function_call","call_id":"call00002","name":"look","arguments":"{\"unparsed_arguments\":\"{\\\"b\\\"\"}"}
        {"type":"function_call_output","call_id":"call00001","output":"done"}
        {"type":"function_call_output","call_id":"call00002","output":"done"}
    "#]]
    .assert_eq(&sent(&ModelId::new("lab", "another")));
    assert_eq!(sent(&ModelId::new("elsewhere", "maker")), sent(&ModelId::new("lab", "another")));
}

/// Would fail if a model that OpenAI serves here alone were asked elsewhere, or the others were asked here.
#[test]
fn models_that_exist_here_alone_are_asked_here() {
    let openai = bundled_providers().iter().find(|row| row.name == "openai").expect("a row");
    let dialect = |model: &str| openai.serving(model).dialect;
    for model in ["gpt-5-pro", "o3-pro-2025-06-10", "gpt-5.3-codex", "o4-mini-deep-research"] {
        assert_eq!(dialect(model), Dialect::OpenaiResponses, "{model}");
    }
    for model in ["gpt-5-mini", "o3", "gpt-4o"] {
        assert_eq!(dialect(model), Dialect::OpenaiChat, "{model}");
    }
}

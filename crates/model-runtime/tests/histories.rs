//! A conversation that moved between providers is a request that each of them accepts.

use std::collections::BTreeSet;

use proptest::{prelude::*, sample::select, test_runner::TestCaseResult};
use serde_json::Value;
use thermidor_model_runtime::{
    ChatRequest, Dialect, Provider, Quirk, Quirks,
    dialect::{Target, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Ending, Exchange, Json, Media, MediaSource, Message, ModelCard,
    ModelId, NativeItem, Part, Reasoning, Text, Tokens, ToolCall, ToolOutcome, ToolResult, UserMessage,
};

const DIALECTS: [(&str, Dialect); 5] = [
    ("openai", Dialect::OpenaiChat),
    ("anthropic", Dialect::AnthropicMessages),
    ("google", Dialect::GoogleGenerate),
    ("responses", Dialect::OpenaiResponses),
    ("ollama", Dialect::OllamaChat),
];

fn words() -> impl Strategy<Value = Text> {
    select(vec!["", " ", "\n", "yes", "no \n", "é 答"]).prop_map(Text::from)
}

fn content() -> impl Strategy<Value = Vec<Content>> {
    let medium = |media_type: &str, source| {
        Content::Media(Media { media_type: media_type.into(), source, name: None })
    };
    let one = prop_oneof![
        3 => words().prop_map(Content::Text),
        1 => Just(medium("image/png", MediaSource::Base64("aGk=".into()))),
        1 => Just(medium("image/png", MediaSource::Url("https://example.org/a.png".into()))),
        1 => Just(medium("audio/wav", MediaSource::Base64("aGk=".into()))),
        1 => Just(medium("text/plain", MediaSource::Base64("aGk=".into()))),
    ];
    prop::collection::vec(one, 0..3)
}

fn exchange(maker: &'static str) -> impl Strategy<Value = Part> {
    let outcomes = vec![ToolOutcome::Success, ToolOutcome::Error, ToolOutcome::Interrupted];
    let result = prop::option::of((content(), select(outcomes)));
    let arguments = select(vec!["{}", "", r#"{"a":1}"#, r#"{"a""#, "[1]", "null", "{}{}", " {\"b\": 2}\n"]);
    let wire_id = prop::option::of(select(vec!["w1", "w2", "call00001", "call00002"]));
    (arguments, wire_id, any::<bool>(), result).prop_map(move |(arguments, wire_id, signed, result)| {
        let call = ToolCall {
            wire_id: wire_id.map(Into::into),
            signature: signed.then(|| format!("signed-{maker}").into()),
            ..ToolCall::new("t.0", "look", arguments)
        };
        let result = result.map(|(content, outcome)| ToolResult { content, outcome });
        Part::Exchange(Exchange { call, result })
    })
}

/// What only its maker understands, as its decoder keeps it.
fn native(maker: &str) -> Vec<&'static str> {
    match maker {
        "anthropic" => vec![
            r#"{"type":"redacted_thinking","data":"made-anthropic"}"#,
            r#"{"type":"server_tool_use","id":"made-anthropic","name":"web_search","input":{}}"#,
            r#"{"type":"web_search_tool_result","tool_use_id":"made-anthropic","content":[]}"#,
        ],
        "google" => vec![r#"{"executableCode":{"code":"made-google"}}"#],
        "responses" => vec![
            r#"{"type":"reasoning","id":"made-responses","encrypted_content":"x","summary":[]}"#,
            r#"{"type":"web_search_call","id":"made-responses"}"#,
        ],
        "openai" => vec![r#"{"reasoning_details":[{"data":"made-openai"}]}"#],
        _ => vec![r#"{"made-ollama":1}"#],
    }
}

fn part(maker: &'static str) -> impl Strategy<Value = Part> {
    let model = ModelId::new(maker, "m");
    let thinker = model.clone();
    prop_oneof![
        3 => words().prop_map(Part::Text),
        2 => (words(), any::<bool>()).prop_map(move |(text, signed)| Part::Reasoning(Reasoning {
            text,
            signature: signed.then(|| format!("signed-{maker}").into()),
            model: Some(thinker.clone()),
        })),
        3 => exchange(maker),
        1 => select(native(maker)).prop_map(move |item| Part::Native(NativeItem {
            model: model.clone(),
            item: Json::parse(item).expect("JSON"),
        })),
        1 => Just(Part::Media(Media {
            media_type: "image/png".into(),
            source: MediaSource::Base64("aGk=".into()),
            name: None,
        })),
    ]
}

fn answer() -> impl Strategy<Value = Message> {
    let endings = vec![Ending::Finished, Ending::Length, Ending::CutOff];
    (select(DIALECTS.map(|(maker, _)| maker).to_vec()), select(endings)).prop_flat_map(|(maker, ending)| {
        prop::collection::vec(part(maker), 0..5).prop_map(move |parts| {
            Message::Assistant(AssistantMessage {
                parts,
                ending,
                model: Some(ModelId::new(maker, "m")),
                ..AssistantMessage::default()
            })
        })
    })
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let user = content().prop_map(|content| Message::User(UserMessage { content, ..UserMessage::default() }));
    let message = prop_oneof![2 => user, 4 => answer(), 1 => words().prop_map(Message::system)];
    prop::collection::vec(message, 0..8).prop_map(|mut messages| {
        messages.insert(0, Message::user("Begin."));
        messages
    })
}

fn body(provider: &str, dialect: Dialect, messages: &[Message], sighted: bool) -> Value {
    let abilities = Abilities { tools: true, vision: sighted, files: sighted, ..Abilities::default() };
    let card = ModelCard { abilities, ..ModelCard::unknown(ModelId::new(provider, "m"), Tokens(100_000)) };
    let quirks =
        Quirks::of([Quirk::ReasoningDetails, Quirk::ThoughtSignatures].into_iter().take(match dialect {
            Dialect::OpenaiChat | Dialect::GoogleGenerate => 2,
            _ => 0,
        }));
    let row = Provider { dialect, quirks, ..Provider::new(provider, "http://127.0.0.1") };
    let request = ChatRequest { messages: messages.to_vec(), ..ChatRequest::default() };
    let wire = encode(&request, Target { card: &card, provider: &row }).expect("encodable");
    serde_json::from_slice(&wire.body).expect("JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Each assistant's calls are directly followed by one result each, and no result stands elsewhere.
fn openai(body: &Value) -> TestCaseResult {
    let (mut open, mut used): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    for message in list(body, "messages") {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            prop_assert!(open.remove(id), "a result without its call: {id}");
            prop_assert!(message["content"].is_string());
            continue;
        }
        prop_assert!(open.is_empty(), "calls without results: {open:?}");
        for piece in list(message, "content") {
            prop_assert!(piece["type"] != "text" || !text(piece, "text").is_empty(), "an empty piece");
        }
        for call in list(message, "tool_calls") {
            let id = text(call, "id");
            prop_assert!(used.insert(id), "an id used twice: {id}");
            open.insert(id);
            let arguments = serde_json::from_str::<Value>(text(&call["function"], "arguments"));
            prop_assert!(arguments.is_ok_and(|arguments| arguments.is_object()));
        }
        if role == "assistant" {
            let says = !text(message, "content").is_empty() || !open.is_empty();
            let thinks = !list(message, "reasoning_details").is_empty();
            prop_assert!(says || thinks, "an answer of nothing");
        }
    }
    prop_assert!(open.is_empty(), "calls without results: {open:?}");
    Ok(())
}

/// Roles take turns, results stand first in the turn after their calls, no text is blank, no answer ends in thoughts.
fn anthropic(body: &Value) -> TestCaseResult {
    let (mut open, mut used): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    let mut before = "";
    let turns = list(body, "messages");
    for (place, turn) in turns.iter().enumerate() {
        let (role, blocks) = (text(turn, "role"), list(turn, "content"));
        prop_assert!(role != before, "two turns of {role}");
        prop_assert!(!blocks.is_empty(), "an empty turn");
        before = role;
        let mut others = false;
        for block in blocks {
            match text(block, "type") {
                "text" => prop_assert!(!text(block, "text").trim().is_empty(), "blank words"),
                "tool_use" => {
                    prop_assert!(role == "assistant" && block["input"].is_object());
                    prop_assert!(used.insert(text(block, "id")), "an id used twice");
                    open.insert(text(block, "id"));
                }
                "tool_result" => {
                    prop_assert!(role == "user" && !others, "a result after words");
                    prop_assert!(open.remove(text(block, "tool_use_id")), "a result without its call");
                    for inner in list(block, "content") {
                        let blank = inner["type"] == "text" && text(inner, "text").trim().is_empty();
                        prop_assert!(!blank, "blank words in a result");
                    }
                    continue;
                }
                "thinking" => {
                    prop_assert!(role == "assistant" && !text(block, "signature").is_empty());
                }
                _ => {}
            }
            others = true;
        }
        if role == "user" {
            prop_assert!(open.is_empty(), "calls without results");
        }
        let last = blocks.last().map_or("", |block| text(block, "type"));
        prop_assert!(!matches!(last, "thinking" | "redacted_thinking"), "an answer ends in thoughts");
        if place + 1 == turns.len() && role == "assistant" && last == "text" {
            let words = text(&blocks[blocks.len() - 1], "text");
            prop_assert!(words == words.trim_end(), "a last answer ends in a blank");
        }
    }
    prop_assert!(open.is_empty(), "calls without results");
    Ok(())
}

/// A turn of calls follows one of a person or of results, and as many results follow it.
fn google(body: &Value) -> TestCaseResult {
    let (mut before, mut calls) = ("", Vec::new());
    for turn in list(body, "contents") {
        let (role, parts) = (text(turn, "role"), list(turn, "parts"));
        prop_assert!(!parts.is_empty(), "an empty turn");
        let of = |kind: &'static str| parts.iter().filter_map(move |part| part.get(kind));
        let results: Vec<&str> = of("functionResponse").map(|result| text(result, "name")).collect();
        prop_assert!(results == calls, "results {results:?} after calls {calls:?}");
        calls = of("functionCall").map(|call| text(call, "name")).collect();
        if !calls.is_empty() {
            prop_assert!(role == "model" && before == "user", "calls after a turn of {before:?}");
            prop_assert!(parts.iter().any(|part| part.get("thoughtSignature").is_some()));
        }
        prop_assert!(results.is_empty() || role == "user");
        prop_assert!(role != "model" || before != "model", "two turns of the model");
        for part in parts {
            let empty = part["text"] == "" && part.get("thoughtSignature").is_none();
            prop_assert!(!empty, "an empty part");
        }
        before = role;
    }
    prop_assert!(calls.is_empty(), "calls without results");
    Ok(())
}

/// Every call has one output behind it, and reasoning is followed by what it led to.
fn responses(body: &Value) -> TestCaseResult {
    let (mut open, mut used): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    let mut thinking = false;
    for item in list(body, "input") {
        let (kind, id) = (text(item, "type"), text(item, "call_id"));
        let own = matches!(kind, "function_call" | "web_search_call") || item["role"] == "assistant";
        prop_assert!(!thinking || own || kind == "reasoning", "reasoning without what it led to");
        thinking = kind == "reasoning";
        match kind {
            "function_call" => {
                prop_assert!(used.insert(id), "an id used twice: {id}");
                open.insert(id);
            }
            "function_call_output" => prop_assert!(open.remove(id), "an output without its call: {id}"),
            _ => prop_assert!(item["role"] != "user" || open.is_empty(), "calls without outputs"),
        }
        prop_assert!(item["role"] != "assistant" || !text(item, "content").is_empty(), "an empty answer");
    }
    prop_assert!(!thinking && open.is_empty());
    Ok(())
}

/// As many results directly behind an answer as it has calls.
fn ollama(body: &Value) -> TestCaseResult {
    let mut open = 0;
    for message in list(body, "messages") {
        if message["role"] == "tool" {
            prop_assert!(open > 0, "a result without its call");
            open -= 1;
            continue;
        }
        prop_assert!(open == 0, "calls without results");
        open = list(message, "tool_calls").len();
        for call in list(message, "tool_calls") {
            prop_assert!(call["function"]["arguments"].is_object());
        }
    }
    prop_assert!(open == 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Would fail if a call went without its result, a signature to another maker than its own, or a text of nothing
    /// to one who refuses it: each is a conversation that can never go on.
    #[test]
    fn every_history_is_a_request_that_is_accepted(messages in conversation(), sighted in any::<bool>()) {
        for (provider, dialect) in DIALECTS {
            let body = body(provider, dialect, &messages, sighted);
            let checked = match dialect {
                Dialect::OpenaiChat => openai(&body),
                Dialect::AnthropicMessages => anthropic(&body),
                Dialect::GoogleGenerate => google(&body),
                Dialect::OpenaiResponses => responses(&body),
                Dialect::OllamaChat => ollama(&body),
            };
            checked.map_err(|error| TestCaseError::fail(format!("{provider}: {error}\n{body:#}")))?;
            let body = body.to_string();
            for (other, _) in DIALECTS.iter().filter(|(other, _)| *other != provider) {
                let foreign = [format!("signed-{other}"), format!("made-{other}")];
                prop_assert!(!foreign.iter().any(|word| body.contains(word)), "{provider} reads what is {other}'s");
            }
        }
    }
}

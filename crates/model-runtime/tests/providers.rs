//! What every bundled provider is sent, and the page that lists them all.

use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use expect_test::expect_file;
use serde::Deserialize;
use thermidor_model_runtime::{
    Auth, ChatRequest, Evidence, ModelRuntime, Provider, ReasoningEffort, ResponseSchema, bundled_providers,
};
use thermidor_types::{
    AssistantMessage, Exchange, Json, Message, Part, Tokens, ToolCall, ToolResult, ToolSchema,
};

/// A conversation with a tool, and every wish a request can have.
fn request() -> ChatRequest {
    let call = Exchange::open(ToolCall::new("t.0", "weather", r#"{"city":"Bern"}"#));
    let parts = vec![Part::Exchange(call.answered(ToolResult::text("sunny")))];
    ChatRequest {
        messages: vec![
            Message::system("Be brief."),
            Message::user("Weather in Bern?"),
            Message::Assistant(AssistantMessage { parts, ..AssistantMessage::default() }),
            Message::user("And tomorrow?"),
        ],
        tools: vec![ToolSchema {
            name: "weather".into(),
            description: "The weather in a city".into(),
            parameters: json(
                r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
            ),
        }],
        max_output: Some(Tokens(500)),
        temperature: Some(0.0),
        top_p: Some(1.0),
        frequency_penalty: Some(0.5),
        presence_penalty: Some(0.5),
        seed: Some(7),
        reasoning: Some(ReasoningEffort::Low),
        parallel_calls: None,
        ..ChatRequest::default()
    }
}

fn json(text: &str) -> Json {
    Json::parse(text).expect("JSON")
}

fn named(provider: &Provider) -> String {
    format!("{}/{}", provider.name, provider.default_model.as_deref().unwrap_or("a-model"))
}

/// Each line is one provider's request; would show any row, quirk or encoder that changes by accident.
#[test]
fn every_row_has_its_request() {
    let runtime = ModelRuntime::builder().build().expect("sound");
    let mut table = String::new();
    for provider in bundled_providers() {
        let preview = runtime.preview(&named(provider), &request()).expect("every format has a form for it");
        writeln!(table, "## {}\n{preview}\n", named(provider)).expect("text");
    }
    expect_file!["snapshots/provider_requests.txt"].assert_eq(&format!("{}\n", table.trim_end()));
}

/// Would fail for a row whose models refuse what the command sends first: a typed answer.
#[test]
fn every_row_has_a_form_for_typed_answers() {
    let runtime = ModelRuntime::builder().build().expect("sound");
    let schema = ResponseSchema { name: "plan".into(), schema: json(r#"{"type":"object","properties":{}}"#) };
    let request = ChatRequest {
        messages: vec![Message::user("A plan, please.")],
        response_schema: Some(schema),
        ..ChatRequest::default()
    };
    for provider in bundled_providers() {
        runtime.preview(&named(provider), &request).expect("a form");
    }
}

#[derive(Deserialize)]
struct Exchanged {
    path: String,
}

/// A row says `recorded` exactly if its exchanges are kept, and asks for a path that was really asked for.
#[test]
fn recorded_rows_ask_for_recorded_paths() {
    let runtime = ModelRuntime::builder().build().expect("sound");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/recordings");
    let files: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("the recordings are there")
        .map(|entry| {
            entry.expect("readable").path().file_stem().expect("named").to_string_lossy().into_owned()
        })
        .collect();
    let mut rows = BTreeSet::new();
    for provider in bundled_providers().iter().filter(|row| row.evidence == Evidence::Recorded) {
        let file = match provider.name.as_str() {
            "google" => "gemini",
            "ollama-native" => "ollama",
            name => name,
        };
        rows.insert(file.to_owned());
        let text = std::fs::read_to_string(folder.join(format!("{file}.jsonl"))).expect("recorded");
        let paths: BTreeSet<String> = text
            .lines()
            .map(|line| serde_json::from_str::<Exchanged>(line).expect("an exchange").path)
            .map(|path| ending(&path))
            .collect();
        let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
        let url = runtime.preview(&named(provider), &request).expect("encodable").url;
        let asked = url.splitn(4, '/').nth(3).map(|path| ending(&format!("/{path}"))).expect("a path");
        assert!(paths.contains(&asked), "{}: {asked} is none of {paths:?}", provider.name);
    }
    // Cohere is recorded in a format of its own, mistral.rs shares its port with another server.
    let others: Vec<&String> = files.iter().filter(|file| !rows.contains(*file)).collect();
    assert_eq!(others, ["cohere", "mistralrs"]);
}

/// The last two segments, without query and without the model's name.
fn ending(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.rsplit('/').take(2).collect();
    match segments.first().and_then(|last| last.split_once(':')) {
        Some((_, verb)) => format!("{}:{verb}", segments.get(1).unwrap_or(&"")),
        None => segments.into_iter().rev().collect::<Vec<_>>().join("/"),
    }
}

/// `docs/providers.md`, made from the rows. `UPDATE_EXPECT=1` writes it anew.
#[test]
fn generated_page_of_providers() {
    let mut page = String::from(
        "# Providers\n\nMade from the rows in `crates/model-runtime/src/provider/providers.toml`; do not edit. A name before \
         the slash of `provider/model`. *Recorded*: real exchanges with it are part of the tests; *documented*: \
         it follows the provider's documentation. An OpenAI-compatible server that is not here needs a name and \
         an address only.\n\n| name | title | address | key | format | default model | beside chat | evidence | particulars |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in bundled_providers() {
        let names = std::iter::once(&row.name).chain(&row.aliases).map(|name| format!("`{name}`"));
        let mut key = row.key_variables.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if key.is_empty() {
            "none".clone_into(&mut key);
        }
        if let Auth::Header(header) = &row.auth {
            write!(key, " in `{header}`").expect("text");
        }
        let rules = row.models.iter().map(|rule| format!("{}…: {}", rule.prefix, words(&rule.quirks)));
        let particulars: Vec<String> =
            std::iter::once(words(&row.quirks)).chain(rules).filter(|text| !text.is_empty()).collect();
        writeln!(
            page,
            "| {} | {} | {} | {key} | {} | {} | {} | {} | {} |",
            names.collect::<Vec<_>>().join(", "),
            row.title,
            row.base_url,
            written(&row.dialect),
            row.default_model.as_deref().unwrap_or("–"),
            beside_chat(row),
            written(&row.evidence),
            particulars.join("; "),
        )
        .expect("text");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    expect_file![path].assert_eq(&page);
}

fn beside_chat(row: &Provider) -> String {
    let services = &row.services;
    let served = [
        ("embeddings", services.embedding.is_some()),
        ("images", services.image.is_some()),
        ("transcription", services.transcription.is_some()),
        ("speech", services.speech.is_some()),
    ];
    let served: Vec<_> = served.into_iter().filter(|(_, serves)| *serves).map(|(what, _)| what).collect();
    if served.is_empty() { "–".to_owned() } else { served.join(", ") }
}

fn words(quirks: &thermidor_model_runtime::Quirks) -> String {
    quirks.iter().map(|quirk| written(&quirk)).collect::<Vec<_>>().join(", ")
}

/// The name a value has in the table.
fn written<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).expect("plain").as_str().unwrap_or_default().replace('_', " ")
}

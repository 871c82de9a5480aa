//! What Google's and Ollama's own formats make of each field and each quirk.

use expect_test::{Expect, expect};
use serde_json::json;
use thermidor_model_runtime::{
    ChatRequest, Dialect, Provider, Quirk, Quirks, ReasoningEffort, ResponseSchema, ToolChoice,
    bundled_providers,
    dialect::{Target, Unencodable, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, ModelId,
    NativeItem, Part, Reasoning, Text, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema, UserMessage,
};

const GOOGLE: Dialect = Dialect::GoogleGenerate;
const OLLAMA: Dialect = Dialect::OllamaChat;

fn own() -> ModelId {
    ModelId::new("lab", "m")
}

fn card() -> ModelCard {
    let abilities = Abilities { tools: true, vision: true, files: true, ..Abilities::default() };
    ModelCard { abilities, max_output: Some(Tokens(100)), ..ModelCard::unknown(own(), Tokens(16_000)) }
}

fn written(
    dialect: Dialect,
    request: &ChatRequest,
    card: &ModelCard,
    quirks: &[Quirk],
) -> Result<String, Unencodable> {
    let quirks = Quirks::of(quirks.iter().copied());
    let provider = Provider { dialect, quirks, ..Provider::new("lab", "http://127.0.0.1") };
    let wire = encode(request, Target { card, provider: &provider })?;
    Ok(String::from_utf8(wire.body).expect("text"))
}

fn check(dialect: Dialect, request: &ChatRequest, quirks: &[Quirk], expected: Expect) {
    expected.assert_eq(&written(dialect, request, &card(), quirks).expect("encodable"));
}

fn asking(messages: Vec<Message>) -> ChatRequest {
    ChatRequest { messages, ..ChatRequest::default() }
}

fn medium(media_type: &str, source: MediaSource) -> Content {
    Content::Media(Media { media_type: media_type.into(), source, name: Some("a".into()) })
}

fn base64() -> MediaSource {
    MediaSource::Base64("aGk=".into())
}

fn shown() -> Message {
    let content = vec![
        Content::text("See:"),
        medium("image/png", base64()),
        medium("image/png", MediaSource::Url("data:image/gif;base64,R0lG".into())),
        medium("image/png", MediaSource::Url("https://example.org/a.png".into())),
        medium("application/pdf", base64()),
        medium("video/mp4", base64()),
    ];
    Message::User(UserMessage { content, ..UserMessage::default() })
}

fn call(arguments: &str, signature: Option<&str>) -> Exchange {
    Exchange::open(ToolCall {
        wire_id: Some("w".into()),
        signature: signature.map(Text::from),
        ..ToolCall::new("a.0", "look", arguments)
    })
}

/// Thoughts, words, three calls and a native item, made by `model`.
fn turn(model: &ModelId) -> Message {
    let reasoning = |text: &str, signature: Option<&str>| {
        Part::Reasoning(Reasoning {
            text: text.into(),
            signature: signature.map(Text::from),
            model: Some(model.clone()),
        })
    };
    let image = medium("image/png", base64());
    let found = ToolResult { content: vec![Content::text("a cat"), image], outcome: ToolOutcome::Success };
    let parts = vec![
        reasoning("Hm.", Some("s1")),
        Part::text("Looking."),
        reasoning("", Some("s2")),
        Part::Exchange(call(r#"{"b": 1.10}"#, Some("s3")).answered(ToolResult::text(r#"{"seen": 1.10}"#))),
        Part::Exchange(call("{\"b\"", None).answered(ToolResult::failed(ToolOutcome::Error, "bad JSON"))),
        Part::Exchange(call("", None).answered(found)),
        Part::Exchange(call("", None)),
        Part::Native(NativeItem {
            model: model.clone(),
            item: Json::parse(r#"{"executableCode":{"code":"1"}}"#).expect("JSON"),
        }),
    ];
    Message::Assistant(AssistantMessage { parts, model: Some(model.clone()), ..AssistantMessage::default() })
}

fn talk(model: &ModelId) -> ChatRequest {
    asking(vec![Message::system("Be brief."), Message::user("Go"), turn(model), Message::user("And?")])
}

fn wishes() -> ChatRequest {
    let tool = |name: &str, parameters: &str| ToolSchema {
        name: name.into(),
        description: "Looks.".into(),
        parameters: Json::parse(parameters).expect("JSON"),
    };
    ChatRequest {
        tools: vec![
            tool("look", r##"{"type":"object","properties":{"z":{"$ref":"#/$defs/z"}},"$defs":{"z":{}}}"##),
            tool("ping", r#"{"type":"object","properties":{},"additionalProperties":false}"#),
        ],
        tool_choice: ToolChoice::Named("look".into()),
        max_output: Some(Tokens(500)),
        temperature: Some(0.5),
        top_p: Some(0.25),
        frequency_penalty: Some(0.5),
        presence_penalty: Some(-0.5),
        seed: Some(7),
        stop: vec!["END".into()],
        reasoning: Some(ReasoningEffort::High),
        response_schema: Some(ResponseSchema {
            name: "plan".into(),
            schema: Json::parse(r#"{"type":"object","b":1.10}"#).expect("JSON"),
        }),
        ..asking(vec![Message::user("Hi")])
    }
}

#[test]
fn google_every_wish() {
    check(
        GOOGLE,
        &wishes(),
        &[Quirk::ThinkingBudget],
        expect![[
            r##"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"look","description":"Looks.","parametersJsonSchema":{"type":"object","properties":{"z":{"$ref":"#/$defs/z"}},"$defs":{"z":{}}}},{"name":"ping","description":"Looks."}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}},"generationConfig":{"temperature":0.5,"topP":0.25,"maxOutputTokens":100,"stopSequences":["END"],"seed":7,"presencePenalty":-0.5,"frequencyPenalty":0.5,"responseMimeType":"application/json","responseJsonSchema":{"type":"object","b":1.10},"thinkingConfig":{"thinkingBudget":24576,"includeThoughts":true}}}"##
        ]],
    );
}

#[test]
fn ollama_every_wish() {
    check(
        OLLAMA,
        &wishes(),
        &[],
        expect![[
            r##"{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{"z":{"$ref":"#/$defs/z"}},"$defs":{"z":{}}}}}],"format":{"type":"object","b":1.10},"think":true,"options":{"num_ctx":16000,"num_predict":100,"temperature":0.5,"top_p":0.25,"frequency_penalty":0.5,"presence_penalty":-0.5,"seed":7,"stop":["END"]},"stream":true}"##
        ]],
    );
}

#[test]
fn google_a_turn_goes_back_to_its_model() {
    check(
        GOOGLE,
        &talk(&own()),
        &[],
        expect![[
            r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[{"thought":true,"text":"Hm.","thoughtSignature":"s1"},{"text":"Looking."},{"text":"","thoughtSignature":"s2"},{"functionCall":{"id":"w","name":"look","args":{"b": 1.10}},"thoughtSignature":"s3"},{"functionCall":{"id":"w","name":"look","args":{"unparsed_arguments":"{\"b\""}}},{"functionCall":{"id":"w","name":"look","args":{}}},{"functionCall":{"id":"w","name":"look","args":{}}},{"executableCode":{"code":"1"}}]},{"role":"user","parts":[{"functionResponse":{"id":"w","name":"look","response":{"seen": 1.10}}},{"functionResponse":{"id":"w","name":"look","response":{"error":"bad JSON"}}},{"functionResponse":{"id":"w","name":"look","response":{"result":"a cat"}}},{"functionResponse":{"id":"w","name":"look","response":{"error":"The call was interrupted before it gave a result."}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},{"role":"user","parts":[{"text":"And?"}]}]}"#
        ]],
    );
}

#[test]
fn google_media_inside_results() {
    check(
        GOOGLE,
        &talk(&own()),
        &[Quirk::MediaInToolResults],
        expect![[
            r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[{"thought":true,"text":"Hm.","thoughtSignature":"s1"},{"text":"Looking."},{"text":"","thoughtSignature":"s2"},{"functionCall":{"id":"w","name":"look","args":{"b": 1.10}},"thoughtSignature":"s3"},{"functionCall":{"id":"w","name":"look","args":{"unparsed_arguments":"{\"b\""}}},{"functionCall":{"id":"w","name":"look","args":{}}},{"functionCall":{"id":"w","name":"look","args":{}}},{"executableCode":{"code":"1"}}]},{"role":"user","parts":[{"functionResponse":{"id":"w","name":"look","response":{"seen": 1.10}}},{"functionResponse":{"id":"w","name":"look","response":{"error":"bad JSON"}}},{"functionResponse":{"id":"w","name":"look","response":{"result":"a cat"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}},{"functionResponse":{"id":"w","name":"look","response":{"error":"The call was interrupted before it gave a result."}}}]},{"role":"user","parts":[{"text":"And?"}]}]}"#
        ]],
    );
}

#[test]
fn google_a_turn_of_another_model() {
    check(
        GOOGLE,
        &talk(&ModelId::new("lab", "n")),
        &[Quirk::ThoughtSignatures],
        expect![[
            r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Go"}]},{"role":"model","parts":[{"text":"Looking."},{"functionCall":{"name":"look","args":{"b": 1.10}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"look","args":{"unparsed_arguments":"{\"b\""}}},{"functionCall":{"name":"look","args":{}}},{"functionCall":{"name":"look","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"seen": 1.10}}},{"functionResponse":{"name":"look","response":{"error":"bad JSON"}}},{"functionResponse":{"name":"look","response":{"result":"a cat"}}},{"functionResponse":{"name":"look","response":{"error":"The call was interrupted before it gave a result."}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},{"role":"user","parts":[{"text":"And?"}]}]}"#
        ]],
    );
}

#[test]
fn ollama_a_turn_goes_back_to_its_model() {
    check(
        OLLAMA,
        &talk(&own()),
        &[],
        expect![[
            r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go"},{"role":"assistant","content":"Looking.","thinking":"Hm.","tool_calls":[{"function":{"name":"look","arguments":{"b": 1.10}}},{"function":{"name":"look","arguments":{"unparsed_arguments":"{\"b\""}}},{"function":{"name":"look","arguments":{}}},{"function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_name":"look","content":"{\"seen\": 1.10}"},{"role":"tool","tool_name":"look","content":"bad JSON"},{"role":"tool","tool_name":"look","content":"a cat","images":["aGk="]},{"role":"tool","tool_name":"look","content":"The call was interrupted before it gave a result."},{"role":"user","content":"And?"}],"options":{"num_ctx":16000},"stream":true}"#
        ]],
    );
}

#[test]
fn ollama_a_turn_of_another_model() {
    check(
        OLLAMA,
        &talk(&ModelId::new("lab", "n")),
        &[],
        expect![[
            r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go"},{"role":"assistant","content":"Looking.","tool_calls":[{"function":{"name":"look","arguments":{"b": 1.10}}},{"function":{"name":"look","arguments":{"unparsed_arguments":"{\"b\""}}},{"function":{"name":"look","arguments":{}}},{"function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_name":"look","content":"{\"seen\": 1.10}"},{"role":"tool","tool_name":"look","content":"bad JSON"},{"role":"tool","tool_name":"look","content":"a cat","images":["aGk="]},{"role":"tool","tool_name":"look","content":"The call was interrupted before it gave a result."},{"role":"user","content":"And?"}],"options":{"num_ctx":16000},"stream":true}"#
        ]],
    );
}

#[test]
fn google_media() {
    check(
        GOOGLE,
        &asking(vec![shown()]),
        &[],
        expect![[
            r#"{"contents":[{"role":"user","parts":[{"text":"See:"},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inlineData":{"mimeType":"image/gif","data":"R0lG"}},{"fileData":{"mimeType":"image/png","fileUri":"https://example.org/a.png"}},{"inlineData":{"mimeType":"application/pdf","data":"aGk="}},{"text":"[video/mp4 a not shown to this model]"}]}]}"#
        ]],
    );
}

#[test]
fn google_media_where_addresses_are_refused() {
    check(
        GOOGLE,
        &asking(vec![shown()]),
        &[Quirk::InlineMedia],
        expect![[
            r#"{"contents":[{"role":"user","parts":[{"text":"See:"},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inlineData":{"mimeType":"image/gif","data":"R0lG"}},{"text":"[image/png a not shown to this model]"},{"inlineData":{"mimeType":"application/pdf","data":"aGk="}},{"text":"[video/mp4 a not shown to this model]"}]}]}"#
        ]],
    );
}

#[test]
fn ollama_media() {
    check(
        OLLAMA,
        &asking(vec![shown()]),
        &[],
        expect![[
            r#"{"model":"m","messages":[{"role":"user","content":"See:\n[image/png a not shown to this model]\n[application/pdf a not shown to this model]\n[video/mp4 a not shown to this model]","images":["aGk=","R0lG"]}],"options":{"num_ctx":16000},"stream":true}"#
        ]],
    );
}

/// A signature of an image is sent with the image: the service looks for it there.
#[test]
fn google_a_signed_image_goes_back_signed() {
    let Content::Media(image) = medium("image/png", base64()) else { panic!("a medium") };
    let signature = Reasoning { text: "".into(), signature: Some("s".into()), model: Some(own()) };
    let parts = vec![Part::Media(image), Part::Reasoning(signature)];
    let message = AssistantMessage { parts, model: Some(own()), ..AssistantMessage::default() };
    let request = asking(vec![Message::user("Draw"), Message::Assistant(message)]);
    let drawing = Abilities { image_output: true, ..Abilities::default() };
    let card = ModelCard { abilities: drawing, ..card() };
    expect![[r#"{"contents":[{"role":"user","parts":[{"text":"Draw"}]},{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"s"}]}],"generationConfig":{"responseModalities":["TEXT","IMAGE"]}}"#]].assert_eq(&written(GOOGLE, &request, &card, &[]).expect("encodable"));
}

#[test]
fn google_the_operator_at_the_head_later_and_alone() {
    let said = |text: &str| Message::system(text);
    check(
        GOOGLE,
        &asking(vec![said("A"), said(""), said("B"), Message::user("Hi"), said("C")]),
        &[],
        expect![[
            r#"{"systemInstruction":{"parts":[{"text":"A"},{"text":"B"}]},"contents":[{"role":"user","parts":[{"text":"Hi"},{"text":"C"}]}]}"#
        ]],
    );
    check(
        GOOGLE,
        &asking(vec![said("A"), Message::user("Hi")]),
        &[Quirk::NoSystemRole],
        expect![[r#"{"contents":[{"role":"user","parts":[{"text":"A"},{"text":"Hi"}]}]}"#]],
    );
    check(
        GOOGLE,
        &asking(vec![said("A")]),
        &[],
        expect![[r#"{"contents":[{"role":"user","parts":[{"text":"A"}]}]}"#]],
    );
}

/// Turns without parts, and turns of one role in a row, are refused or misread.
#[test]
fn google_empty_turns_are_left_out_and_neighbours_are_one() {
    let nothing =
        Message::Assistant(AssistantMessage { parts: vec![Part::text("")], ..AssistantMessage::default() });
    let request = asking(vec![
        Message::user("A"),
        nothing,
        Message::user("B"),
        Message::assistant("C"),
        Message::assistant("D"),
    ]);
    check(
        GOOGLE,
        &request,
        &[],
        expect![[
            r#"{"contents":[{"role":"user","parts":[{"text":"A"},{"text":"B"}]},{"role":"model","parts":[{"text":"C"},{"text":"D"}]}]}"#
        ]],
    );
}

#[test]
fn choices_of_tools() {
    let config = |dialect, tool_choice, strict_tools| {
        let request = ChatRequest { tool_choice, strict_tools, ..wishes() };
        let body = written(dialect, &request, &card(), &[]).expect("encodable");
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        match dialect {
            Dialect::OllamaChat => body["tools"].as_array().map_or(0, Vec::len).into(),
            _ => body["toolConfig"]["functionCallingConfig"].clone(),
        }
    };
    let named = || ToolChoice::Named("look".into());
    assert_eq!(config(GOOGLE, ToolChoice::Auto, false), json!(null));
    assert_eq!(config(GOOGLE, ToolChoice::Auto, true), json!({"mode":"VALIDATED"}));
    assert_eq!(config(GOOGLE, ToolChoice::Required, false), json!({"mode":"ANY"}));
    assert_eq!(config(GOOGLE, ToolChoice::None, false), json!({"mode":"NONE"}));
    assert_eq!(config(GOOGLE, named(), false), json!({"allowedFunctionNames":["look"],"mode":"ANY"}));
    assert_eq!(config(OLLAMA, ToolChoice::Auto, false), json!(2));
    assert_eq!(config(OLLAMA, ToolChoice::None, false), json!(0));
    assert_eq!(config(OLLAMA, named(), false), json!(1));
}

#[test]
fn what_cannot_be_written() {
    for dialect in [GOOGLE, OLLAMA] {
        let fails = |request: ChatRequest| written(dialect, &request, &card(), &[]).expect_err("no form");
        assert_eq!(fails(asking(vec![])), Unencodable::NoMessage);
        let named = ToolChoice::Named("fly".into());
        assert_eq!(
            fails(ChatRequest { tool_choice: named, ..wishes() }),
            Unencodable::ToolNotOffered("fly".into())
        );
        let any = ChatRequest { tool_choice: ToolChoice::Required, tools: vec![], ..wishes() };
        assert_eq!(fails(any), Unencodable::ToolNotOffered("any tool".into()));
        let hot = ChatRequest { temperature: Some(2.5), ..wishes() };
        assert_eq!(fails(hot), Unencodable::Temperature("2.5".into()));
        let blob = MediaSource::Blob { hash: thermidor_types::ContentHash::of(b"x"), length: 1 };
        let content = vec![medium("image/png", blob)];
        let message = Message::User(UserMessage { content, ..UserMessage::default() });
        assert_eq!(fails(asking(vec![message])), Unencodable::UnresolvedBlob("image/png a".into()));
    }
}

/// The server reloads a model whose window changes: only a card that somebody wrote says one.
#[test]
fn ollama_takes_the_window_of_a_written_card() {
    let row = bundled_providers().iter().find(|row| row.name == "ollama-native").expect("a row");
    let options = |card: &ModelCard, provider: &Provider| {
        let request = asking(vec![Message::user("Hi")]);
        let wire = encode(&request, Target { card, provider }).expect("encodable");
        let body: serde_json::Value = serde_json::from_slice(&wire.body).expect("JSON");
        body["options"]["num_ctx"].as_u64()
    };
    let assumed = row.unknown_card("qwen3:4b");
    assert_eq!(options(&assumed, row), None);
    let written = ModelCard { context_window: Tokens(32_768), ..assumed };
    assert_eq!(options(&written, row), Some(32_768));
    let changed = Provider { context_window: Tokens(16_384), ..row.clone() };
    assert_eq!(options(&changed.unknown_card("qwen3:4b"), &changed), Some(16_384));
}

#[test]
fn ollama_thinks_by_a_switch_or_by_steps() {
    let think = |effort, quirks: &[Quirk]| {
        let request = ChatRequest { reasoning: Some(effort), ..asking(vec![Message::user("Hi")]) };
        let body = written(OLLAMA, &request, &card(), quirks).expect("encodable");
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        body["think"].to_string()
    };
    let budget = |tokens| ReasoningEffort::Budget(Tokens(tokens));
    let steps = &[Quirk::ThinkingLevel][..];
    assert_eq!(think(ReasoningEffort::Off, &[]), "false");
    assert_eq!(think(ReasoningEffort::Minimal, &[]), "true");
    assert_eq!(think(budget(0), &[]), "false");
    assert_eq!(think(ReasoningEffort::Off, steps), r#""low""#);
    assert_eq!(think(budget(5000), steps), r#""medium""#);
    assert_eq!(think(ReasoningEffort::Max, steps), r#""high""#);
}

/// The generations of Google's models by the names of their flags.
#[test]
fn each_generation_has_its_flags() {
    let row = bundled_providers().iter().find(|row| row.name == "google").expect("a row");
    let flags = |model: &str| {
        let flags: Vec<_> = row.serving(model).quirks.iter().map(|quirk| format!("{quirk:?}")).collect();
        flags.join(" ")
    };
    let rows = [
        ("gemini-2.0-flash", ""),
        ("gemini-2.5-flash", "ThinkingBudget"),
        ("gemini-2.5-flash-lite", "ThinkingBudget ThinkingFrom512"),
        ("gemini-2.5-pro", "ThinkingBudget ThinkingAlways"),
        ("gemini-3-flash-preview", "ThinkingLevel ThoughtSignatures MediaInToolResults"),
        ("gemini-3.1-pro-preview", "ThinkingLevel ThoughtSignatures MediaInToolResults ThinkingAlways"),
        ("gemma-3-27b-it", "NoSystemRole"),
    ];
    for (model, expected) in rows {
        assert_eq!(flags(model), expected, "{model}");
    }
}

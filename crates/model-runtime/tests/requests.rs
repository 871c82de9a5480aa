//! What is sent, byte for byte.

use expect_test::{Expect, expect};
use thermidor_model_runtime::{
    ChatRequest, Provider, Quirk, Quirks, ResponseSchema, ToolChoice,
    dialect::{Target, Unencodable, WireRequest, encode as encode_for},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, ModelId,
    Part, Reasoning, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema, UserMessage,
};

fn card() -> ModelCard {
    ModelCard::unknown(ModelId::new("test", "m"), Tokens(1000))
}

fn encode(request: &ChatRequest, card: &ModelCard, quirks: &Quirks) -> Result<Vec<u8>, Unencodable> {
    let provider = Provider { quirks: quirks.clone(), ..Provider::new("test", "http://127.0.0.1") };
    let WireRequest { body, .. } = encode_for(request, Target { card, provider: &provider })?;
    Ok(body)
}

fn body(request: &ChatRequest, card: &ModelCard, quirks: &[Quirk]) -> String {
    let bytes = encode(request, card, &Quirks::of(quirks.iter().copied())).expect("encodable");
    String::from_utf8(bytes).expect("text")
}

fn check(request: &ChatRequest, card: &ModelCard, quirks: &[Quirk], expected: Expect) {
    expected.assert_eq(&body(request, card, quirks));
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("Hi")],
        ..ChatRequest::default()
    }
}

fn looked_up() -> AssistantMessage {
    let call = |id: &str, arguments: &str| ToolCall::new(id, "look", arguments);
    AssistantMessage {
        parts: vec![
            Part::Reasoning(Reasoning { text: "I should look.".into(), ..Reasoning::default() }),
            Part::text("Looking."),
            Part::Exchange(Exchange::open(call("a.0", r#"{"b": 1.10}"#)).answered(ToolResult::text("1"))),
            Part::Exchange(
                Exchange::open(call("a.0", "{\"b\""))
                    .answered(ToolResult::failed(ToolOutcome::Error, "bad JSON")),
            ),
            Part::Exchange(Exchange::open(call("b.0", ""))),
        ],
        ..AssistantMessage::default()
    }
}

#[test]
fn a_plain_request() {
    check(
        &hello(),
        &card(),
        &[],
        expect![[
            r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
}

/// Invariants 4 (each call has one result, in order) and 14 (arguments byte for byte); ids are distinct whatever
/// they were.
#[test]
fn calls_are_answered_right_after_their_message() {
    let request = ChatRequest {
        messages: vec![Message::user("Go"), Message::Assistant(looked_up()), Message::user("And?")],
        ..ChatRequest::default()
    };
    check(
        &request,
        &card(),
        &[Quirk::NoStreamOptions],
        expect![[
            r#"{"model":"m","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":"Looking.","tool_calls":[{"id":"call00001","type":"function","function":{"name":"look","arguments":"{\"b\": 1.10}"}},{"id":"call00002","type":"function","function":{"name":"look","arguments":"{\"unparsed_arguments\":\"{\\\"b\\\"\"}"}},{"id":"call00003","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call00001","content":"1"},{"role":"tool","tool_call_id":"call00002","content":"bad JSON"},{"role":"tool","tool_call_id":"call00003","content":"The call was interrupted before it gave a result."},{"role":"user","content":"And?"}],"stream":true}"#
        ]],
    );
}

#[test]
fn tools_choice_schema_and_limits() {
    let tool = ToolSchema {
        name: "look".into(),
        description: "Looks.".into(),
        parameters: Json::parse(r#"{"type":"object","properties":{"z":{},"a":{}}}"#).expect("JSON"),
    };
    let request = ChatRequest {
        tools: vec![tool],
        tool_choice: ToolChoice::Named("look".into()),
        max_output: Some(Tokens(500)),
        temperature: Some(0.7),
        response_schema: Some(ResponseSchema {
            name: "plan".into(),
            schema: Json::parse(r#"{"type":"object"}"#).expect("JSON"),
        }),
        ..hello()
    };
    let small = ModelCard { max_output: Some(Tokens(200)), ..card() };
    check(
        &request,
        &small,
        &[],
        expect![[
            r#"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"tool_choice":{"type":"function","function":{"name":"look"}},"response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":{"type":"object"}}},"max_tokens":200,"temperature":0.7,"stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
    let choice =
        |tool_choice: ToolChoice| body(&ChatRequest { tool_choice, ..request.clone() }, &card(), &[]);
    assert!(choice(ToolChoice::Required).contains(r#""tool_choice":"required""#));
    assert!(choice(ToolChoice::None).contains(r#""tool_choice":"none""#));
    assert!(!choice(ToolChoice::Auto).contains("tool_choice"));
}

/// One row for each quirk that concerns writing: what is there with it, and is not without it.
#[test]
fn each_quirk_changes_one_thing() {
    let thinking = ModelCard { abilities: Abilities { reasoning: true, ..Abilities::default() }, ..card() };
    let silent = AssistantMessage {
        parts: vec![Part::Exchange(Exchange::open(ToolCall::new("a", "f", "{}")))],
        ..AssistantMessage::default()
    };
    let request = ChatRequest {
        messages: vec![
            Message::system("S"),
            Message::user("U"),
            Message::Assistant(looked_up()),
            Message::Assistant(silent),
        ],
        max_output: Some(Tokens(5)),
        temperature: Some(1.5),
        response_schema: Some(ResponseSchema { name: "plan".into(), schema: Json::default() }),
        ..ChatRequest::default()
    };
    let plain = body(&request, &thinking, &[]);
    let rows = [
        (Quirk::MaxCompletionTokens, r#""max_completion_tokens":5"#, r#""max_tokens":5"#),
        (Quirk::NoStreamOptions, r#""stream":true}"#, "stream_options"),
        (
            Quirk::ReasoningContentReplay,
            r#""reasoning_content":"I should look.""#,
            r#""Looking.","tool_calls""#,
        ),
        (Quirk::NoTemperatureWhenReasoning, r#""max_tokens":5,"stream""#, "temperature"),
        (Quirk::TemperatureToOne, r#""temperature":1.0"#, r#""temperature":1.5"#),
        (
            Quirk::JsonObjectOnly,
            r#"{"role":"system","content":"Answer with one JSON object that fits this JSON Schema:\nnull"}"#,
            "json_schema",
        ),
        (
            Quirk::BlankAssistantText,
            r#"{"role":"assistant","content":" ","tool_calls""#,
            r#""content":"","tool_calls""#,
        ),
    ];
    for (quirk, with, without) in rows {
        let changed = body(&request, &thinking, &[quirk]);
        assert!(changed.contains(with) && !plain.contains(with), "{quirk:?}: {changed}");
        assert!(!changed.contains(without) && plain.contains(without), "{quirk:?}: {changed}");
    }
    // A model that reasons wants the field in each of its turns.
    assert!(
        body(&request, &thinking, &[Quirk::ReasoningContentReplay]).contains(r#""reasoning_content":"""#)
    );
}

/// Reasoning of another provider's model is not sent on.
#[test]
fn foreign_reasoning_stays_here() {
    let reasoning =
        Reasoning { text: "secret".into(), model: Some(ModelId::new("other", "m")), signature: None };
    let message =
        AssistantMessage { parts: vec![Part::Reasoning(reasoning), Part::text("t")], ..looked_up() };
    let request = ChatRequest { messages: vec![Message::Assistant(message)], ..ChatRequest::default() };
    assert!(!body(&request, &card(), &[Quirk::ReasoningContentReplay]).contains("secret"));
}

#[test]
fn media_by_ability() {
    let media = |media_type: &str, source| {
        Content::Media(Media { media_type: media_type.into(), source, name: Some("a.png".into()) })
    };
    let request = |content| ChatRequest {
        messages: vec![Message::User(UserMessage { content, ..UserMessage::default() })],
        ..ChatRequest::default()
    };
    let picture = request(vec![
        Content::text("What is this?"),
        media("image/png", MediaSource::Base64("QUJD".into())),
        media("image/png", MediaSource::Url("https://e.org/a.png".into())),
        media("audio/mpeg", MediaSource::Base64("QUJD".into())),
    ]);
    check(
        &picture,
        &card(),
        &[Quirk::NoStreamOptions],
        expect![[
            r#"{"model":"m","messages":[{"role":"user","content":"What is this?\n[image/png a.png not shown to this model]\n[image/png a.png not shown to this model]\n[audio/mpeg a.png not shown to this model]"}],"stream":true}"#
        ]],
    );
    let sees = Abilities { vision: true, audio: true, ..Abilities::default() };
    let sees = ModelCard { abilities: sees, ..card() };
    check(
        &picture,
        &sees,
        &[Quirk::NoStreamOptions],
        expect![[
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"https://e.org/a.png"}},{"type":"input_audio","input_audio":{"data":"QUJD","format":"mp3"}}]}],"stream":true}"#
        ]],
    );
    let blob = MediaSource::Blob { hash: thermidor_types::ContentHash::of(b"ABC"), length: 3 };
    let refused = encode(&request(vec![media("image/png", blob)]), &sees, &Quirks::default());
    assert_eq!(refused, Err(Unencodable::UnresolvedBlob("image/png a.png".into())));
}

/// Invariant 5: what a provider would refuse for its shape does not leave.
#[test]
fn shapes_that_providers_refuse_do_not_leave() {
    let refused = |request: &ChatRequest| encode(request, &card(), &Quirks::default()).expect_err("refused");
    assert_eq!(refused(&ChatRequest::default()), Unencodable::NoMessage);
    let unknown = ChatRequest { tool_choice: ToolChoice::Named("x".into()), ..hello() };
    assert_eq!(refused(&unknown), Unencodable::ToolNotOffered("x".into()));
    for temperature in [f32::NAN, -0.1, 2.1, f32::INFINITY] {
        let request = ChatRequest { temperature: Some(temperature), ..hello() };
        assert_eq!(refused(&request), Unencodable::Temperature(temperature.to_string()));
    }
    let empty = Message::Assistant(AssistantMessage::default());
    let request = ChatRequest { messages: vec![Message::user("a"), empty], ..ChatRequest::default() };
    assert!(!body(&request, &card(), &[]).contains("assistant"));
}

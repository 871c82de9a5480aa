//! What is sent in the format of `POST /responses`, byte for byte.

use expect_test::{Expect, expect};
use thermidor_model_runtime::{
    ChatRequest, Dialect, PromptCache, Provider, Quirk, Quirks, ReasoningEffort, ResponseSchema, ToolChoice,
    dialect::{Target, Unencodable, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, ModelId,
    Part, Tokens, ToolCall, ToolResult, ToolSchema, UserMessage,
};

fn body(request: &ChatRequest, abilities: Abilities, quirks: &[Quirk]) -> Result<String, Unencodable> {
    let card = ModelCard { abilities, ..ModelCard::unknown(ModelId::new("lab", "m"), Tokens(1000)) };
    let quirks = Quirks::of(quirks.iter().copied());
    let lab = Provider::new("lab", "http://127.0.0.1");
    let provider = Provider { dialect: Dialect::OpenaiResponses, quirks, ..lab };
    let wire = encode(request, Target { card: &card, provider: &provider })?;
    assert_eq!(wire.path, "/responses");
    Ok(String::from_utf8(wire.body).expect("text"))
}

fn check(request: &ChatRequest, abilities: Abilities, quirks: &[Quirk], expected: Expect) {
    expected.assert_eq(&body(request, abilities, quirks).expect("encodable"));
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("Hi")],
        ..ChatRequest::default()
    }
}

const REASONS: Abilities = Abilities {
    tools: true,
    vision: false,
    audio: false,
    reasoning: true,
    structured_output: false,
    video: false,
    files: false,
    image_output: false,
};

/// Would fail if a wish were sent where it is refused, or a model that reasons were not asked for what it must be
/// given back.
#[test]
fn wishes() {
    let wishes = ChatRequest {
        temperature: Some(0.5),
        top_p: Some(0.9),
        seed: Some(7),
        frequency_penalty: Some(1.0),
        max_output: Some(Tokens(5)),
        reasoning: Some(ReasoningEffort::Max),
        cache: PromptCache { key: Some("talk".into()), ..PromptCache::default() },
        ..hello()
    };
    check(
        &wishes,
        Abilities::default(),
        &[],
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"system","content":"Be brief."},{"type":"message","role":"user","content":"Hi"}],"reasoning":{"effort":"high"},"max_output_tokens":16,"temperature":0.5,"top_p":0.9,"store":false,"stream":true}"#
        ]],
    );
    let quirks = [
        Quirk::NoTemperatureWhenReasoning,
        Quirk::DeveloperRole,
        Quirk::PromptCacheKey,
        Quirk::EffortXhigh,
        Quirk::ReasoningSummary,
    ];
    check(
        &wishes,
        REASONS,
        &quirks,
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"developer","content":"Be brief."},{"type":"message","role":"user","content":"Hi"}],"reasoning":{"effort":"xhigh","summary":"auto"},"include":["reasoning.encrypted_content"],"max_output_tokens":16,"prompt_cache_key":"talk","store":false,"stream":true}"#
        ]],
    );
    let stop = ChatRequest { stop: vec!["END".into()], ..hello() };
    assert_eq!(body(&stop, REASONS, &[]), Err(Unencodable::NoForm("words that end the answer")));
    assert_eq!(body(&ChatRequest::default(), REASONS, &[]), Err(Unencodable::NoMessage));
    let hot = ChatRequest { top_p: Some(1.5), ..hello() };
    assert!(matches!(body(&hot, REASONS, &[]), Err(Unencodable::OutOfRange(_))));
}

/// A schema that strict mode refuses is never called strict; without the word the API would make it so.
#[test]
fn tools_and_forms() {
    let tool = |name: &str, parameters: &str| ToolSchema {
        name: name.into(),
        description: "Looks.".into(),
        parameters: Json::parse(parameters).expect("JSON"),
    };
    let open = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let request = |strict_tools| ChatRequest {
        tools: vec![tool("open", open), tool("closed", closed)],
        strict_tools,
        parallel_calls: Some(false),
        tool_choice: ToolChoice::Named("open".into()),
        response_schema: Some(ResponseSchema {
            name: "form".into(),
            schema: Json::parse(open).expect("JSON"),
        }),
        ..hello()
    };
    check(
        &request(false),
        Abilities::default(),
        &[],
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"system","content":"Be brief."},{"type":"message","role":"user","content":"Hi"}],"tools":[{"type":"function","name":"open","description":"Looks.","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false},{"type":"function","name":"closed","description":"Looks.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":false}],"tool_choice":{"type":"function","name":"open"},"parallel_tool_calls":false,"text":{"format":{"type":"json_schema","name":"form","schema":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false}},"store":false,"stream":true}"#
        ]],
    );
    check(
        &request(true),
        Abilities::default(),
        &[],
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"system","content":"Be brief."},{"type":"message","role":"user","content":"Hi"}],"tools":[{"type":"function","name":"open","description":"Looks.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},{"type":"function","name":"closed","description":"Looks.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":true}],"tool_choice":{"type":"function","name":"open"},"parallel_tool_calls":false,"text":{"format":{"type":"json_schema","name":"form","schema":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false}},"store":false,"stream":true}"#
        ]],
    );
    let missing = ChatRequest { tool_choice: ToolChoice::Named("x".into()), ..request(true) };
    assert_eq!(body(&missing, REASONS, &[]), Err(Unencodable::ToolNotOffered("x".into())));
}

/// Media go as they are to a model that reads them, in results too, and as a note to any other. A call without a
/// result is answered.
#[test]
fn media_and_results() {
    let media = |media_type: &str, source| {
        Content::Media(Media { media_type: media_type.into(), source, name: Some("a".into()) })
    };
    let data = |media_type: &str| media(media_type, MediaSource::Base64("AAAA".into()));
    let link = |media_type: &str| media(media_type, MediaSource::Url("https://x.example/a".into()));
    let content = vec![
        Content::text("See"),
        data("image/png"),
        link("image/png"),
        data("audio/mpeg"),
        link("audio/mpeg"),
        data("application/pdf"),
        link("application/pdf"),
        data("video/mp4"),
    ];
    let call = |id: &str| Exchange::open(ToolCall::new(id, "look", "{}"));
    let seen = ToolResult { content: vec![Content::text("Here"), data("image/png")], ..ToolResult::text("") };
    let answer = AssistantMessage {
        parts: vec![Part::Exchange(call("a").answered(seen)), Part::Exchange(call("b"))],
        ..AssistantMessage::default()
    };
    let request = ChatRequest {
        messages: vec![
            Message::User(UserMessage { content, ..UserMessage::default() }),
            Message::Assistant(answer),
        ],
        ..ChatRequest::default()
    };
    let all = Abilities { vision: true, audio: true, files: true, video: true, ..Abilities::default() };
    check(
        &request,
        all,
        &[],
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"},{"type":"input_image","image_url":"https://x.example/a","detail":"auto"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},{"type":"input_text","text":"[audio/mpeg a not shown to this model]"},{"type":"input_file","filename":"a","file_data":"data:application/pdf;base64,AAAA"},{"type":"input_file","file_url":"https://x.example/a"},{"type":"input_text","text":"[video/mp4 a not shown to this model]"}]},{"type":"function_call","call_id":"call00001","name":"look","arguments":"{}"},{"type":"function_call","call_id":"call00002","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call00001","output":[{"type":"input_text","text":"Here"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}]},{"type":"function_call_output","call_id":"call00002","output":"The call was interrupted before it gave a result."}],"store":false,"stream":true}"#
        ]],
    );
    check(
        &request,
        Abilities::default(),
        &[],
        expect![[
            r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_text","text":"[image/png a not shown to this model]"},{"type":"input_text","text":"[image/png a not shown to this model]"},{"type":"input_text","text":"[audio/mpeg a not shown to this model]"},{"type":"input_text","text":"[audio/mpeg a not shown to this model]"},{"type":"input_text","text":"[application/pdf a not shown to this model]"},{"type":"input_text","text":"[application/pdf a not shown to this model]"},{"type":"input_text","text":"[video/mp4 a not shown to this model]"}]},{"type":"function_call","call_id":"call00001","name":"look","arguments":"{}"},{"type":"function_call","call_id":"call00002","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call00001","output":[{"type":"input_text","text":"Here"},{"type":"input_text","text":"[image/png a not shown to this model]"}]},{"type":"function_call_output","call_id":"call00002","output":"The call was interrupted before it gave a result."}],"store":false,"stream":true}"#
        ]],
    );
}

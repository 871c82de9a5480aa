//! What the format of `POST /chat/completions` makes of each field and each quirk.

use serde_json::{Value, json};
use thermidor_model_runtime::{
    CacheLifetime, CacheMarks, ChatRequest, PromptCache, Provider, Quirk, Quirks, ReasoningEffort,
    ResponseSchema, ToolChoice,
    dialect::{Target, Unencodable, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, ModelId,
    NativeItem, Part, Reasoning, Tokens, ToolCall, ToolResult, ToolSchema, UserMessage,
};

fn card() -> ModelCard {
    let abilities = Abilities {
        tools: true,
        vision: true,
        audio: true,
        reasoning: true,
        video: true,
        files: true,
        ..Abilities::default()
    };
    ModelCard { abilities, ..ModelCard::unknown(ModelId::new("lab", "m"), Tokens(8000)) }
}

fn written(request: &ChatRequest, quirks: &[Quirk]) -> Result<Value, Unencodable> {
    let provider =
        Provider { quirks: Quirks::of(quirks.iter().copied()), ..Provider::new("lab", "http://127.0.0.1") };
    let wire = encode(request, Target { card: &card(), provider: &provider })?;
    Ok(serde_json::from_slice(&wire.body).expect("a body is JSON"))
}

/// The fields `names` of the body, absent ones left out.
fn fields(request: &ChatRequest, quirks: &[Quirk], names: &[&str]) -> Value {
    let body = written(request, quirks).expect("encodable");
    let there = names.iter().filter_map(|name| Some(((*name).to_owned(), body.get(*name)?.clone())));
    Value::Object(there.collect())
}

fn messages(messages: Vec<Message>, quirks: &[Quirk]) -> Value {
    let request = ChatRequest { messages, ..ChatRequest::default() };
    written(&request, quirks).expect("encodable")["messages"].take()
}

fn ask() -> ChatRequest {
    ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() }
}

fn tool(parameters: &Value) -> ToolSchema {
    ToolSchema {
        name: "look".into(),
        description: "Looks.".into(),
        parameters: Json::of(parameters).expect("JSON"),
    }
}

fn media(media_type: &str, source: MediaSource) -> Media {
    Media { media_type: media_type.into(), source, name: Some("a".into()) }
}

fn data(media_type: &str) -> Media {
    media(media_type, MediaSource::Base64("QUJD".into()))
}

/// One row for each quirk: a wrong one is a request that the provider refuses.
#[test]
fn sampling_as_each_provider_takes_it() {
    const ALL: [&str; 7] =
        ["temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "random_seed", "stop"];
    let request = ChatRequest {
        temperature: Some(2.0),
        top_p: Some(1.0),
        frequency_penalty: Some(0.5),
        presence_penalty: Some(-0.5),
        seed: Some(7),
        stop: vec!["END".into()],
        ..ask()
    };
    let plain = json!({"temperature": 2.0, "top_p": 1.0, "frequency_penalty": 0.5, "presence_penalty": -0.5,
        "seed": 7, "stop": ["END"]});
    assert_eq!(fields(&request, &[], &ALL), plain);
    let nothing = Value::Null;
    let rows = [
        (
            Quirk::FixedSampling,
            json!({"temperature": nothing, "top_p": nothing, "frequency_penalty": nothing, "presence_penalty": nothing}),
        ),
        (
            Quirk::NoTemperatureWhenReasoning,
            json!({"temperature": nothing, "top_p": nothing, "frequency_penalty": nothing, "presence_penalty": nothing}),
        ),
        (Quirk::TemperatureToOne, json!({"temperature": 1.0})),
        (Quirk::TopPInside, json!({"top_p": 0.99})),
        (Quirk::NoPenalties, json!({"frequency_penalty": nothing, "presence_penalty": nothing})),
        (Quirk::OnePenalty, json!({"presence_penalty": nothing})),
        (Quirk::RandomSeed, json!({"seed": nothing, "random_seed": 7})),
    ];
    for (quirk, change) in rows {
        let mut expected = plain.clone();
        let all = expected.as_object_mut().expect("an object");
        for (name, value) in change.as_object().expect("an object") {
            if value.is_null() {
                all.remove(name);
            } else {
                all.insert(name.clone(), value.clone());
            }
        }
        assert_eq!(fields(&request, &[quirk], &ALL), expected, "{quirk:?}");
    }
    let temperature = |figure, quirk| {
        fields(&ChatRequest { temperature: Some(figure), ..ask() }, &[quirk], &["temperature"])
    };
    assert_eq!(temperature(2.0, Quirk::TemperatureBelowTwo), json!({"temperature": 1.99}));
    assert_eq!(temperature(0.0, Quirk::TemperatureAboveZero), json!({"temperature": 0.01}));
    assert_eq!(temperature(0.0, Quirk::NoZeroTemperature), json!({}));
}

#[test]
fn figures_outside_their_range_do_not_leave() {
    let refused = |request: ChatRequest| written(&request, &[]).expect_err("refused").to_string();
    let top_p = refused(ChatRequest { top_p: Some(1.5), ..ask() });
    assert_eq!(top_p, "top_p is 1.5, which is not between 0 and 1");
    let penalty = refused(ChatRequest { presence_penalty: Some(f32::NAN), ..ask() });
    assert_eq!(penalty, "presence_penalty is NaN, which is not between -2 and 2");
}

/// Would fail if prompt and limit together left the window, or the limit had the wrong name.
#[test]
fn the_length_limit_has_the_providers_name_and_fits() {
    const NAMES: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_new_tokens"];
    let request = ChatRequest { max_output: Some(Tokens(6000)), ..ask() };
    let limit = |request: &ChatRequest, quirks: &[Quirk]| fields(request, quirks, &NAMES);
    assert_eq!(limit(&request, &[]), json!({"max_tokens": 6000}));
    assert_eq!(limit(&request, &[Quirk::MaxCompletionTokens]), json!({"max_completion_tokens": 6000}));
    assert_eq!(limit(&request, &[Quirk::MaxNewTokens]), json!({"max_new_tokens": 6000}));
    assert_eq!(limit(&request, &[Quirk::FitMaxTokens]), json!({"max_tokens": 6000}));
    let long = ChatRequest { messages: vec![Message::user("x".repeat(6000))], ..request.clone() };
    assert_eq!(limit(&long, &[Quirk::FitMaxTokens]), json!({"max_tokens": 8000 - 1024 - 2000}));
    let too_long = ChatRequest { messages: vec![Message::user("x".repeat(60_000))], ..request };
    assert_eq!(limit(&too_long, &[Quirk::FitMaxTokens]), json!({"max_tokens": 1}));
}

#[test]
fn tools_are_strict_where_their_schema_is() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": []});
    let strict = |schema: &Value, strict_tools| {
        let request = ChatRequest { tools: vec![tool(schema)], strict_tools, ..ask() };
        written(&request, &[]).expect("encodable")["tools"][0]["function"]["strict"].take()
    };
    assert_eq!(strict(&closed, true), json!(true));
    assert_eq!(strict(&closed, false), Value::Null);
    assert_eq!(strict(&open, true), Value::Null, "the provider would refuse it");
    let form = |schema: &Value| {
        let schema = ResponseSchema { name: "plan".into(), schema: Json::of(schema).expect("JSON") };
        fields(&ChatRequest { response_schema: Some(schema), ..ask() }, &[], &["response_format"])
    };
    let format = |schema: &Value| json!({"response_format": {"type": "json_schema", "json_schema": schema}});
    assert_eq!(form(&closed), format(&json!({"name": "plan", "schema": closed, "strict": true})));
    assert_eq!(form(&open), format(&json!({"name": "plan", "schema": open})));
}

#[test]
fn parallel_calls_streams_and_keys() {
    let parallel = |parallel_calls, tools: Vec<ToolSchema>, quirks: &[Quirk]| {
        let request = ChatRequest { parallel_calls, tools, ..ask() };
        fields(&request, quirks, &["parallel_tool_calls"])
    };
    let tools = || vec![tool(&json!({}))];
    let asks = [Quirk::AsksForParallelCalls];
    assert_eq!(parallel(None, tools(), &[]), json!({}));
    assert_eq!(parallel(Some(false), tools(), &asks), json!({"parallel_tool_calls": false}));
    assert_eq!(parallel(None, tools(), &asks), json!({"parallel_tool_calls": true}));
    assert_eq!(parallel(Some(true), Vec::new(), &asks), json!({}), "without tools it is refused");

    let demand = ChatRequest { tools: tools(), tool_choice: ToolChoice::Required, ..ask() };
    assert_eq!(fields(&demand, &[], &["tool_choice"]), json!({"tool_choice": "required"}));
    assert_eq!(fields(&demand, &[Quirk::RequiredIsAny], &["tool_choice"]), json!({"tool_choice": "any"}));

    let whole = ChatRequest { tools: tools(), ..ask() };
    let streams =
        |request: &ChatRequest| fields(request, &[Quirk::NoStreamWithTools], &["stream", "stream_options"]);
    assert_eq!(streams(&whole), json!({"stream": false}));
    assert_eq!(streams(&ask()), json!({"stream": true, "stream_options": {"include_usage": true}}));

    let cache = PromptCache { key: Some("talk-7".into()), ..PromptCache::default() };
    let request = ChatRequest { cache, reasoning: Some(ReasoningEffort::High), ..ask() };
    let names = ["prompt_cache_key", "reasoning_effort"];
    assert_eq!(fields(&request, &[], &names), json!({}));
    assert_eq!(
        fields(&request, &[Quirk::PromptCacheKey, Quirk::ReasoningEffort], &names),
        json!({"prompt_cache_key": "talk-7", "reasoning_effort": "high"}),
    );
}

#[test]
fn marks_of_the_prompt_cache() {
    let request = |marks, lifetime| ChatRequest {
        messages: vec![
            Message::system("S"),
            Message::user("a"),
            Message::Assistant(answer(vec![call("look", ToolResult::text("seen"), None)])),
            Message::user("b"),
        ],
        cache: PromptCache { marks, lifetime, key: None },
        ..ChatRequest::default()
    };
    let marked = |marks, lifetime| {
        let body = written(&request(marks, lifetime), &[Quirk::CacheControl]).expect("encodable");
        let entries = body["messages"].as_array().expect("messages").clone();
        let place = |(place, entry): (usize, Value)| {
            let mark = entry.pointer("/content/0/cache_control")?;
            Some((place, mark.get("ttl").and_then(Value::as_str).map(str::to_owned)))
        };
        entries.into_iter().enumerate().filter_map(place).collect::<Vec<_>>()
    };
    let hour = Some("1h".to_owned());
    assert_eq!(marked(CacheMarks::Automatic, CacheLifetime::Hour), [(0, hour.clone()), (4, hour)]);
    assert_eq!(marked(CacheMarks::After(vec![2, 9]), CacheLifetime::Minutes), [(3, None)]);
    assert_eq!(marked(CacheMarks::Off, CacheLifetime::Minutes), []);
    let text = written(&request(CacheMarks::Automatic, CacheLifetime::Minutes), &[]).expect("encodable");
    assert!(!text.to_string().contains("cache_control"), "others refuse it");
}

#[test]
fn every_medium_has_its_form() {
    let user = |quirks: &[Quirk], medium: Media| {
        let content = vec![Content::Media(medium)];
        messages(vec![Message::User(UserMessage { content, ..UserMessage::default() })], quirks)[0]["content"]
            .take()
    };
    let pdf = "data:application/pdf;base64,QUJD";
    let there = |media_type| media(media_type, MediaSource::Url("https://e.org/a".into()));
    let rows: Vec<(&[Quirk], Media, Value)> = vec![
        (
            &[],
            data("image/png"),
            json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]),
        ),
        (&[], there("image/png"), json!([{"type": "image_url", "image_url": {"url": "https://e.org/a"}}])),
        (&[Quirk::InlineMedia], there("image/png"), json!("[image/png a not shown to this model]")),
        (
            &[],
            data("audio/x-m4a"),
            json!([{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "m4a"}}]),
        ),
        (
            &[],
            data("audio/x-flac"),
            json!([{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "flac"}}]),
        ),
        (&[], there("audio/wav"), json!("[audio/wav a not shown to this model]")),
        (&[], data("video/mp4"), json!("[video/mp4 a not shown to this model]")),
        (
            &[Quirk::VideoUrl],
            data("video/mp4"),
            json!([{"type": "video_url", "video_url": {"url": "data:video/mp4;base64,QUJD"}}]),
        ),
        (
            &[],
            data("application/pdf"),
            json!([{"type": "file", "file": {"filename": "a", "file_data": pdf}}]),
        ),
        (&[], there("application/pdf"), json!("[application/pdf a not shown to this model]")),
        (
            &[Quirk::DocumentUrl],
            data("application/pdf"),
            json!([{"type": "document_url", "document_url": pdf, "document_name": "a"}]),
        ),
        (
            &[Quirk::DocumentUrl],
            there("application/pdf"),
            json!([{"type": "document_url", "document_url": "https://e.org/a", "document_name": "a"}]),
        ),
    ];
    for (quirks, medium, expected) in rows {
        let named = format!("{quirks:?} {medium:?}");
        assert_eq!(user(quirks, medium), expected, "{named}");
    }
}

fn answer(parts: Vec<Part>) -> AssistantMessage {
    AssistantMessage { parts, model: Some(ModelId::new("lab", "m")), ..AssistantMessage::default() }
}

fn call(name: &str, result: ToolResult, signature: Option<&str>) -> Part {
    let call = ToolCall { signature: signature.map(Into::into), ..ToolCall::new("a", name, "{}") };
    Part::Exchange(Exchange::open(call).answered(result))
}

fn picture_result() -> ToolResult {
    let content = vec![Content::text("taken"), Content::Media(data("image/png"))];
    ToolResult { content, ..ToolResult::text("") }
}

/// A picture in a result reaches the model: inside where the provider takes it there, else right behind.
#[test]
fn pictures_of_tools_reach_the_model() {
    let said = || Message::Assistant(answer(vec![call("snap", picture_result(), None)]));
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}});
    let label = json!({"type": "text", "text": "[image/png a, from the result of call00001]"});
    let behind = messages(vec![Message::user("Go"), said(), Message::user("And?")], &[]);
    assert_eq!(behind[2]["content"], json!("taken\n[image/png a follows below]"));
    let question = json!({"type": "text", "text": "And?"});
    assert_eq!(behind[3], json!({"role": "user", "content": [label, picture, question]}));
    assert_eq!(messages(vec![said()], &[])[2], json!({"role": "user", "content": [label, picture]}));
    let inside = messages(vec![said()], &[Quirk::MediaInToolResults]);
    assert_eq!(inside[1]["content"], json!([{"type": "text", "text": "taken"}, picture]));
    assert_eq!(inside.as_array().map(Vec::len), Some(2));
}

#[test]
fn pictures_of_the_assistant_are_seen_again() {
    let drawn = answer(vec![Part::text("Here:"), Part::Media(data("image/png"))]);
    let replayed = messages(vec![Message::Assistant(drawn), Message::user("Bluer!")], &[]);
    assert_eq!(replayed[0]["content"], json!("Here:\n[image/png a follows below]"));
    assert_eq!(replayed[1]["content"][1]["type"], json!("image_url"));
    assert_eq!(replayed[1]["content"][2]["text"], json!("Bluer!"));
}

/// What is bound to a model goes back to that model alone; thoughts in plain words go to its provider's models.
#[test]
fn what_is_bound_to_a_model_is_dropped_when_the_model_changes() {
    let quirks = [Quirk::ReasoningDetails, Quirk::ThoughtSignatures, Quirk::ReasoningContentReplay];
    let replayed = |provider: &str, model: &str| {
        let model = ModelId::new(provider, model);
        let item = Json::parse(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#);
        let native = NativeItem { model: model.clone(), item: item.expect("JSON") };
        let reasoning = Reasoning { text: "Hm.".into(), signature: None, model: Some(model.clone()) };
        let parts = vec![
            Part::Reasoning(reasoning),
            Part::Native(native),
            Part::text("So."),
            call("look", ToolResult::text("1"), Some("sig")),
        ];
        let message = AssistantMessage { model: Some(model), ..answer(parts) };
        let entry = messages(vec![Message::Assistant(message)], &quirks)[0].take();
        let signature = entry.pointer("/tool_calls/0/extra_content/google/thought_signature").cloned();
        (entry["reasoning_details"].clone(), signature, entry["reasoning_content"].clone())
    };
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    assert_eq!(replayed("lab", "m"), (details, Some(json!("sig")), json!("Hm.")));
    assert_eq!(replayed("lab", "other"), (Value::Null, None, json!("Hm.")));
    assert_eq!(replayed("else", "m"), (Value::Null, None, json!("")));
}

#[test]
fn thoughts_as_blocks_and_roles_by_quirk() {
    let thought = Reasoning { text: "Hm.".into(), ..Reasoning::default() };
    let said = answer(vec![Part::Reasoning(thought), Part::text("So.")]);
    let all = vec![Message::system("S"), Message::Assistant(said)];
    let written = messages(all, &[Quirk::ThinkingBlocks, Quirk::DeveloperRole]);
    assert_eq!(written[0]["role"], json!("developer"));
    let block = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]});
    assert_eq!(written[1]["content"], json!([block, {"type": "text", "text": "So."}]));
}

//! What Anthropic's format makes of each field and each quirk.

use expect_test::{Expect, expect};
use thermidor_model_runtime::{
    CacheLifetime, CacheMarks, ChatRequest, Dialect, PromptCache, Provider, Quirk, Quirks, ReasoningEffort,
    ResponseSchema, ToolChoice,
    dialect::{Target, Unencodable, WireRequest, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, ContentHash, Exchange, Json, Media, MediaSource, Message,
    ModelCard, ModelId, NativeItem, Part, Reasoning, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema,
    UserMessage,
};

fn own() -> ModelId {
    ModelId::new("lab", "m")
}

fn card() -> ModelCard {
    let abilities =
        Abilities { tools: true, vision: true, files: true, reasoning: true, ..Abilities::default() };
    ModelCard { abilities, max_output: Some(Tokens(20_000)), ..ModelCard::unknown(own(), Tokens(100_000)) }
}

fn wire(request: &ChatRequest, card: &ModelCard, quirks: &[Quirk]) -> Result<WireRequest, Unencodable> {
    let quirks = Quirks::of(quirks.iter().copied());
    let provider =
        Provider { dialect: Dialect::AnthropicMessages, quirks, ..Provider::new("lab", "http://127.0.0.1") };
    encode(request, Target { card, provider: &provider })
}

fn body(request: &ChatRequest, card: &ModelCard, quirks: &[Quirk]) -> String {
    String::from_utf8(wire(request, card, quirks).expect("encodable").body).expect("text")
}

/// The body without its frame, one field or turn a line.
#[expect(clippy::needless_pass_by_value, reason = "so that a row reads as one call")]
fn check(request: &ChatRequest, quirks: &[Quirk], expected: Expect) {
    let body = body(request, &card(), quirks);
    let body = body.replace(r#"{"model":"m","#, "").replace(r#","stream":true}"#, "");
    let body = body
        .replace(r#"{"role""#, "\n  {\"role\"")
        .replace("}],\"", "}],\n\"")
        .replace(r#","system""#, ",\n\"system\"");
    expected.assert_eq(&(body + "\n"));
}

/// A request whose prompt is not marked for the cache.
fn plain(messages: Vec<Message>) -> ChatRequest {
    let cache = PromptCache { marks: CacheMarks::Off, ..PromptCache::default() };
    ChatRequest { messages, cache, ..ChatRequest::default() }
}

fn hi() -> ChatRequest {
    plain(vec![Message::user("Hi")])
}

fn said(model: Option<ModelId>, parts: Vec<Part>) -> Message {
    Message::Assistant(AssistantMessage { parts, model, ..AssistantMessage::default() })
}

fn call(name: &str, arguments: &str) -> Exchange {
    Exchange::open(ToolCall { wire_id: Some("toolu_9".into()), ..ToolCall::new("p.0", name, arguments) })
}

fn thought(text: &str, signature: Option<&str>) -> Part {
    Part::Reasoning(Reasoning { text: text.into(), signature: signature.map(Into::into), model: Some(own()) })
}

fn native(item: &str) -> Part {
    Part::Native(NativeItem { model: own(), item: Json::parse(item).expect("JSON") })
}

fn medium(media_type: &str, source: MediaSource) -> Content {
    Content::Media(Media { media_type: media_type.into(), source, name: Some("a".into()) })
}

fn tool(name: &str, schema: &str) -> ToolSchema {
    ToolSchema {
        name: name.into(),
        description: "Does it.".into(),
        parameters: Json::parse(schema).expect("JSON"),
    }
}

#[test]
fn leading_words_of_the_operator_are_the_systems_and_later_ones_the_users() {
    let messages = vec![
        Message::system("Be brief."),
        Message::system("  "),
        Message::system("Be kind."),
        Message::user("Hi"),
        Message::system("Now in French."),
        Message::user(" \n"),
        Message::user("Go"),
        Message::assistant("Oui. \n"),
    ];
    check(
        &plain(messages),
        &[],
        expect![[r#"
        "max_tokens":20000,
        "system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],
        "messages":[
          {"role":"user","content":[{"type":"text","text":"Hi"},{"type":"text","text":"Now in French."},{"type":"text","text":"Go"}]},
          {"role":"assistant","content":[{"type":"text","text":"Oui."}]}]
    "#]],
    );
}

#[test]
fn results_follow_their_calls_in_one_turn_and_words_come_after_them() {
    let result = |outcome, text: &str| ToolResult { content: vec![Content::text(text)], outcome };
    let picture = ToolResult {
        content: vec![Content::text("See"), medium("image/png", MediaSource::Base64("aGk=".into()))],
        outcome: ToolOutcome::Success,
    };
    let messages = vec![
        Message::user("Go"),
        said(
            None,
            vec![
                Part::Exchange(
                    call("f", r#"{"b": 1.10, "a":2}"#).answered(result(ToolOutcome::Success, "1")),
                ),
                Part::text("Two calls:"),
                Part::Exchange(call("g", "{\"cut").answered(result(ToolOutcome::Refused, "no"))),
                Part::Exchange(call("h", "").answered(picture)),
                Part::Exchange(call("i", "[1]")),
                Part::Exchange(call("j", "{}").answered(result(ToolOutcome::Success, ""))),
            ],
        ),
        Message::user("And?"),
    ];
    check(
        &plain(messages),
        &[],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"text","text":"Go"}]},
          {"role":"assistant","content":[{"type":"text","text":"Two calls:"},{"type":"tool_use","id":"call00001","name":"f","input":{"b": 1.10, "a":2}},{"type":"tool_use","id":"call00002","name":"g","input":{"unparsed_arguments":"{\"cut"}},{"type":"tool_use","id":"call00003","name":"h","input":{}},{"type":"tool_use","id":"call00004","name":"i","input":{"unparsed_arguments":"[1]"}},{"type":"tool_use","id":"call00005","name":"j","input":{}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":[{"type":"text","text":"1"}]},{"type":"tool_result","tool_use_id":"call00002","content":[{"type":"text","text":"no"}],
        "is_error":true},{"type":"tool_result","tool_use_id":"call00003","content":[{"type":"text","text":"See"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},{"type":"tool_result","tool_use_id":"call00004","content":[{"type":"text","text":"The call was interrupted before it gave a result."}],
        "is_error":true},{"type":"tool_result","tool_use_id":"call00005"},{"type":"text","text":"And?"}]}]
    "#]],
    );
}

#[test]
fn what_this_model_made_goes_back_unchanged_and_in_order() {
    let messages = vec![
        Message::user("Go"),
        said(
            Some(own()),
            vec![
                native(r#"{"type": "redacted_thinking", "data": "x"}"#),
                thought("Hm", Some("s1")),
                thought("", Some("s2")),
                thought("unsigned", None),
                native(r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}"#),
                native(r#"{"type":"web_search_tool_result","tool_use_id":"srv1","content":[]}"#),
                native(r#"{"type":"server_tool_use","id":"srv2","name":"web_search","input":{}}"#),
                Part::text("Found. "),
                Part::Exchange(Exchange::open(ToolCall {
                    signature: Some(r#"{"type":"code_execution_20250825","tool_id":"srv1"}"#.into()),
                    ..ToolCall::new("p.0", "f", "{}")
                })),
            ],
        ),
        said(Some(own()), vec![thought("nothing but thoughts", Some("s3"))]),
    ];
    check(
        &plain(messages),
        &[],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"text","text":"Go"}]},
          {"role":"assistant","content":[{"type": "redacted_thinking", "data": "x"},{"type":"thinking","thinking":"Hm","signature":"s1"},{"type":"thinking","thinking":"","signature":"s2"},{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srv1","content":[]},{"type":"text","text":"Found. "},{"type":"tool_use","id":"call00001","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srv1"}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":[{"type":"text","text":"The call was interrupted before it gave a result."}],
        "is_error":true}]}]
    "#]],
    );
}

#[test]
fn a_pause_goes_back_as_it_is_when_it_is_the_last_word() {
    let search = || native(r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}"#);
    check(
        &plain(vec![Message::user("Go"), said(Some(own()), vec![Part::text("I look. "), search()])]),
        &[],
        expect![[r#"
            "max_tokens":20000,"messages":[
              {"role":"user","content":[{"type":"text","text":"Go"}]},
              {"role":"assistant","content":[{"type":"text","text":"I look. "},{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}]}]
        "#]],
    );
}

#[test]
fn another_models_thoughts_and_items_are_left_out() {
    let other = ModelId::new("lab", "n");
    let messages = vec![
        Message::user("Go"),
        said(
            Some(other.clone()),
            vec![
                Part::Reasoning(Reasoning {
                    text: "Hm".into(),
                    signature: Some("s".into()),
                    model: Some(other.clone()),
                }),
                Part::Native(NativeItem {
                    model: other,
                    item: Json::parse(r#"{"type":"x"}"#).expect("JSON"),
                }),
                Part::Exchange(call("f", "{}")),
                Part::text("After the call."),
                Part::Media(Media {
                    media_type: "image/png".into(),
                    source: MediaSource::Base64("aGk=".into()),
                    name: None,
                }),
            ],
        ),
    ];
    check(
        &plain(messages),
        &[],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"text","text":"Go"}]},
          {"role":"assistant","content":[{"type":"text","text":"After the call."},{"type":"text","text":"[image/png]"},{"type":"tool_use","id":"call00001","name":"f","input":{}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":[{"type":"text","text":"The call was interrupted before it gave a result."}],
        "is_error":true}]}]
    "#]],
    );
}

#[test]
fn media_have_their_forms_or_become_notes() {
    let url = |url: &str| MediaSource::Url(url.into());
    let content = vec![
        medium("image/png", MediaSource::Base64("aGk=".into())),
        medium("image/webp", url("https://e.org/a.webp")),
        medium("image/tiff", MediaSource::Base64("aGk=".into())),
        medium("application/pdf", MediaSource::Base64("aGk=".into())),
        medium("application/pdf", url("https://e.org/a.pdf")),
        medium("text/markdown", MediaSource::Base64("SMOkIQ==".into())),
        medium("text/plain", MediaSource::Base64("/w==".into())),
        medium("text/plain", url("https://e.org/a.txt")),
        medium("audio/mpeg", MediaSource::Base64("aGk=".into())),
    ];
    let request = plain(vec![Message::User(UserMessage { content, ..UserMessage::default() })]);
    check(
        &request,
        &[],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"image","source":{"type":"url","url":"https://e.org/a.webp"}},{"type":"text","text":"[image/tiff a not shown to this model]"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="},"title":"a"},{"type":"document","source":{"type":"url","url":"https://e.org/a.pdf"},"title":"a"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hä!"},"title":"a"},{"type":"text","text":"[text/plain a not shown to this model]"},{"type":"text","text":"[text/plain a not shown to this model]"},{"type":"text","text":"[audio/mpeg a not shown to this model]"}]}]
    "#]],
    );
    check(
        &request,
        &[Quirk::InlineMedia],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"text","text":"[image/webp a not shown to this model]"},{"type":"text","text":"[image/tiff a not shown to this model]"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="},"title":"a"},{"type":"text","text":"[application/pdf a not shown to this model]"},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hä!"},"title":"a"},{"type":"text","text":"[text/plain a not shown to this model]"},{"type":"text","text":"[text/plain a not shown to this model]"},{"type":"text","text":"[audio/mpeg a not shown to this model]"}]}]
    "#]],
    );
    let blind = ModelCard::unknown(own(), Tokens(100_000));
    assert!(!body(&request, &blind, &[]).contains("source"));
}

#[test]
fn a_file_at_the_provider_needs_a_header() {
    let file = medium("application/pdf", MediaSource::Url("file_011C".into()));
    let message = Message::User(UserMessage { content: vec![file], ..UserMessage::default() });
    let written = wire(&plain(vec![message]), &card(), &[]).expect("encodable");
    let body = String::from_utf8(written.body).expect("text");
    assert!(
        body.contains(r#"{"type":"document","source":{"type":"file","file_id":"file_011C"},"title":"a"}"#),
        "{body}"
    );
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected =
        [header("anthropic-version", "2023-06-01"), header("anthropic-beta", "files-api-2025-04-14")];
    assert_eq!(written.headers, expected);
    assert_eq!(wire(&hi(), &card(), &[]).expect("encodable").headers, expected[..1]);
}

#[test]
fn tools_and_choices() {
    let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let tools = vec![tool("f", closed), tool("g", r#"{"type":"object"}"#)];
    let request = ChatRequest { tools, strict_tools: true, ..hi() };
    check(
        &request,
        &[],
        expect![[r#"
        "max_tokens":20000,"tools":[{"name":"f","description":"Does it.","input_schema":{"type":"object","properties":{},"additionalProperties":false},"strict":true},{"name":"g","description":"Does it.","input_schema":{"type":"object"}}],
        "messages":[
          {"role":"user","content":[{"type":"text","text":"Hi"}]}]
    "#]],
    );
    let choices = [
        (ToolChoice::Auto, None, ""),
        (ToolChoice::Auto, Some(true), ""),
        (ToolChoice::Auto, Some(false), r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#),
        (ToolChoice::Required, None, r#""tool_choice":{"type":"any"}"#),
        (ToolChoice::None, Some(false), r#""tool_choice":{"type":"none"}"#),
        (
            ToolChoice::Named("g".into()),
            Some(false),
            r#""tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true}"#,
        ),
    ];
    for (tool_choice, parallel_calls, expected) in choices {
        let body = body(&ChatRequest { tool_choice, parallel_calls, ..request.clone() }, &card(), &[]);
        if expected.is_empty() {
            assert!(!body.contains("tool_choice"), "{body}");
        }
        assert!(body.contains(expected), "{body}");
    }
    let unknown = ChatRequest { tool_choice: ToolChoice::Named("z".into()), ..request };
    assert_eq!(wire(&unknown, &card(), &[]), Err(Unencodable::ToolNotOffered("z".to_owned())));
}

/// Each wish about thinking, by generation of models.
#[test]
fn thinking_by_generation() {
    use ReasoningEffort::{Budget, High, Low, Max, Medium, Minimal, Off};
    let said = |wish, quirks: &[Quirk]| {
        let body = body(&ChatRequest { reasoning: Some(wish), ..hi() }, &card(), quirks);
        let from = body.find(r#""thinking""#).map(|from| &body[from..]);
        from.map_or_else(|| "-".to_owned(), |rest| rest.replace(r#","stream":true}"#, ""))
    };
    let table = |quirks: &[Quirk]| {
        let wishes = [
            Off,
            Minimal,
            Low,
            Medium,
            High,
            Max,
            Budget(Tokens(0)),
            Budget(Tokens(9)),
            Budget(Tokens(3_000)),
        ];
        wishes.map(|wish| format!("{wish:?}: {}\n", said(wish, quirks))).concat()
    };
    expect![[r#"
        Off: "thinking":{"type":"disabled"}
        Minimal: "thinking":{"type":"enabled","budget_tokens":1024}
        Low: "thinking":{"type":"enabled","budget_tokens":2048}
        Medium: "thinking":{"type":"enabled","budget_tokens":8192}
        High: "thinking":{"type":"enabled","budget_tokens":16384}
        Max: "thinking":{"type":"enabled","budget_tokens":15000}
        Budget(Tokens(0)): "thinking":{"type":"disabled"}
        Budget(Tokens(9)): "thinking":{"type":"enabled","budget_tokens":1024}
        Budget(Tokens(3000)): "thinking":{"type":"enabled","budget_tokens":3000}
    "#]]
    .assert_eq(&table(&[]));
    expect![[r#"
        Off: "thinking":{"type":"disabled"}
        Minimal: "thinking":{"type":"adaptive"},"output_config":{"effort":"low"}
        Low: "thinking":{"type":"adaptive"},"output_config":{"effort":"low"}
        Medium: "thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}
        High: "thinking":{"type":"adaptive"}
        Max: "thinking":{"type":"adaptive"},"output_config":{"effort":"max"}
        Budget(Tokens(0)): "thinking":{"type":"disabled"}
        Budget(Tokens(9)): "thinking":{"type":"enabled","budget_tokens":1024}
        Budget(Tokens(3000)): "thinking":{"type":"enabled","budget_tokens":3000}
    "#]]
    .assert_eq(&table(&[Quirk::AdaptiveThinking, Quirk::ThinkingBudget]));
    expect![[r#"
        Off: -
        Minimal: "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}
        Low: "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}
        Medium: "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"}
        High: "thinking":{"type":"adaptive","display":"summarized"}
        Max: "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"max"}
        Budget(Tokens(0)): "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}
        Budget(Tokens(9)): "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}
        Budget(Tokens(3000)): "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"}
    "#]].assert_eq(&table(&[
        Quirk::AdaptiveThinking,
        Quirk::ThinkingAlways,
        Quirk::ReasoningSummary,
    ]));
}

/// A budget fits into the length, which is never raised.
#[test]
fn the_length_holds_the_budget() {
    let plan = |max_output: Option<u64>, budget| {
        let request = ChatRequest {
            max_output: max_output.map(Tokens),
            reasoning: Some(ReasoningEffort::Budget(Tokens(budget))),
            ..hi()
        };
        let body: serde_json::Value = serde_json::from_str(&body(&request, &card(), &[])).expect("JSON");
        (body["max_tokens"].as_u64(), body["thinking"]["budget_tokens"].as_u64())
    };
    assert_eq!(plan(None, 4_000), (Some(20_000), Some(4_000)));
    assert_eq!(plan(Some(90_000), 4_000), (Some(20_000), Some(4_000)));
    assert_eq!(plan(Some(2_048), 1_500), (Some(2_048), Some(1_500)));
    assert_eq!(plan(Some(4_000), 4_000), (Some(4_000), Some(3_000)));
    assert_eq!(plan(Some(1_200), 5_000), (Some(1_200), Some(1_024)));
    assert_eq!(plan(Some(1_024), 5_000), (Some(1_024), None));

    let usual = |window| {
        let card = ModelCard::unknown(own(), Tokens(window));
        let body: serde_json::Value = serde_json::from_str(&body(&hi(), &card, &[])).expect("JSON");
        body["max_tokens"].as_u64()
    };
    assert_eq!((usual(200_000), usual(8_192)), (Some(8_192), Some(4_096)));
}

/// What the API refuses beside thinking switches it off, or is left out.
#[test]
fn thinking_gives_way() {
    let wish = ChatRequest {
        reasoning: Some(ReasoningEffort::Low),
        temperature: Some(0.5),
        top_p: Some(0.9),
        tools: vec![tool("f", r#"{"type":"object"}"#)],
        ..hi()
    };
    let thinks = |request: &ChatRequest, quirks: &[Quirk]| {
        let body: serde_json::Value = serde_json::from_str(&body(request, &card(), quirks)).expect("JSON");
        let sampled = !body["temperature"].is_null() || !body["top_p"].is_null();
        (body["thinking"]["type"].as_str().map(str::to_owned), sampled)
    };
    let is = |word: &str, sampled| (Some(word.to_owned()), sampled);
    assert_eq!(thinks(&wish, &[]), is("enabled", false));
    assert_eq!(thinks(&wish, &[Quirk::AdaptiveThinking]), is("adaptive", false));
    let forced = ChatRequest { tool_choice: ToolChoice::Required, ..wish.clone() };
    assert_eq!(thinks(&forced, &[]), is("disabled", true));
    assert_eq!(thinks(&forced, &[Quirk::AdaptiveThinking]), is("disabled", true));
    assert_eq!(thinks(&forced, &[Quirk::AdaptiveThinking, Quirk::ThinkingAlways]), (None, true));

    let history = |parts, after: &[Message]| {
        let mut messages = vec![Message::user("Go"), said(Some(own()), parts)];
        messages.extend_from_slice(after);
        ChatRequest { messages, ..wish.clone() }
    };
    let calls = || Part::Exchange(call("f", "{}").answered(ToolResult::text("1")));
    let later = [said(Some(own()), vec![calls()])];
    assert_eq!(thinks(&history(vec![thought("Hm", Some("s")), calls()], &[]), &[]), is("enabled", false));
    assert_eq!(thinks(&history(vec![thought("Hm", Some("s")), calls()], &later), &[]), is("enabled", false));
    assert_eq!(thinks(&history(vec![calls()], &[]), &[]), is("disabled", true));
    assert_eq!(thinks(&history(vec![calls()], &[Message::user("On")]), &[]), is("disabled", true));
    assert_eq!(thinks(&history(vec![calls()], &[]), &[Quirk::AdaptiveThinking]), is("adaptive", false));
    assert_eq!(
        thinks(&history(vec![calls()], &[Message::assistant("Done"), Message::user("On")]), &[]),
        is("enabled", false)
    );
}

#[test]
fn servers_that_want_a_thought_in_every_turn_get_one() {
    let messages = vec![
        Message::user("Go"),
        said(Some(own()), vec![thought("Hm", None), Part::text("A")]),
        Message::user("On"),
        Message::assistant("B"),
        Message::user("On"),
    ];
    check(
        &plain(messages.clone()),
        &[Quirk::ThinkingInEveryTurn],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"text","text":"Go"}]},
          {"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":""},{"type":"text","text":"A"}]},
          {"role":"user","content":[{"type":"text","text":"On"}]},
          {"role":"assistant","content":[{"type":"thinking","thinking":" ","signature":""},{"type":"text","text":"B"}]},
          {"role":"user","content":[{"type":"text","text":"On"}]}]
    "#]],
    );
    let off = ChatRequest { reasoning: Some(ReasoningEffort::Off), ..plain(messages) };
    assert!(!body(&off, &card(), &[Quirk::ThinkingInEveryTurn]).contains(r#""thinking":" ""#));
}

#[test]
fn sampling_and_its_limits() {
    let sampled = |temperature, top_p, quirks: &[Quirk]| {
        let request = ChatRequest { temperature, top_p, ..hi() };
        let body: serde_json::Value = serde_json::from_str(&body(&request, &card(), quirks)).expect("JSON");
        (body["temperature"].as_f64(), body["top_p"].as_f64())
    };
    assert_eq!(sampled(Some(1.5), Some(0.5), &[]), (Some(1.5), Some(0.5)));
    assert_eq!(sampled(Some(1.5), None, &[Quirk::TemperatureToOne]), (Some(1.0), None));
    assert_eq!(sampled(Some(0.5), Some(0.5), &[Quirk::TemperatureOrTopP]), (Some(0.5), None));
    assert_eq!(sampled(None, Some(0.5), &[Quirk::TemperatureOrTopP]), (None, Some(0.5)));
    assert_eq!(sampled(Some(0.5), Some(0.5), &[Quirk::FixedSampling]), (None, None));
    let wrong = |request: ChatRequest| wire(&request, &card(), &[]).expect_err("refused").to_string();
    assert_eq!(
        wrong(ChatRequest { temperature: Some(3.0), ..hi() }),
        "the temperature 3 is not between 0 and 2"
    );
    assert_eq!(wrong(ChatRequest { top_p: Some(1.5), ..hi() }), "top_p is 1.5: set it between 0 and 1");
}

/// A conversation with tools, a system's message and two turns, marked as wished.
#[test]
fn cache_marks() {
    let messages = vec![
        Message::system("One."),
        Message::system("Two."),
        Message::user("Hi"),
        said(Some(own()), vec![Part::text("A"), thought("Hm", Some("s"))]),
        said(Some(own()), vec![Part::Exchange(call("f", "{}").answered(ToolResult::text("1")))]),
        Message::user("On"),
    ];
    let marked = |marks, lifetime| {
        let cache = PromptCache { marks, lifetime, key: None };
        let tools = vec![tool("e", "{}"), tool("f", "{}")];
        let request = ChatRequest { messages: messages.clone(), tools, cache, ..ChatRequest::default() };
        let body = body(&request, &card(), &[]);
        // What stands before each mark.
        let pieces = body.split(r#","cache_control":"#).collect::<Vec<_>>();
        let before = |place: usize| {
            let (piece, mark) = (pieces[place], pieces[place + 1]);
            let from = piece.rfind(r#"{"type":"t"#).or_else(|| piece.rfind(r#"{"name""#)).unwrap_or_default();
            format!("{} {}\n", &piece[from..], &mark[..=mark.find('}').expect("an end")])
        };
        (0..pieces.len() - 1).map(before).collect::<String>()
    };
    expect![[r#"
        {"name":"f","description":"Does it.","input_schema":{} {"type":"ephemeral"}
        {"type":"text","text":"Two." {"type":"ephemeral"}
        {"type":"text","text":"On" {"type":"ephemeral"}
    "#]]
    .assert_eq(&marked(CacheMarks::Automatic, CacheLifetime::Minutes));
    expect![[r#"
        {"name":"f","description":"Does it.","input_schema":{} {"type":"ephemeral","ttl":"1h"}
        {"type":"text","text":"One." {"type":"ephemeral","ttl":"1h"}
        {"type":"text","text":"A" {"type":"ephemeral","ttl":"1h"}
        {"type":"text","text":"1"}] {"type":"ephemeral","ttl":"1h"}
    "#]]
    .assert_eq(&marked(CacheMarks::After(vec![0, 3, 4]), CacheLifetime::Hour));
    expect![[r#"
        {"name":"f","description":"Does it.","input_schema":{} {"type":"ephemeral"}
        {"type":"text","text":"Hi" {"type":"ephemeral"}
        {"type":"text","text":"A" {"type":"ephemeral"}
        {"type":"text","text":"On" {"type":"ephemeral"}
    "#]]
    .assert_eq(&marked(CacheMarks::After(vec![0, 1, 2, 3, 5, 99]), CacheLifetime::Minutes));
    assert_eq!(marked(CacheMarks::Off, CacheLifetime::Minutes), "");
}

#[test]
fn further_fields() {
    let request = ChatRequest {
        stop: vec!["END".into(), " ".into()],
        seed: Some(1),
        frequency_penalty: Some(0.5),
        response_schema: Some(ResponseSchema {
            name: "form".into(),
            schema: Json::parse(r#"{"type":"object"}"#).expect("JSON"),
        }),
        reasoning: Some(ReasoningEffort::Max),
        extra: Some(Json::parse(r#"{"metadata":{"user_id":"u"}}"#).expect("JSON")),
        ..hi()
    };
    check(
        &request,
        &[Quirk::AdaptiveThinking],
        expect![[r#"
        "max_tokens":20000,"messages":[
          {"role":"user","content":[{"type":"text","text":"Hi"}]}],
        "thinking":{"type":"adaptive"},"output_config":{"effort":"max","format":{"type":"json_schema","schema":{"type":"object"}}},"stop_sequences":["END"],"stream":true,"metadata":{"user_id":"u"}}
    "#]],
    );
}

#[test]
fn what_has_no_form_is_refused() {
    let check = |messages, expected: Unencodable| {
        assert_eq!(wire(&plain(messages), &card(), &[]), Err(expected));
    };
    check(vec![], Unencodable::NoMessage);
    check(vec![Message::system("Alone"), Message::user(" ")], Unencodable::NoMessage);
    let blob = MediaSource::Blob { hash: ContentHash::of(b"x"), length: 1 };
    let content = vec![medium("image/png", blob)];
    check(
        vec![Message::User(UserMessage { content, ..UserMessage::default() })],
        Unencodable::UnresolvedBlob("image/png a".to_owned()),
    );
}

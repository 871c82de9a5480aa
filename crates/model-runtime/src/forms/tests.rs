use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures_util::{FutureExt, StreamExt, stream};
use proptest::prelude::*;
use thermidor_types::{
    Abilities, AssistantMessage, Ending, Exchange, Failure, FailureKind, Json, Message, ModelCard, ModelId,
    Part, Reasoning, Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema,
};

use super::{ConstrainedTools, StructuredOutput, spoken::Spoken};
use crate::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, ResponseSchema, StreamEnd, StreamEnding, ToolChoice,
};

/// Answers as it is told, and keeps the request.
struct Scripted {
    card: ModelCard,
    events: Mutex<Vec<ChatEvent>>,
    seen: Mutex<Option<ChatRequest>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        *self.seen.lock().expect("no panic") = Some(request);
        Ok(stream::iter(std::mem::take(&mut *self.events.lock().expect("no panic"))).boxed())
    }
}

const NOTHING: Abilities = Abilities {
    tools: false,
    vision: false,
    audio: false,
    reasoning: false,
    structured_output: false,
    video: false,
    files: false,
    image_output: false,
};
const TOOLS: Abilities = Abilities { tools: true, ..NOTHING };
const SCHEMA: Abilities = Abilities { structured_output: true, ..NOTHING };

/// An answer in these pieces of text.
fn text(pieces: &[&str], ending: StreamEnding) -> Vec<ChatEvent> {
    let parts = vec![Part::text(pieces.concat())];
    ended(pieces.iter().map(|piece| ChatEvent::Text((*piece).into())).collect(), parts, ending)
}

fn ended(mut events: Vec<ChatEvent>, parts: Vec<Part>, ending: StreamEnding) -> Vec<ChatEvent> {
    let shown = match ending {
        StreamEnding::Finished => Ending::Finished,
        StreamEnding::Length => Ending::Length,
        StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Ending::CutOff,
    };
    let message = AssistantMessage { parts, ending: shown, ..AssistantMessage::default() };
    events.push(ChatEvent::Ended(Box::new(StreamEnd::new(message, ending))));
    events
}

fn show(events: &[ChatEvent]) -> String {
    let mut text = String::new();
    for event in events {
        let _ = match event {
            ChatEvent::Text(words) => writeln!(text, "> {words:?}"),
            ChatEvent::Reasoning(words) => writeln!(text, "> thinks {words:?}"),
            ChatEvent::Call { index, name, fragment } => writeln!(text, "> {index} {name} {fragment}"),
            ChatEvent::Media(_) => writeln!(text, "> a medium"),
            ChatEvent::Ended(end) => {
                let _ = writeln!(text, "{:?}, message {:?}", end.ending, end.message.ending);
                for part in &end.message.parts {
                    let _ = match part {
                        Part::Text(words) => writeln!(text, "  text {words:?}"),
                        Part::Exchange(exchange) => {
                            let call = &exchange.call;
                            writeln!(text, "  {} {} {}", call.id, call.name, call.arguments)
                        }
                        other => writeln!(text, "  {other:?}"),
                    };
                }
                for shape in &end.unknown {
                    let _ = writeln!(text, "  note {} x{}: {}", shape.what, shape.count, shape.sample);
                }
                Ok(())
            }
        };
    }
    text
}

/// What is asked of the model, and what comes of its answer.
fn outcome(
    abilities: Abilities,
    request: ChatRequest,
    events: Vec<ChatEvent>,
) -> (ChatRequest, Vec<ChatEvent>) {
    let card = ModelCard { abilities, ..ModelCard::unknown(ModelId::new("test", "m"), Tokens(1_000)) };
    let scripted = Arc::new(Scripted { card, events: Mutex::new(events), seen: Mutex::new(None) });
    let model = ConstrainedTools::new(Arc::new(StructuredOutput::new(scripted.clone())));
    let events = async {
        match model.stream(request).await {
            Ok(stream) => stream.collect().await,
            Err(error) => {
                let failure = StreamEnding::Failed(error.to_failure());
                vec![ChatEvent::Ended(Box::new(StreamEnd::new(AssistantMessage::default(), failure)))]
            }
        }
    };
    let events = events.now_or_never().expect("a scripted model never waits");
    let seen = scripted.seen.lock().expect("no panic").take().unwrap_or_default();
    (seen, events)
}

fn check(abilities: Abilities, request: ChatRequest, events: Vec<ChatEvent>, expected: Expect) {
    expected.assert_eq(&show(&outcome(abilities, request, events).1));
}

fn asked(request: ChatRequest, abilities: Abilities, expected: Expect) {
    let (seen, _) = outcome(abilities, request, text(&[""], StreamEnding::Finished));
    let mut lines = String::new();
    for message in &seen.messages {
        let _ = writeln!(lines, "{:?}: {}", message.role(), message.text());
    }
    for tool in &seen.tools {
        let _ = writeln!(lines, "tool {} {}", tool.name, tool.parameters);
    }
    let schema = seen.response_schema.map(|form| format!("{} {}", form.name, form.schema));
    let last = format!("{:?} {}", seen.tool_choice, schema.unwrap_or_default());
    let _ = writeln!(lines, "{}", last.trim_end());
    expected.assert_eq(&lines);
}

fn json(text: &str) -> Json {
    Json::parse(text).expect("a document")
}

fn with_schema() -> ChatRequest {
    let schema = json(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("How many?")],
        response_schema: Some(ResponseSchema { name: "count".into(), schema }),
        call_prefix: "t1".into(),
        ..ChatRequest::default()
    }
}

fn with_tools() -> ChatRequest {
    let tool = |name: &str, parameters: &str| ToolSchema {
        name: name.into(),
        description: format!("Does {name}.").into(),
        parameters: json(parameters),
    };
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("Add 1 and 2.")],
        tools: vec![
            tool("add", r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#),
            tool("now", "{}"),
        ],
        call_prefix: "t1".into(),
        ..ChatRequest::default()
    }
}

#[test]
fn a_schema_goes_the_surest_way_there_is() {
    asked(
        with_schema(),
        SCHEMA,
        expect![[r#"
        System: Be brief.
        User: How many?
        Auto count {"type":"object","properties":{"n":{"type":"integer"}}}
    "#]],
    );
    asked(
        with_schema(),
        TOOLS,
        expect![[r#"
        System: Be brief.
        User: How many?
        tool count {"type":"object","properties":{"n":{"type":"integer"}}}
        Named("count")
    "#]],
    );
    asked(
        with_schema(),
        NOTHING,
        expect![[r#"
        System: Be brief.
        System: Answer with one JSON object that fits this JSON Schema:
        {"type":"object","properties":{"n":{"type":"integer"}}}
        User: How many?
        Auto
    "#]],
    );
    let list = ResponseSchema { name: "list".into(), schema: json(r#"{"type":"array"}"#) };
    asked(
        ChatRequest { response_schema: Some(list), ..with_schema() },
        TOOLS,
        expect![[r#"
        System: Be brief.
        System: Answer with one JSON object that fits this JSON Schema:
        {"type":"array"}
        User: How many?
        Auto
    "#]],
    );
    asked(
        ChatRequest { response_schema: with_schema().response_schema, ..with_tools() },
        TOOLS,
        expect![[r#"
            System: Be brief.
            System: Answer with one JSON object that fits this JSON Schema:
            {"type":"object","properties":{"n":{"type":"integer"}}}
            User: Add 1 and 2.
            tool add {"type":"object","properties":{"a":{"type":"integer"}}}
            tool now {}
            Auto
        "#]],
    );
}

#[test]
fn the_arguments_of_a_forced_call_are_the_answer() {
    let call = |fragment: &str| ChatEvent::Call { index: 0, name: "count".into(), fragment: fragment.into() };
    let exchange =
        |arguments: &str| Part::Exchange(Exchange::open(ToolCall::new("t1.0", "count", arguments)));
    let thought = Part::Reasoning(Reasoning { text: "hm".into(), ..Reasoning::default() });
    check(
        TOOLS,
        with_schema(),
        ended(
            vec![
                ChatEvent::Reasoning("hm".into()),
                ChatEvent::Text("Here:".into()),
                call(""),
                call("{\"n\""),
                call(":3}"),
            ],
            vec![thought, Part::text("Here:"), exchange("{\"n\":3}")],
            StreamEnding::Finished,
        ),
        expect![[r#"
            > thinks "hm"
            > "{\"n\""
            > ":3}"
            Finished, message Finished
              Reasoning(Reasoning { text: "hm", signature: None, model: None })
              text "{\"n\":3}"
              note words beside the answer x1: Here:
        "#]],
    );
    check(
        TOOLS,
        with_schema(),
        ended(vec![call("")], vec![exchange("{}")], StreamEnding::Finished),
        expect![[r#"
            > "{}"
            Finished, message Finished
              text "{}"
        "#]],
    );
    check(
        TOOLS,
        with_schema(),
        text(&["I can", "not."], StreamEnding::Finished),
        expect![[r#"
        > "I cannot."
        Finished, message Finished
          text "I cannot."
    "#]],
    );
    check(
        TOOLS,
        with_schema(),
        ended(vec![call("{\"n\"")], vec![exchange("{\"n\"")], StreamEnding::Length),
        expect![[r#"
            > "{\"n\""
            Length, message Length
              text "{\"n\""
        "#]],
    );
}

#[test]
fn an_answer_to_words_is_the_json_in_it() {
    check(
        NOTHING,
        with_schema(),
        text(&["``", "`js", "on\n{\"n\":", "3}\n```"], StreamEnding::Finished),
        expect![[r#"
            > "{\"n\":"
            > "3}\n```"
            Finished, message Finished
              text "{\"n\":3}"
              note repairs of an answer x2: bytes 0..8: a code fence was left out; bytes 16..19: a code fence was left out
        "#]],
    );
    check(
        NOTHING,
        with_schema(),
        text(&["{\"n\":3}"], StreamEnding::Finished),
        expect![[r#"
        > "{\"n\":3}"
        Finished, message Finished
          text "{\"n\":3}"
    "#]],
    );
    check(
        NOTHING,
        with_schema(),
        text(&["I cannot."], StreamEnding::Finished),
        expect![[r#"
        > "I cannot."
        Finished, message Finished
          text "I cannot."
    "#]],
    );
    check(
        NOTHING,
        with_schema(),
        text(&["{\"n\":3, \"m\": \"x"], StreamEnding::Length),
        expect![[r#"
        > "{\"n\":3, \"m\": \"x"
        Length, message Length
          text "{\"n\":3, \"m\": \"x"
    "#]],
    );
    check(
        NOTHING,
        with_schema(),
        text(&["``"], StreamEnding::Finished),
        expect![[r#"
        > "``"
        Finished, message Finished
          text "``"
    "#]],
    );
}

#[test]
fn tools_become_a_union() {
    asked(
        with_tools(),
        SCHEMA,
        expect![[r#"
        System: Be brief.
        System: You can use tools. Your whole answer is JSON and nothing else.
        To use a tool: {"tool": "its name", "arguments": {…}}
        To answer: {"answer": …}
        The tools:
        - add: Does add.
          arguments: {"type":"object","properties":{"a":{"type":"integer"}}}
        - now: Does now.
          arguments: {}
        User: Add 1 and 2.
        Auto step {"anyOf":[{"type":"object","properties":{"tool":{"const":"add"},"arguments":{"type":"object","properties":{"a":{"type":"integer"}}}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"now"},"arguments":{}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}]}
    "#]],
    );
    asked(
        ChatRequest { parallel_calls: Some(true), ..with_tools() },
        SCHEMA,
        expect![[r#"
        System: Be brief.
        System: You can use tools. Your whole answer is JSON and nothing else.
        To use tools, one or more: [{"tool": "its name", "arguments": {…}}, …]
        To answer: {"answer": …}
        The tools:
        - add: Does add.
          arguments: {"type":"object","properties":{"a":{"type":"integer"}}}
        - now: Does now.
          arguments: {}
        User: Add 1 and 2.
        Auto step {"anyOf":[{"type":"array","items":{"anyOf":[{"type":"object","properties":{"tool":{"const":"add"},"arguments":{"type":"object","properties":{"a":{"type":"integer"}}}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"now"},"arguments":{}},"required":["tool","arguments"],"additionalProperties":false}]},"minItems":1},{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}]}
    "#]],
    );
    asked(
        ChatRequest { tool_choice: ToolChoice::Required, ..with_tools() },
        SCHEMA,
        expect![[r#"
        System: Be brief.
        System: You can use tools. Your whole answer is JSON and nothing else.
        To use a tool: {"tool": "its name", "arguments": {…}}
        Use a tool now.
        The tools:
        - add: Does add.
          arguments: {"type":"object","properties":{"a":{"type":"integer"}}}
        - now: Does now.
          arguments: {}
        User: Add 1 and 2.
        Auto step {"anyOf":[{"type":"object","properties":{"tool":{"const":"add"},"arguments":{"type":"object","properties":{"a":{"type":"integer"}}}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"now"},"arguments":{}},"required":["tool","arguments"],"additionalProperties":false}]}
    "#]],
    );
    asked(
        ChatRequest { tool_choice: ToolChoice::Named("now".into()), ..with_tools() },
        SCHEMA,
        expect![[r#"
            System: Be brief.
            System: You can use tools. Your whole answer is JSON and nothing else.
            To use a tool: {"tool": "its name", "arguments": {…}}
            Use a tool now.
            The tools:
            - now: Does now.
              arguments: {}
            User: Add 1 and 2.
            Auto step {"type":"object","properties":{"tool":{"const":"now"},"arguments":{}},"required":["tool","arguments"],"additionalProperties":false}
        "#]],
    );
    asked(
        ChatRequest { response_schema: with_schema().response_schema, ..with_tools() },
        NOTHING,
        expect![[r#"
            System: Be brief.
            System: You can use tools. Your whole answer is JSON and nothing else.
            To use a tool: {"tool": "its name", "arguments": {…}}
            To answer: {"answer": …}, where the answer fits this JSON Schema: {"type":"object","properties":{"n":{"type":"integer"}}}
            The tools:
            - add: Does add.
              arguments: {"type":"object","properties":{"a":{"type":"integer"}}}
            - now: Does now.
              arguments: {}
            User: Add 1 and 2.
            Auto
        "#]],
    );
    asked(
        ChatRequest { tool_choice: ToolChoice::None, ..with_tools() },
        SCHEMA,
        expect![[r#"
        System: Be brief.
        User: Add 1 and 2.
        Auto
    "#]],
    );
    asked(
        ChatRequest { response_schema: with_schema().response_schema, ..with_tools() },
        SCHEMA,
        expect![[r#"
            System: Be brief.
            System: You can use tools. Your whole answer is JSON and nothing else.
            To use a tool: {"tool": "its name", "arguments": {…}}
            To answer: {"answer": …}, where the answer fits this JSON Schema: {"type":"object","properties":{"n":{"type":"integer"}}}
            The tools:
            - add: Does add.
              arguments: {"type":"object","properties":{"a":{"type":"integer"}}}
            - now: Does now.
              arguments: {}
            User: Add 1 and 2.
            Auto step {"anyOf":[{"type":"object","properties":{"tool":{"const":"add"},"arguments":{"type":"object","properties":{"a":{"type":"integer"}}}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"now"},"arguments":{}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"answer":{"type":"object","properties":{"n":{"type":"integer"}}}},"required":["answer"],"additionalProperties":false}]}
        "#]],
    );
}

#[test]
fn a_history_of_calls_is_told_in_words() {
    let exchange = |id: &str, arguments: &str| Exchange::open(ToolCall::new(id, "add", arguments));
    let answer = |exchanges: Vec<Exchange>| {
        let parts = exchanges.into_iter().map(Part::Exchange).collect();
        Message::Assistant(AssistantMessage { parts, ..AssistantMessage::default() })
    };
    let messages = vec![
        Message::user("Add."),
        answer(vec![exchange("1", "{\"b\":1, \"a\":2}").answered(ToolResult::text("3"))]),
        answer(vec![
            exchange("2", "{broken").answered(ToolResult::failed(ToolOutcome::Error, "no JSON")),
            exchange("3", "{}"),
        ]),
    ];
    asked(
        ChatRequest { messages, tools: Vec::new(), ..with_tools() },
        SCHEMA,
        expect![[r#"
        User: Add.
        Assistant: {"tool":"add","arguments":{"b":1, "a":2}}
        User: Result of add:
        3
        Assistant: [{"tool":"add","arguments":"{broken"},{"tool":"add","arguments":{}}]
        User: add failed:
        no JSON
        add was interrupted:
        The call was interrupted before it gave a result.
        Auto
    "#]],
    );
}

#[test]
fn answers_and_calls_are_read_out_of_the_text() {
    let finished = |pieces: &[&str]| text(pieces, StreamEnding::Finished);
    check(
        SCHEMA,
        with_tools(),
        finished(&["{\"ans", "wer\": \"It\\", "u00e9 \\ud83d\\ude", "00\\n", "3\"}"]),
        expect![[r#"
            > "It"
            > "é "
            > "😀\n"
            > "3"
            Finished, message Finished
              text "Ité 😀\n3"
        "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["{\"tool\":\"add\",\"argu", "ments\":{\"b\":1.10, \"a\":2}}"]),
        expect![[r#"
            > 0 add {"b":1.10, "a":2}
            Finished, message Finished
              t1.0 add {"b":1.10, "a":2}
        "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["[{\"tool\":\"add\",\"arguments\":{}},{\"tool\":\"now\"}]"]),
        expect![[r#"
            > 0 add {}
            > 1 now {}
            Finished, message Finished
              t1.0 add {}
              t1.1 now {}
        "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["Sure: {'tool': 'add', arguments: {a: 1,}}"]),
        expect![[r#"
        > 0 add {"a": 1}
        Finished, message Finished
          t1.0 add {"a": 1}
          note repairs of an answer x6: bytes 0..5: words around the value were left out; bytes 7..13: other quotes became double quotes; bytes 15..20: other quotes became double quotes; bytes 22..31: missing quotes were put in; bytes 34..35: missing quotes were put in; bytes 38..39: a comma too many was left out
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["Just words."]),
        expect![[r#"
        > "Just words."
        Finished, message Finished
          text "Just words."
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["{\"answer\":{\"n\":1.0}}"]),
        expect![[r#"
        > "{\"n\":1.0}"
        Finished, message Finished
          text "{\"n\":1.0}"
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        finished(&["{\"answer\":\"\"}"]),
        expect![[r#"
        Finished, message Finished
    "#]],
    );
}

/// Would fail if a call ran that its model did not finish.
#[test]
fn a_cut_call_is_no_call() {
    let cut = "{\"tool\":\"sh\",\"arguments\":{\"cmd\":\"rm -rf /tm";
    check(
        SCHEMA,
        with_tools(),
        text(&[cut], StreamEnding::Finished),
        expect![[r#"
        Failed(Failure { kind: Malformed, message: "the model's answer is not in the form asked for" }), message CutOff
          note an answer that broke off x1: {"tool":"sh","arguments":{"cmd":"rm -rf /tm
          note repairs of an answer x1: byte 43: the document was cut off and has been closed
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&[cut], StreamEnding::Length),
        expect![[r#"
        Length, message Length
          note an answer that broke off x1: {"tool":"sh","arguments":{"cmd":"rm -rf /tm
          note repairs of an answer x1: byte 43: the document was cut off and has been closed
    "#]],
    );
    let lost = StreamEnding::CutOff(Failure::new(FailureKind::Network, "gone"));
    check(
        SCHEMA,
        with_tools(),
        text(&[cut], lost),
        expect![[r#"
        CutOff(Failure { kind: Network, message: "gone" }), message CutOff
          note an answer that broke off x1: {"tool":"sh","arguments":{"cmd":"rm -rf /tm
          note repairs of an answer x1: byte 43: the document was cut off and has been closed
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["[{\"tool\":\"now\",\"arguments\":{}},{\"to"], StreamEnding::Length),
        expect![[r#"
            Length, message Length
              note an answer that broke off x1: [{"tool":"now","arguments":{}},{"to
              note repairs of an answer x2: bytes 32..35: a key without a value was left out; byte 35: the document was cut off and has been closed
        "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["{\"tool\":\"now\",\"arguments\":{}}"], StreamEnding::Length),
        expect![[r#"
            > 0 now {}
            Length, message Length
              t1.0 now {}
        "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["{\"answer\":\"It is"], StreamEnding::Length),
        expect![[r#"
        > "It is"
        Length, message Length
          text "It is"
          note repairs of an answer x1: byte 16: the document was cut off and has been closed
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["{\"to"], StreamEnding::Length),
        expect![[r#"
        Length, message Length
          note an answer that broke off x1: {"to
          note repairs of an answer x2: bytes 1..4: a key without a value was left out; byte 4: the document was cut off and has been closed
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["{\"answer\":{\"n\":1"], StreamEnding::Finished),
        expect![[r#"
        Failed(Failure { kind: Malformed, message: "the model's answer is not in the form asked for" }), message CutOff
          note an answer that broke off x1: {"answer":{"n":1
          note repairs of an answer x1: byte 16: the document was cut off and has been closed
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["Take {x"], StreamEnding::Finished),
        expect![[r#"
        > "Take {x"
        Finished, message Finished
          text "Take {x"
    "#]],
    );
    check(
        SCHEMA,
        with_tools(),
        text(&["{\"tool\":1}"], StreamEnding::Finished),
        expect![[r#"
        Failed(Failure { kind: Malformed, message: "the model's answer is not in the form asked for" }), message CutOff
          note an answer that broke off x1: {"tool":1}
    "#]],
    );
}

#[test]
fn what_must_be_called_must_be_offered() {
    let named = ToolChoice::Named("nothing".into());
    check(
        SCHEMA,
        ChatRequest { tool_choice: named, ..with_tools() },
        Vec::new(),
        expect![[r#"
        Failed(Failure { kind: InvalidRequest, message: "test/m: the tool \"nothing\" is to be called but is not offered" }), message Finished
    "#]],
    );
}

#[test]
fn models_that_can_do_it_are_left_alone() {
    let (seen, _) = outcome(TOOLS, with_tools(), text(&["x"], StreamEnding::Finished));
    assert_eq!(seen, with_tools());
}

/// Cuts `whole` at the places that `cuts` names.
fn pieces(whole: &str, cuts: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = cuts
        .iter()
        .map(|cut| whole.floor_char_boundary(cut % (whole.len() + 1)))
        .chain([0, whole.len()])
        .collect();
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| whole[pair[0]..pair[1]].to_owned())
        .filter(|piece| !piece.is_empty())
        .collect()
}

proptest! {
    /// Would fail if what stands in the message depended on how the network cut it.
    #[test]
    fn cuts_change_nothing(
        whole in prop_oneof![
            ".{0,20}".prop_map(|answer| serde_json::json!({ "answer": answer }).to_string()),
            Just(r#"{"answer": "\ud83d\ude00 \u00e9\"\\ \ud83d x"}"#.to_owned()),
            Just(r#"[{"tool":"add","arguments":{"a":1}},{"tool":"now","arguments":{}}]"#.to_owned()),
            Just("```json\n{'tool': 'add'}\n```".to_owned()),
            Just("{\"tool\":\"add\",\"arg".to_owned()),
            "[ -~]{0,20}",
        ],
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        held in any::<bool>(),
    ) {
        let abilities = if held { SCHEMA } else { NOTHING };
        let end = |pieces: &[&str]| {
            let (_, events) = outcome(abilities, with_tools(), text(pieces, StreamEnding::Finished));
            let told: String = events.iter().map(|event| match event {
                ChatEvent::Text(text) => text.to_string(),
                _ => String::new(),
            }).collect();
            (events.last().map(|end| show(std::slice::from_ref(end))), told)
        };
        let pieces = pieces(&whole, &cuts);
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(end(&pieces), end(&[&whole]));
    }

    /// Would fail if an escape were lost or shown half.
    #[test]
    fn the_growing_answer_is_the_answer(answer in ".{0,30}", ascii in any::<bool>(), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let mut whole = serde_json::json!({ "answer": answer }).to_string();
        if ascii {
            let escaped = |unit: u16| format!("\\u{unit:04x}");
            whole = whole.chars().map(|c| if c.is_ascii() { c.to_string() } else {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| escaped(*unit)).collect()
            }).collect();
        }
        let mut spoken = Spoken::default();
        let said: String = pieces(&whole, &cuts).iter().map(|piece| spoken.feed(piece)).collect();
        prop_assert_eq!(said, answer);
    }
}

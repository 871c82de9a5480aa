//! Tools for models that call none.

use expect_test::expect;
use thermidor_types::{
    AssistantMessage, Exchange, Failure, FailureKind, Message, Part, ToolCall, ToolOutcome, ToolResult,
};

use super::stage::{NOTHING, SCHEMA, TOOLS, asked, check, outcome, text, with_schema, with_tools};
use crate::{ChatEvent, ChatRequest, StreamEnding, ToolChoice};

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
        expect![[r"
        System: Be brief.
        User: Add 1 and 2.
        Auto
    "]],
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
        expect![[r"
            > 0 add {}
            > 1 now {}
            Finished, message Finished
              t1.0 add {}
              t1.1 now {}
        "]],
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
        expect![[r"
        Finished, message Finished
    "]],
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
        expect![[r"
            > 0 now {}
            Length, message Length
              t1.0 now {}
        "]],
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

/// Would fail if a tool ran with `{}` because its arguments were left out as they could not be read.
#[test]
fn arguments_without_a_value_are_not_absent_ones() {
    let calls = |answer: &str| {
        let (_, events) = outcome(SCHEMA, with_tools(), text(&[answer], StreamEnding::Finished));
        events.iter().filter(|event| matches!(event, ChatEvent::Call { .. })).count()
    };
    assert_eq!(calls(r#"{"tool":"now"}"#), 1);
    for broken in [r#"{"tool":"now","arguments":}"#, r#"{"tool":"add","arguments":{"a":}}"#] {
        assert_eq!(calls(broken), 0, "{broken}");
    }
}

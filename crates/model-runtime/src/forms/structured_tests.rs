//! A schema for models that take none.

use expect_test::expect;
use thermidor_types::{Exchange, Part, Reasoning, ToolCall};

use super::stage::{NOTHING, SCHEMA, TOOLS, asked, check, ended, json, text, with_schema, with_tools};
use crate::{ChatEvent, ChatRequest, ResponseSchema, StreamEnding};

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

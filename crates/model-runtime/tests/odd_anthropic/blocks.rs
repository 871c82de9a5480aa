//! Thoughts, calls, searches and citations.

use expect_test::expect;

use crate::{START, STOP, TOOLS, check, delta, framed, start, stop, stream, words};

#[test]
fn two_thoughts_in_a_row_stay_two() {
    let thought = |index, text: &str| {
        [
            start(index, r#"{"type":"thinking","thinking":"","signature":""}"#),
            delta(index, &format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#)),
            delta(index, &format!(r#"{{"type":"signature_delta","signature":"s{index}"}}"#)),
            stop(index),
        ]
    };
    check(
        &framed([thought(0, "One"), thought(1, "Two")].concat(), STOP),
        expect![[r#"
        thought "One" signed s0
        thought "Two" signed s1
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn two_thoughts_without_a_stop_between_them_stay_two() {
    let start = |index| start(index, r#"{"type":"thinking","thinking":"Hm"}"#);
    check(
        &framed([start(0), start(1)], STOP),
        expect![[r#"
        thought "Hm"
        thought "Hm"
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn a_thought_without_words_keeps_its_signature() {
    check(
        &framed(
            [
                start(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
                delta(0, r#"{"type":"signature_delta","signature":"abc"}"#),
                delta(0, r#"{"type":"signature_delta","signature":"def"}"#),
                stop(0),
            ],
            STOP,
        ),
        expect![[r#"
            thought "" signed abcdef
            finished; end_turn; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn a_signature_at_the_start_of_a_thought() {
    check(
        &framed([start(0, r#"{"type":"thinking","thinking":"Hm","signature":"sig"}"#), stop(0)], STOP),
        expect![[r#"
            thought "Hm" signed sig
            finished; end_turn; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn hidden_thoughts_are_kept_as_they_are() {
    check(
        &framed([start(0, r#"{"type": "redacted_thinking", "data": "ab=="}"#), stop(0)], STOP),
        expect![[r#"
            native {"type": "redacted_thinking", "data": "ab=="}
            finished; end_turn; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn an_input_at_the_start_counts_when_none_follows() {
    check(
        &framed([start(0, r#"{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}"#), stop(0)], TOOLS),
        expect![[r#"
            call f {"a":1} id t1
            finished; tool_use; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn an_input_at_the_start_gives_way_to_deltas() {
    check(
        &framed(
            [
                start(0, r#"{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":""}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":"{\"b\": "}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":"2}"}"#),
                stop(0),
            ],
            TOOLS,
        ),
        expect![[r#"
            call f {"b": 2} id t1
            finished; tool_use; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn a_call_without_an_input() {
    check(
        &framed([start(0, r#"{"type":"tool_use","id":"t1","name":"now","input":{}}"#), stop(0)], TOOLS),
        expect![[r#"
            call now {} id t1
            finished; tool_use; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn calls_whose_blocks_all_have_one_index() {
    let call = |id: &str| {
        [
            start(0, &format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#)),
            delta(0, &format!(r#"{{"type":"input_json_delta","partial_json":"{{\"id\":\"{id}\"}}"}}"#)),
            stop(0),
        ]
    };
    check(
        &framed([call("a"), call("b")].concat(), TOOLS),
        expect![[r#"
        call f {"id":"a"} id a
        call f {"id":"b"} id b
        finished; tool_use; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn arguments_that_the_length_cut() {
    check(
        &framed(
            [
                start(0, r#"{"type":"tool_use","id":"t1","name":"f","input":{}}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":"{\"text\":\"lo"}"#),
                stop(0),
            ],
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
        ),
        expect![[r#"
            call f {"text":"lo id t1
            length; max_tokens; 5(0) in 9(0) out
        "#]],
    );
}

#[test]
fn a_call_of_a_program_keeps_its_caller() {
    let block = r#"{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}"#;
    check(
        &framed([start(0, block), stop(0)], TOOLS),
        expect![[r#"
        call f {} id t1 signed {"type":"code_execution_20250825","tool_id":"srvtoolu_1"}
        finished; tool_use; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn a_search_by_the_provider_is_kept_and_cited() {
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","url":"https://e.org","title":"E","encrypted_content":"x"}]}"#;
    let citation = r#"{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://e.org","title":"E","cited_text":"is blue","encrypted_index":"y"}}"#;
    let mut events = vec![
        start(0, r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}"#),
        delta(0, r#"{"type":"input_json_delta","partial_json":"{\"query\": "}"#),
        delta(0, r#"{"type":"input_json_delta","partial_json":"\"sky\"}"}"#),
        stop(0),
        start(1, result),
        stop(1),
    ];
    events.extend(words(2, "I read: "));
    events.extend([
        start(3, r#"{"type":"text","text":"","citations":[]}"#),
        delta(3, citation),
        delta(3, r#"{"type":"text_delta","text":"it is blüe"}"#),
        stop(3),
    ]);
    events.extend(words(4, "."));
    check(
        &framed(events, STOP),
        expect![[r#"
        native {"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query": "sky"}}
        native {"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","url":"https://e.org","title":"E","encrypted_content":"x"}]}
        text "I read: it is blüe."
        source Some("https://e.org") Some("E") Some("is blue") for Some("it is blüe")
        finished; end_turn; 5(0) in 9(0) out
    "#]],
    );
}

#[test]
fn a_search_that_breaks_off_is_not_kept() {
    check(
        &stream(&[
            START,
            &start(0, r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}"#),
            &delta(0, r#"{"type":"input_json_delta","partial_json":"{\"query\": "}"#),
        ]),
        expect![[r#"
            cut off: network error: the stream closed before the answer was complete; -; 5(0) in 1(0) out
        "#]],
    );
}

#[test]
fn an_input_of_a_server_side_tool_that_is_no_json() {
    check(
        &framed(
            [
                start(0, r#"{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}"#),
                delta(0, r#"{"type":"input_json_delta","partial_json":"{\"query\": "}"#),
                stop(0),
            ],
            STOP,
        ),
        expect![[r#"
            finished; end_turn; 5(0) in 9(0) out
            ? the input of a server-side tool that is no JSON object x1: "{\"query\": "
        "#]],
    );
}

#[test]
fn every_place_of_a_citation_is_read() {
    let cite = |citation: &str| delta(0, &format!(r#"{{"type":"citations_delta","citation":{citation}}}"#));
    check(
        &framed(
            [
                start(0, r#"{"type":"text","text":""}"#),
                delta(0, r#"{"type":"text_delta","text":"So."}"#),
                cite(
                    r#"{"type":"char_location","cited_text":"a","document_index":0,"document_title":"A","start_char_index":0,"end_char_index":1}"#,
                ),
                cite(
                    r#"{"type":"page_location","cited_text":"b","document_index":0,"document_title":null,"start_page_number":1,"end_page_number":2}"#,
                ),
                cite(
                    r#"{"type":"content_block_location","cited_text":"c","document_title":"C","start_block_index":0,"end_block_index":1}"#,
                ),
                cite(
                    r#"{"type":"search_result_location","cited_text":"d","source":"https://d.org","title":"D","search_result_index":0}"#,
                ),
                cite(r#"{"type":"new_location","somewhere":1}"#),
                stop(0),
            ],
            STOP,
        ),
        expect![[r#"
            text "So."
            source None Some("A") Some("a") for Some("So.")
            source None None Some("b") for Some("So.")
            source None Some("C") Some("c") for Some("So.")
            source Some("https://d.org") Some("D") Some("d") for Some("So.")
            finished; end_turn; 5(0) in 9(0) out
            ? a citation x1: "{\"type\":\"new_location\",\"somewhere\":1}"
        "#]],
    );
}

//! The comparison by meaning itself.

use serde_json::json;

use crate::support::meaning::{Difference, Reason, Report, Rules, differences};

const DEFAULTS: &[(&str, &str)] = &[("/tool_choice", r#""auto""#), ("/messages/*/index", "*")];

/// Would fail if a form that means the same counted as a difference.
#[test]
fn forms_that_mean_the_same_are_equal() {
    let recorded = json!({
        "stream": false, "top_p": 1.0, "stop": [], "user": null, "tool_choice": "auto",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "index": 3},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "x", "function": {"name": "f", "arguments": "{\"a\": 1,\"b\":2}"}},
                {"id": "y", "function": {"name": "g", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "x", "content": "1"},
        ],
    });
    let ours = json!({
        "stream": true, "stream_options": {"include_usage": true}, "top_p": 1,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "tool_calls": [
                {"id": "call00001", "function": {"name": "f", "arguments": "{\"b\":2,\"a\":1}"}},
                {"id": "call00002", "function": {"name": "g", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call00001", "content": "1"},
        ],
    });
    assert_eq!(differences(&recorded, &ours, DEFAULTS), []);
}

/// Would fail if a difference that a provider notices went unseen.
#[test]
fn what_differs_is_named_by_its_place() {
    let calls = |first: &str, second: &str, wanted: &str| json!({"m": [{"id": first, "function": {}}, {"id": second, "function": {}}, {"tool_call_id": wanted}]});
    let places = |recorded, ours| {
        let found = differences(&recorded, &ours, DEFAULTS);
        found.into_iter().map(|difference| difference.pointer).collect::<Vec<_>>()
    };
    assert_eq!(places(calls("a", "b", "a"), calls("c", "d", "d")), ["/m/2/tool_call_id"]);
    assert_eq!(places(json!({"a": [1, 2], "b": 1}), json!({"a": [1], "c": 0})), ["/a/1", "/b", "/c"]);
    assert_eq!(places(json!({"tool_choice": "none"}), json!({})), ["/tool_choice"]);
    let text = differences(&json!({"t": "a"}), &json!({"t": "b"}), &[]);
    assert_eq!(text, [Difference { pointer: "/t".into(), recorded: "a".into(), ours: "b".into() }]);
}

const REASONS: &[Reason] = &[Reason { case: "lab/*#1", pointer: "/a/*", why: "lists are short here" }];

fn report(bodies: &[(&str, &'static [u8])]) -> Report {
    let mut report = Report::new(Rules { defaults: &[], reasons: REASONS });
    for case in 0..30 {
        report.compare("lab", &format!("lab/x/{case}#0"), r#"{"a":[1]}"#, Ok(br#"{"a":[1]}"#));
    }
    for (case, body) in bodies {
        report.compare("lab", case, r#"{"a":[1]}"#, Ok(body));
    }
    report
}

#[test]
fn a_difference_with_a_reason_is_let_pass() {
    report(&[("lab/x/y#1", br#"{"a":[2]}"#)]).finish();
}

#[test]
#[should_panic(expected = "differences without a reason")]
fn a_difference_without_a_reason_is_not() {
    report(&[("lab/x/y#1", br#"{"a":[2]}"#), ("lab/x/y#2", br#"{"a":[2]}"#)]).finish();
}

#[test]
#[should_panic(expected = "a reason for nothing")]
fn a_reason_for_nothing_is_not() {
    report(&[]).finish();
}

#[test]
#[should_panic(expected = "mean the same")]
fn many_differences_are_too_many_whatever_the_reasons() {
    let body: &[u8] = br#"{"a":[2]}"#;
    report(&[("lab/1#1", body), ("lab/2#1", body), ("lab/3#1", body)]).finish();
}

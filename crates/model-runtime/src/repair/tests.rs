use std::fmt::Write as _;

use super::{LONGEST_DOCUMENT, MOST_DEPTH, Unrepairable, repair, repaired::repair_counted};

/// Text in, value and edits out.
fn look(text: &str) -> String {
    match repair(text) {
        Err(error) => error.to_string(),
        Ok(repaired) => {
            let mut line = repaired.value.to_string();
            for edit in &repaired.edits {
                let times = if edit.count > 1 { format!("x{}", edit.count) } else { String::new() };
                let _ = write!(line, " | {:?}{times} {:?}", edit.kind, &text[edit.at.clone()]);
            }
            line
        }
    }
}

fn check(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(text, expected)| look(text) != *expected)
        .map(|(text, expected)| format!("{text}\n  is       {}\n  wanted   {expected}", look(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Would fail if a value that needs no repair were touched: what was approved would not be what runs.
#[test]
fn json_stays_as_it_is() {
    check(&[
        ("{}", "{}"),
        (" \n[1, 2.50,-0e1]\r\n", "[1, 2.50,-0e1]"),
        (r#"{"b":1.10,  "a":[2e0]}"#, r#"{"b":1.10,  "a":[2e0]}"#),
        (r#"{"b":1,"a":2,"b":3}"#, r#"{"b":1,"a":2,"b":3}"#),
        (r#""see {\"a\": 1} and [1]""#, r#""see {\"a\": 1} and [1]""#),
        ("null", "null"),
        ("-12.5E+3", "-12.5E+3"),
        (r#"{"a":"x}, \"b\": 1"}"#, r#"{"a":"x}, \"b\": 1"}"#),
        (
            r#"["\u00e9\ud83d\ude00\/", "// no comment", "/*", "```"]"#,
            r#"["\u00e9\ud83d\ude00\/", "// no comment", "/*", "```"]"#,
        ),
        (r#"{"":{"":[]}}"#, r#"{"":{"":[]}}"#),
        (r#"{"a":"it's","b":"`x`","c":"“y”"}"#, r#"{"a":"it's","b":"`x`","c":"“y”"}"#),
    ]);
}

#[test]
fn the_value_is_found_in_what_stands_around_it() {
    check(&[
        ("\u{feff}{\"a\":1}", "{\"a\":1} | ByteOrderMark \"\\u{feff}\""),
        ("```json\n{\"a\":1}\n```", r#"{"a":1} | Fence "```json\n" | Fence "```""#),
        ("```\n[1]\n```\n", r#"[1] | Fence "```\n" | Fence "```""#),
        ("```json {\"a\":1}```", r#"{"a":1} | Fence "```json " | Fence "```""#),
        ("```json\n42\n```", r#"42 | Fence "```json\n" | Fence "```""#),
        ("```json\n{\"a\":1}", r#"{"a":1} | Fence "```json\n""#),
        (
            "Sure:\n```json\n{\"a\":1}\n```\nHope it helps",
            r#"{"a":1} | Prose "Sure:" | Fence "```json\n" | Fence "```" | Prose "Hope it helps""#,
        ),
        ("Here it is: {\"a\":1}. Fine?", r#"{"a":1} | Prose "Here it is:" | Prose ". Fine?""#),
        ("See [1] and {x}: {\"a\":1}", r#"{"a":1} | Prose "See [1] and {x}:""#),
        ("The numbers are [1, 2].", r#"[1, 2] | Prose "The numbers are" | Prose ".""#),
        ("Use {} for none: [{\"a\":1}]", r#"[{"a":1}] | Prose "Use {} for none:""#),
        ("<tool_call>{\"a\":1}</tool_call>", r#"{"a":1} | Prose "<tool_call>" | Prose "</tool_call>""#),
        ("`{\"a\":1}`", r#"{"a":1} | Prose "`" | Prose "`""#),
        ("\u{a0}{\"a\":1}\u{a0}", r#"{"a":1} | Prose "\u{a0}" | Prose "\u{a0}""#),
        ("{\"a\":1};", r#"{"a":1} | Stray ";""#),
        (
            "```python\nx = 1\n```\n```json\n{\"a\":1}\n```",
            r#"{"a":1} | Prose "```python\nx = 1\n```" | Fence "```json\n" | Fence "```""#,
        ),
        ("// the answer\n{\"a\":1}", r#"{"a":1} | Prose "// the answer""#),
        ("see [text](http://x) {a: 1}", r#"{"a": 1} | Prose "see [text](http://x)" | Unquoted "a""#),
    ]);
}

#[test]
fn of_two_values_the_first_is_kept_and_the_rest_named() {
    check(&[
        ("{\"a\":1}\n{\"b\":2}", r#"{"a":1} | Further "{\"b\":2}""#),
        ("{\"a\":1}{\"b\":2}", r#"{"a":1} | Further "{\"b\":2}""#),
        ("{\"a\":1} or rather {\"b\":2}", r#"{"a":1} | Further "or rather {\"b\":2}""#),
    ]);
}

#[test]
fn quotes_of_any_kind() {
    check(&[
        ("{'a': 'b'}", r#"{"a": "b"} | Quotes "'a'" | Quotes "'b'""#),
        ("{'a': 'it\\'s'}", r#"{"a": "it's"} | Quotes "'a'" | Quotes "'it\\'s'" | Escape "\\""#),
        ("{'a': 'it's'}", r#"{"a": "it's"} | Quotes "'a'" | Quotes "'it's'" | InnerQuote "'""#),
        ("{'a': 'say \"x\"'}", r#"{"a": "say \"x\""} | Quotes "'a'" | Quotes "'say \"x\"'""#),
        ("{“a”: “b”}", r#"{"a": "b"} | Quotes "“a”" | Quotes "“b”""#),
        ("{`a`: `b`}", r#"{"a": "b"} | Quotes "`a`" | Quotes "`b`""#),
        (
            r#"{"a": "He said "hi", then left", "b": 1}"#,
            r#"{"a": "He said \"hi\", then left", "b": 1} | InnerQuotex2 "\"hi\"""#,
        ),
        (r#"{"a": "a "quoted" word"}"#, r#"{"a": "a \"quoted\" word"} | InnerQuotex2 "\"quoted\"""#),
        (r#"["plain", "say "hi" now", "x"]"#, r#"["plain", "say \"hi\" now", "x"] | InnerQuotex2 "\"hi\"""#),
        (
            r#"{"code": "f = "{a}" end", "b": 1}"#,
            r#"{"code": "f = \"{a}\" end", "b": 1} | InnerQuotex2 "\"{a}\"""#,
        ),
        (
            r#"{"a": ""x" and "y"", "b": 1}"#,
            r#"{"a": "\"x\" and \"y\"", "b": 1} | InnerQuotex4 "\"x\" and \"y\"""#,
        ),
        (r#"{"a "b" c": 1}"#, r#"{"a \"b\" c": 1} | InnerQuotex2 "\"b\"""#),
    ]);
}

#[test]
fn control_characters_and_escapes() {
    check(&[
        ("{\"a\": \"x\ny\tz\"}", r#"{"a": "x\ny\tz"} | Controlx2 "\ny\t""#),
        ("[\"\u{1}\u{8}\u{c}\r\"]", r#"["\u0001\b\f\r"] | Controlx4 "\u{1}\u{8}\u{c}\r""#),
        (r#"["\d+", "C:\x"]"#, r#"["\\d+", "C:\\x"] | Escape "\\" | Escape "\\""#),
        (r#"["it\'s"]"#, r#"["it's"] | Escape "\\""#),
        (r#"["\u12g"]"#, r#"["\\u12g"] | Escape "\\""#),
        ("[\"a\\\nb\"]", r#"["a\nb"] | Escape "\\" | Control "\n""#),
    ]);
}

#[test]
fn commas_colons_and_brackets() {
    check(&[
        ("[1, 2,]", r#"[1, 2] | ExtraComma ",""#),
        ("{\"a\":1,\n}", "{\"a\":1\n} | ExtraComma \",\""),
        ("[1,,2]", r#"[1,2] | ExtraComma ",""#),
        ("[,1]", r#"[1] | ExtraComma ",""#),
        ("{,\"a\":1}", r#"{"a":1} | ExtraComma ",""#),
        ("[1 2 3]", r#"[1 ,2 ,3] | MissingComma "" | MissingComma """#),
        (r#"{"a": "x" "b": 1}"#, r#"{"a": "x" ,"b": 1} | MissingComma """#),
        ("{\"a\": 1\n\"b\": 2}", "{\"a\": 1\n,\"b\": 2} | MissingComma \"\""),
        (r#"["a" "b"]"#, r#"["a" ,"b"] | MissingComma """#),
        ("[{}{}]", r#"[{},{}] | MissingComma """#),
        (r#"{"a" 1}"#, r#"{"a" :1} | Colon """#),
        (r#"{"a" = 1, "b" => 2}"#, r#"{"a" : 1, "b" : 2} | Colon "=" | Colon "=>""#),
        (r#"{"a":[1,2}"#, r#"{"a":[1,2]} | Closer """#),
        (r#"[{"a":1, {"b":2}]"#, r#"[{"a":1 },{"b":2}] | ExtraComma "," | Closer "" | MissingComma """#),
        (r#"{"a":1}}"#, r#"{"a":1} | Stray "}""#),
        (r#"{{"a":1}}"#, r#"{"a":1} | Stray "{" | Stray "}""#),
        ("[1]]", r#"[1] | Stray "]""#),
        ("[1, 2, ...]", r#"[1, 2 ] | ExtraComma "," | Stray "...""#),
        ("{\"a\": 1;}", r#"{"a": 1} | Stray ";""#),
    ]);
}

#[test]
fn words_without_quotes() {
    check(&[
        ("{a: 1, b_2: 2}", r#"{"a": 1, "b_2": 2} | Unquoted "a" | Unquoted "b_2""#),
        (
            "{a: John Smith, b: 1}",
            r#"{"a": "John Smith", "b": 1} | Unquoted "a" | Unquoted "John Smith" | Unquoted "b""#,
        ),
        (
            "[True, False, None, NaN, undefined]",
            r#"[true, false, null, null, null] | Literal "True" | Literal "False" | Literal "None" | Literal "NaN" | Literal "undefined""#,
        ),
        ("[-Infinity]", r#"[null] | Literal "-Infinity""#),
        (
            "[+1, .5, 5., -.5]",
            r#"[1, 0.5, 5, -0.5] | Number "+1" | Number ".5" | Number "5." | Number "-.5""#,
        ),
        (
            "[007, 1_000, 0x1F]",
            r#"["007", "1_000", "0x1F"] | Unquoted "007" | Unquoted "1_000" | Unquoted "0x1F""#,
        ),
        ("[2024-01-02, 10:30]", r#"["2024-01-02", "10:30"] | Unquoted "2024-01-02" | Unquoted "10:30""#),
        ("{url: http://x.y/z}", r#"{"url": "http://x.y/z"} | Unquoted "url" | Unquoted "http://x.y/z""#),
        ("{1: 2}", r#"{"1": 2} | Unquoted "1""#),
        ("{名: 值}", r#"{"名": "值"} | Unquoted "名" | Unquoted "值""#),
        ("True", r#"true | Literal "True""#),
    ]);
}

#[test]
fn comments_go() {
    check(&[
        ("{\"a\": 1, // one\n\"b\": 2}", "{\"a\": 1, \n\"b\": 2} | Comment \"// one\""),
        ("{/* x */\"a\": 1}", r#"{"a": 1} | Comment "/* x */""#),
        ("[1, # one\n2]", "[1, \n2] | Comment \"# one\""),
        ("{\"a\": \"x\" // y\n}", "{\"a\": \"x\" \n} | Comment \"// y\""),
    ]);
}

/// Would fail if a cut document looked whole, or if something were invented for what is missing.
#[test]
fn cut_documents_are_closed_and_told_apart() {
    check(&[
        ("{", r#"{} | Closed """#),
        (r#"{"cmd":"rm -rf /tm"#, r#"{"cmd":"rm -rf /tm"} | Closed """#),
        (r#"{"a":1,"b"#, r#"{"a":1} | ExtraComma "," | Valueless "\"b" | Closed """#),
        (r#"{"a":1,"b""#, r#"{"a":1} | ExtraComma "," | Valueless "\"b\"" | Closed """#),
        (r#"{"a":1,"b":"#, r#"{"a":1} | ExtraComma "," | Valueless "\"b\":" | Closed """#),
        (r#"{"a":1,"#, r#"{"a":1} | ExtraComma "," | Closed """#),
        (r#"{"a":[1,{"b":tr"#, r#"{"a":[1,{"b":true}]} | Closed """#),
        (r#"{"a":-"#, r#"{} | Valueless "\"a\":-" | Closed """#),
        ("[1.5, 2.", r#"[1.5, 2] | Closed """#),
        (r#"["a\"#, r#"["a"] | Closed """#),
        (r#"["a\u00"#, r#"["a"] | Closed """#),
        (r#"["a\ud83d"#, r#"["a"] | Closed """#),
        (r#"["a\ud83d\ude"#, r#"["a"] | Closed """#),
        ("[1, /* and", r#"[1 ] | ExtraComma "," | Comment "/* and" | Closed """#),
        ("```json\n{\"a\": [1\n```", "{\"a\": [1\n]} | Fence \"```json\\n\" | Closed \"\" | Fence \"```\""),
        ("\"abc", r#""abc" | Closed """#),
        ("\"say {\\\"a\\\": 1} an", "\"say {\\\"a\\\": 1} an\" | Closed \"\""),
    ]);
}

#[test]
fn what_holds_no_value_is_an_error() {
    check(&[
        ("", "the text holds no JSON value"),
        ("  \n", "the text holds no JSON value"),
        ("I cannot do that.", "the text holds no JSON value"),
        ("```json\n```", "the text holds no JSON value"),
        ("-", "the text holds no JSON value"),
        ("{name} is missing", r#"{} | Unquoted "name" | Valueless "name" | Prose "is missing""#),
    ]);
}

#[test]
fn limits_are_errors() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deepest = repair(&nested(MOST_DEPTH)).expect("as deep as allowed");
    deepest.value.read::<serde_json::Value>().expect("what passes can be read");
    assert_eq!(repair(&nested(MOST_DEPTH + 1)), Err(Unrepairable::TooDeep(MOST_DEPTH)));
    assert_eq!(repair(&"[".repeat(1 << 20)), Err(Unrepairable::TooDeep(MOST_DEPTH)));
    let long = " ".repeat(LONGEST_DOCUMENT + 1);
    assert_eq!(repair(&long), Err(Unrepairable::TooLong(long.len())));
}

/// Counts bytes looked at, not time. Would fail if looking ahead had no bound.
#[test]
fn work_is_linear() {
    let hostile = [
        "\"",
        "'\"",
        "[1 ",
        "{a ",
        "{\"a\":\"b\",",
        "```'",
        "[\"",
        ",",
        "}",
        "\"a\" ",
        "\\",
        "{",
        "[x](y) ",
        "/*",
        "a:",
        "\"},",
    ];
    for piece in hostile {
        for head in ["", "[", "{\"k\":\"", "[\""] {
            let work = |times: usize| repair_counted(&format!("{head}{}", piece.repeat(times))).1;
            let (once, twice) = (work(2_000), work(4_000));
            assert!(twice <= once * 2 + 2_000, "{head}{piece:?}: {once} then {twice}");
        }
    }
}

#[test]
fn edits_read_well() {
    let lines: Vec<String> =
        repair("{'a': \"x\ny\nz\", }").expect("repairable").edits.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "bytes 1..4: other quotes became double quotes",
            "bytes 8..11: a raw control character was escaped, 2 times",
            "bytes 13..14: a comma too many was left out"
        ]
    );
}

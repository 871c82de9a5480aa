//! Inputs to begin with, from the recordings of the model runtime.

use std::{collections::BTreeSet, fs};

use serde::Deserialize;
use serde_json::Value;

use crate::input::{Input, hash};

/// Of longer recordings so many bytes at the beginning and at the end are taken: the middle slows the search down
/// and shows nothing else.
const ENDS: [usize; 2] = [2048, 1024];
const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model-runtime/testdata");

#[derive(Deserialize)]
struct Recording {
    #[serde(default)]
    request: String,
    response: String,
    #[serde(default)]
    status: u16,
    /// Where the request went.
    #[serde(default)]
    path: String,
}

fn recordings(file: &str) -> Vec<Recording> {
    let path = format!("{TESTDATA}/{file}");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("no recordings at {path}: {error}"));
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Whole exchanges of every provider.
fn exchanges() -> Vec<Recording> {
    let folder = format!("{TESTDATA}/recordings");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("no recordings at {folder}: {error}"));
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.into_iter().flat_map(|name| recordings(&format!("recordings/{name}"))).collect()
}

/// A word in a dialect's name, and one in the paths that its requests go to.
const PLACES: [(&str, &str); 4] = [
    ("google", "enerateContent"),
    ("ollama", "/api/chat"),
    ("anthropic", "/messages"),
    ("responses", "/responses"),
];

/// Recorded answers of the dialect of that name, long ones without most of their middle.
pub(crate) fn answers(dialect: &str) -> Vec<Vec<u8>> {
    let place = PLACES.iter().find(|(word, _)| dialect.contains(word));
    let place = place.map_or("chat/completions", |(_, place)| place);
    let all = exchanges().into_iter().filter(|recording| recording.path.contains(place));
    all.map(|recording| shortened(&recording.response).into_bytes()).collect()
}

/// Whole events from the beginning, then whole events to the end.
fn shortened(stream: &str) -> String {
    let [head, tail] = ENDS;
    if stream.len() <= head + tail {
        return stream.to_owned();
    }
    let event_end = |from: usize| {
        let from = stream.floor_char_boundary(from);
        stream[from..].find("\n\n").map(|end| from + end + 2)
    };
    let (Some(head), Some(tail)) = (event_end(head), event_end(stream.len() - tail)) else {
        return stream[..stream.floor_char_boundary(head)].to_owned();
    };
    [&stream[..head], &stream[tail.max(head)..]].concat()
}

/// Recorded refusals behind their status.
pub(crate) fn faults() -> Vec<Vec<u8>> {
    let all = recordings("faults.jsonl").into_iter();
    all.map(|recording| [recording.status.to_be_bytes().as_slice(), recording.response.as_bytes()].concat())
        .collect()
}

/// Every value below `key` in recorded requests, once, as JSON.
fn below(keys: &[&str]) -> Vec<Vec<u8>> {
    fn walk(value: &Value, keys: &[&str], found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if keys.contains(&key.as_str()) {
                        found.insert(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                    }
                    walk(value, keys, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, keys, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = BTreeSet::new();
    for request in exchanges().iter().filter_map(|exchange| serde_json::from_str(&exchange.request).ok()) {
        walk(&request, keys, &mut found);
    }
    found.into_iter().filter(|text| text.len() <= ENDS[0]).map(String::into_bytes).collect()
}

/// Recorded arguments of calls, and what models make of JSON.
pub(crate) fn arguments() -> Vec<Vec<u8>> {
    const WRITTEN: [&str; 8] = [
        "Sure!\n```json\n{'city': \"Oslo\", days: 3,}\n```\nDone.",
        r#"{"cmd":"rm -rf /tm"#,
        "{\"a\": \"one\ntwo\", /* note */ \"b\": None}",
        r#"{"say": "he said "hi" to me", "n": 1.50}"#,
        "[1] As shown: {\"a\":1} {\"b\":2}",
        "{\"a\": [1, 2 3], \"b\" \"c\"}",
        "\u{feff}{a: True, b: NaN, // end\n}",
        r#"{"a":{"b":[{"c":"\ud83e"#,
    ];
    let written = WRITTEN.iter().map(|text| text.as_bytes().to_vec());
    below(&["arguments", "args", "input"]).into_iter().chain(written).collect()
}

/// Recorded schemas of tools and answers.
pub(crate) fn schemas() -> Vec<Vec<u8>> {
    below(&["parameters", "input_schema", "schema", "parametersJsonSchema", "responseJsonSchema"])
}

/// Bytes for targets that make their input from choices.
pub(crate) fn noise() -> Vec<Vec<u8>> {
    (1..=64_u64)
        .map(|seed| {
            let mut input = Input::of_hash(&hash(&seed.to_be_bytes()).to_be_bytes());
            (0..seed * 16).map(|_| input.byte()).collect()
        })
        .collect()
}

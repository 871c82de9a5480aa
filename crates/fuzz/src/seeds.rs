//! Inputs to begin with, from the recordings of the model runtime.

use std::fs;

use serde::Deserialize;

use crate::input::{Input, hash};

/// Longer recordings slow the search down and show nothing that shorter ones do not.
const LONGEST: usize = 16 * 1024;
const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model-runtime/testdata");

#[derive(Deserialize)]
struct Recording {
    response: String,
    #[serde(default)]
    status: u16,
}

fn recordings(file: &str) -> Vec<Recording> {
    let path = format!("{TESTDATA}/{file}.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("no recordings at {path}: {error}"));
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Recorded answers, and the beginnings of long ones.
pub(crate) fn answers() -> Vec<Vec<u8>> {
    let all = ["streams", "answers"].into_iter().flat_map(recordings);
    all.map(|recording| {
        let mut bytes = recording.response.into_bytes();
        bytes.truncate(LONGEST);
        bytes
    })
    .collect()
}

/// Recorded refusals behind their status.
pub(crate) fn faults() -> Vec<Vec<u8>> {
    let all = recordings("faults").into_iter();
    all.map(|recording| [recording.status.to_be_bytes().as_slice(), recording.response.as_bytes()].concat())
        .collect()
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

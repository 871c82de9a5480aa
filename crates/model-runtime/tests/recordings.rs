//! Recorded refusals of all providers are understood.

use serde::Deserialize;
use thermidor_model_runtime::dialect::read_fault;
use thermidor_types::FailureKind;

#[derive(Deserialize)]
struct Recording {
    response: String,
    status: u16,
}

fn recordings(file: &str) -> Vec<Recording> {
    let path = format!("{}/testdata/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    lines.lines().map(|line| serde_json::from_str(line).expect("a recording")).collect()
}

#[test]
fn recorded_refusals_are_understood() {
    let kinds: Vec<_> = recordings("faults")
        .iter()
        .map(|recording| {
            (recording.status, read_fault(Some(recording.status), recording.response.as_bytes()).kind)
        })
        .collect();
    let count = |kind| kinds.iter().filter(|(_, found)| *found == kind).count();
    assert_eq!(count(FailureKind::NotFound), 16, "{kinds:?}");
    assert_eq!(count(FailureKind::ContextTooLong), 2, "{kinds:?}");
    assert_eq!(count(FailureKind::Credentials), 7, "{kinds:?}");
    assert_eq!(count(FailureKind::InvalidRequest), 18, "{kinds:?}");
    assert_eq!(count(FailureKind::Server), 1, "{kinds:?}");
}

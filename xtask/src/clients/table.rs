//! The table for people, which is Markdown.

use std::fmt::Write;

use super::case::{Case, Verdict};

/// The longest cell, in characters.
const WIDEST: usize = 100;

/// The cases as a Markdown table.
pub(crate) fn render(cases: &[Case]) -> String {
    let mut table = String::from("| case | python | ours | equal |\n| --- | --- | --- | --- |\n");
    for case in cases {
        let python = match (&case.raised, case.verdict) {
            (Some(raised), Verdict::Marked | Verdict::Different) => {
                format!("{} {raised}", cell(&case.python.to_string()))
            }
            _ => case.python.to_string(),
        };
        let ours =
            if case.ours == case.python { "the same".to_owned() } else { cell(&case.ours.to_string()) };
        let verdict = match &case.mark {
            Some(mark) => format!("{}: {mark}", case.verdict.words()),
            None => case.verdict.words().to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} | {} | {ours} | {verdict} |", case.name, cell(&python));
    }
    table
}

/// A text that fits into a cell.
fn cell(text: &str) -> String {
    let text = text.replace('|', "¦").replace(['\n', '\r'], " ");
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

//! The client against the model: one check after the other, and a table of them.

use std::fmt;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::server::Server;

/// What came of one check.
#[derive(Debug, PartialEq)]
struct Row {
    check: String,
    passed: bool,
    tokens: u64,
    seconds: String,
}

impl Row {
    /// Reads what a test and its harness printed; `tokens N` is a line of the test's own.
    fn read(check: &str, passed: bool, output: &str) -> Self {
        let tokens = output.lines().filter_map(|line| line.strip_prefix("tokens ")?.parse::<u64>().ok());
        let seconds = output.lines().rev().find_map(|line| line.rsplit_once("finished in "));
        let seconds = seconds.map_or("?", |(_, seconds)| seconds.trim().trim_end_matches('s'));
        // A filter that matches nothing is a success to the harness.
        let ran = output.lines().any(|line| line.starts_with("test result: ok. 1 passed"));
        Self {
            check: check.replace('_', " "),
            passed: passed && ran,
            tokens: tokens.sum(),
            seconds: seconds.to_owned(),
        }
    }
}

struct Table<'a>(&'a [Row]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| check | result | tokens | seconds |\n| --- | --- | ---: | ---: |")?;
        for Row { check, passed, tokens, seconds } in self.0 {
            let result = if *passed { "ok" } else { "FAILED" };
            writeln!(f, "| {check} | {result} | {tokens} | {seconds} |")?;
        }
        Ok(())
    }
}

/// Runs every check against the server and prints the table.
///
/// # Errors
/// When a check failed; all of them run before.
pub(crate) fn check(shell: &Shell, server: &Server) -> Result<()> {
    let test =
        ["test", "--quiet", "-p", "thermidor-model-runtime", "--test", "real_server", "--", "--ignored"];
    let listed = cmd!(shell, "cargo {test...} --list --format terse").read()?;
    let checks: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    ensure!(!checks.is_empty(), "the client has no checks against a real server: {listed}");
    let mut rows = Vec::new();
    for check in checks {
        let output = cmd!(shell, "cargo {test...} --exact {check} --nocapture --test-threads 1")
            .env("THERMIDOR_REAL_SERVER", server.address())
            .quiet()
            .ignore_status()
            .output()?;
        let said = String::from_utf8(output.stdout).context("the tests do not print text")?;
        let row = Row::read(check, output.status.success(), &said);
        if !row.passed {
            eprintln!("{check}:\n{said}{}", String::from_utf8_lossy(&output.stderr));
        }
        rows.push(row);
    }
    println!("\n{}", Table(&rows));
    let failed: Vec<&str> = rows.iter().filter(|row| !row.passed).map(|row| row.check.as_str()).collect();
    ensure!(failed.is_empty(), "{} of {} checks failed: {}", failed.len(), rows.len(), failed.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// Would fail if tokens were not added up, or if a check that did not run counted as passed.
    #[test]
    fn rows_are_read_and_drawn() {
        let ran = "running 1 test\n\ntokens 40\n\ntokens 2\n.\ntest result: ok. 1 passed; 0 failed; finished in 1.25s\n";
        let none = "running 0 tests\ntest result: ok. 0 passed; 0 failed; finished in 0.00s\n";
        let rows = [
            Row::read("a_short_answer", true, ran),
            Row::read("a_short_answer", false, ran),
            Row::read("nothing", true, none),
            Row::read("killed", false, ""),
        ];
        expect![[r"
            | check | result | tokens | seconds |
            | --- | --- | ---: | ---: |
            | a short answer | ok | 42 | 1.25 |
            | a short answer | FAILED | 42 | 1.25 |
            | nothing | FAILED | 0 | 0.00 |
            | killed | FAILED | 0 | ? |
        "]]
        .assert_eq(&Table(&rows).to_string());
    }
}

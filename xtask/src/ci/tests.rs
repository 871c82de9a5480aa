//! The tests, by nextest where it is installed.

use std::{
    io::{self, BufRead, BufReader, IsTerminal, Write},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::report::Verdict;
use crate::workspace::Workspace;

/// Runs every test but those in doc comments.
pub(crate) fn run(shell: &Shell, workspace: &Workspace) -> Result<Verdict> {
    if cmd!(shell, "cargo nextest --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        eprintln!("cargo-nextest is not installed: using `cargo test`, which stops no test that hangs");
        cmd!(shell, "cargo test --quiet --workspace --all-targets").run()?;
        return Ok(Verdict::Passed(Some("by `cargo test`".into())));
    }
    let arguments = ["nextest", "run", "--workspace", "--profile", "ci"];
    eprintln!("$ cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(&workspace.root).stdin(Stdio::null());
    if io::stderr().is_terminal() {
        let status = command.status().context("failed to start cargo")?;
        ensure!(status.success(), "tests failed");
        return Ok(Verdict::Passed(None));
    }
    // In a log the runner's closing line is far from the end: it is said again in the table.
    let mut child = command.stderr(Stdio::piped()).spawn().context("failed to start cargo")?;
    let output = child.stderr.take().context("the test runner has no stderr")?;
    let mut summary = None;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("failed to read what the test runner says")?;
        let text = String::from_utf8_lossy(&line);
        writeln!(io::stderr(), "{text}")?;
        summary = closing_line(&text).or(summary);
    }
    let status = child.wait().context("failed to wait for the test runner")?;
    ensure!(status.success(), "tests failed: {}", summary.as_deref().unwrap_or("no summary"));
    Ok(Verdict::Passed(summary))
}

/// What nextest says at the end, without the time it took.
fn closing_line(line: &str) -> Option<String> {
    let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    Some(counts.trim().to_owned())
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Would fail if the table lost the counts, or took an ordinary line for them.
    #[test]
    fn the_closing_line_is_found() {
        let line = "     Summary [   0.036s] 14 tests run: 14 passed, 0 skipped";
        assert_eq!(closing_line(line).as_deref(), Some("14 tests run: 14 passed, 0 skipped"));
        assert_eq!(closing_line("        PASS [   0.006s] xtask Summary [x] y"), None);
    }
}

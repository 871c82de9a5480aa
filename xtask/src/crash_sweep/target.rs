//! The program that dies on command, as a child process.

use std::{
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

/// `SIGKILL`, by which it dies.
const KILL: i32 = 9;

/// What it prints at the end of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Report {
    /// The appends that this process made.
    pub(crate) appends: u64,
    /// How the run ended.
    pub(crate) status: String,
    /// What it made, stage by stage.
    pub(crate) output: Value,
    /// Pieces of work that were started.
    pub(crate) works: u64,
    /// Starts beyond the first of a piece of work.
    pub(crate) repeated: u64,
    /// Everything that happened more often than it may.
    pub(crate) faults: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) program: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) mock: &'a str,
    pub(crate) team: &'a str,
}

impl Target<'_> {
    /// Starts the run, or takes it up, and goes to its end.
    pub(crate) fn finish(&self) -> Result<Report> {
        let output = self.start(&[])?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "it ended with {}: {said}", output.status);
        let text = String::from_utf8(output.stdout)?;
        serde_json::from_str(&text).with_context(|| format!("it printed no report: {text}"))
    }

    /// Lets it die at an append.
    pub(crate) fn crash(&self, when: &str, at: u64) -> Result<()> {
        let output = self.start(&["--crash", when, "--at", &at.to_string()])?;
        if output.status.signal() != Some(KILL) {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("it did not die {when} append {at}, it ended with {}: {said}", output.status);
        }
        Ok(())
    }

    fn start(&self, crash: &[&str]) -> Result<Output> {
        let mut command = Command::new(self.program);
        command.arg("--folder").arg(self.folder).args(["--mock", self.mock, "--team", self.team]).args(crash);
        command.stdin(Stdio::null()).output().context("failed to start the crash target")
    }
}

//! How long the command takes to start, and to come to the end of its first run.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use super::row::Row;
use crate::mock::Mock;

const TEAM: &str = r#"version = 1
name = "one"
description = "One agent that answers"

[limits]
turns = 2
tokens = 10_000
minutes = 1

[pattern]
kind = "pipeline"

[agents.writer]
name = "Writer"
persona = "You write."

[[stages]]
id = "answer"
agent = "writer"
prompt = "Answer: {{ request }}"
"#;

/// Times `--help`, and a run of one agent against the mock in a fresh home and in one that was used before.
pub(crate) fn measure(program: &Path, mock: &Mock, folder: &Path, quick: bool) -> Result<Vec<Row>> {
    let times = if quick { 5 } else { 25 };
    let room = tempfile::tempdir_in(folder)?;
    let home = |name: &str| -> Result<_> {
        let home = room.path().join(name);
        fs::create_dir_all(&home)?;
        fs::write(home.join("config.toml"), format!("[providers.mock]\nbase_url = \"{}/v1\"\n", mock.url()))?;
        Ok(home)
    };
    fs::write(room.path().join("team.toml"), TEAM)?;
    let run = |home: &Path| {
        let mut command = Command::new(program);
        command.args(["run", "-q", "-t", "./team.toml", "-m", "mock/mock-txt", "Say something"]);
        timed(command.env("THERMIDOR_HOME", home).current_dir(room.path()))
    };
    let used = home("used")?;
    run(&used)?; // what it prints is looked at by the tests; here it must only end well
    let (mut help, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for time in 0..times {
        help.push(timed(Command::new(program).arg("--help").current_dir(room.path()))?);
        first.push(run(&home(&time.to_string())?)?);
        second.push(run(&used)?);
    }
    let how = "one agent from a team file, one model call over HTTP, SQLite journal";
    Ok(vec![
        Row::of("command", "thermidor --help", "ms wall", help).at_most(20.0),
        Row::of("command", "spawn to the end of the first run, fresh home", "ms wall", first)
            .at_most(50.0)
            .how(how),
        Row::of("command", "spawn to the end of a run, home used before", "ms wall", second).how(how),
    ])
}

/// Milliseconds from spawn to exit.
#[expect(clippy::disallowed_methods, reason = "a stopwatch for a process outside")]
fn timed(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("NO_COLOR", "1");
    let start = Instant::now();
    let output = command.output().context("failed to start the command")?;
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the command ended with {}: {said}", output.status);
    Ok(took.as_secs_f64() * 1e3)
}

//! The official Python client on the same mock, for the rows beside ours.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::row::Row;
use crate::{mock::Mock, python};

const SCRIPT: &str = include_str!("stream.py");
const MODEL: &str = "mock-txt-t20000";
const TOKENS: &str = "20000";

#[derive(Deserialize)]
struct Round {
    rate: f64,
    cpu: f64,
}

/// Streams through the client, and adds what it costs to `ours`.
pub(crate) fn measure(python: &Path, mock: &Mock, ours: &[Row], quick: bool) -> Result<Vec<Row>> {
    let (rounds, streams) = if quick { ("2", "1") } else { ("7", "2") };
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, &format!("{}/v1", mock.url()), MODEL, TOKENS, rounds, streams]);
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("failed to start Python")?;
    ensure!(output.status.success(), "the Python client ended with {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let rounds = text.lines().map(serde_json::from_str).collect::<Result<Vec<Round>, _>>()?;
    let rate =
        Row::of("client", "Python client", "tokens/s", rounds.iter().map(|round| round.rate).collect());
    let cpu =
        Row::of("client", "Python client", "µs CPU a token", rounds.iter().map(|round| round.cpu).collect());
    let rate = rate.how(format!(
        "{}, {streams} answers of 20,000 one-token events a sample, every chunk an object",
        python::CLIENT
    ));
    let median = |what: &str, unit: &str| {
        let row = ours.iter().find(|row| row.what == what && row.unit == unit);
        row.map(|row| row.median).with_context(|| format!("no row for {what}"))
    };
    let faster = median("model runtime", "tokens/s")? / rate.median;
    let cheaper = cpu.median / median("model runtime", "µs CPU a token")?;
    let ratios = [
        ("tokens per second, ours against Python's", faster),
        ("CPU a token, Python's against ours", cheaper),
    ];
    let ratios = ratios.map(|(what, ratio)| Row::of("client", what, "×", vec![ratio]).how("of the medians"));
    Ok([rate, cpu].into_iter().chain(ratios).collect())
}

//! The list of figures, and the run through it.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use xshell::Shell;

use super::{build, command, machine::Machine, python_client, row::Row, table};
use crate::{artifacts::Artifacts, flags, mock::Mock, python, workspace::Workspace};

/// Those that the bench program measures, each in a process of its own.
const FIGURES: [&str; 12] = [
    "model-call",
    CLIENT,
    "decode",
    "deltas",
    "journal",
    "steps",
    "throughput",
    "thousand",
    "memory-floor",
    "memory",
    "budget",
    "company",
];
/// The one that another client stands beside.
const CLIENT: &str = "client";
const COMMAND: &str = "command";
const BUILD: &str = "build";

const PROGRAMS: [&str; 13] = [
    "--release",
    "-p",
    "thermidor-cli",
    "-p",
    "thermidor-runs",
    "-p",
    "thermidor-testing",
    "--bin",
    "thermidor",
    "--bin",
    "mock-provider",
    "--bench",
    "house",
];

/// Everything that was measured, as it is written to the file.
#[derive(Serialize)]
struct Measured<'a> {
    machine: &'a Machine,
    quick: bool,
    rows: &'a [Row],
}

/// Measures, prints the table, and writes the file.
pub(crate) fn run(workspace: &Workspace, options: &flags::Bench) -> Result<()> {
    let names: Vec<&str> = FIGURES.into_iter().chain([COMMAND, BUILD]).collect();
    let chosen: Vec<&str> = match &options.only {
        None => names.clone(),
        Some(only) => names.iter().copied().filter(|name| name == only).collect(),
    };
    ensure!(!chosen.is_empty(), "there is no such figure; there are {}", names.join(", "));
    let programs = Artifacts::build(workspace, &PROGRAMS)?;
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let python = options.python.then(|| python::with_client(&shell, workspace)).transpose()?;
    let machine = Machine::look(&shell);
    let folder = workspace.target.join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let mut rows = Vec::new();
    for name in chosen {
        eprintln!("measuring {name}");
        // A fresh one for each: what it holds of earlier figures slows nothing down.
        let mock = Mock::start(programs.get("mock-provider")?)?;
        let measured = match name {
            COMMAND => command::measure(programs.get("thermidor")?, &mock, &folder, options.quick),
            BUILD => build::measure(&shell, &folder, options.clean_build),
            figure => house(programs.get("house")?, figure, &mock, options.quick),
        };
        let mut measured = measured.with_context(|| format!("failed to measure {name}"))?;
        if let (CLIENT, Some(python)) = (name, &python) {
            measured.extend(python_client::measure(python, &mock, &measured, options.quick)?);
        }
        rows.extend(measured);
        let stats = mock.stats()?;
        if let Some(cpu) = stats.cpu_s.filter(|_| stats.requests > 0) {
            let each = cpu * 1e6 / stats.requests as f64;
            eprintln!(
                "  the mock answered {} requests at {each:.0} µs of CPU, which are in no figure",
                stats.requests
            );
        }
    }
    let file = folder.join("house.json");
    let measured = Measured { machine: &machine, quick: options.quick, rows: &rows };
    fs::write(&file, serde_json::to_string_pretty(&measured)? + "\n")?;
    println!("{}", table::render(&rows));
    let missed = rows.iter().filter(|row| row.met() == Some(false)).count();
    let with = rows.iter().filter(|row| row.met().is_some()).count();
    println!("{} of {with} targets met; {machine:?}; written to {}", with - missed, file.display());
    Ok(())
}

fn house(program: &Path, figure: &str, mock: &Mock, quick: bool) -> Result<Vec<Row>> {
    let mut command = Command::new(program);
    command.args([figure, "--mock", &mock.url()]).args(quick.then_some("--quick")).stdin(Stdio::null());
    let output = command.stderr(Stdio::inherit()).output().context("failed to start the bench")?;
    ensure!(output.status.success(), "the bench ended with {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let rows = text.lines().map(serde_json::from_str).collect::<Result<Vec<Row>, _>>();
    rows.with_context(|| format!("the bench printed no rows: {text}"))
}

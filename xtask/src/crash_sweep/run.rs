use anyhow::{Result, bail};

use super::{kills, sweep};
use crate::{artifacts::Artifacts, flags, workspace::Workspace};

/// Bundled teams, and how many model calls of each can be open at once: a crash repeats at most those.
const SCENARIOS: [(&str, u64); 2] = [("software-company", 1), ("software-company-parallel", 2)];

const PROGRAMS: [&str; 12] = [
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
    "crash-target",
];

/// Sweeps the scenarios, kills the command, prints a table for each.
pub(crate) fn run(workspace: &Workspace, options: &flags::CrashSweep) -> Result<()> {
    let chosen =
        SCENARIOS.iter().filter(|(name, _)| options.scenario.as_deref().is_none_or(|only| only == *name));
    let chosen: Vec<_> = chosen.collect();
    if chosen.is_empty() {
        let names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.0).collect();
        bail!("there is no such scenario; there are {}", names.join(", "));
    }
    let programs = Artifacts::build(workspace, &PROGRAMS)?;
    let mut differences = Vec::new();
    for (team, at_once) in chosen {
        differences.extend(sweep::sweep(&programs, team, *at_once)?);
        let (kills, seed) = (options.kills.unwrap_or(12), options.seed.unwrap_or(1));
        differences.extend(kills::kill(&programs, team, *at_once, kills, seed)?);
    }
    if !differences.is_empty() {
        bail!("{} differences:\n{}", differences.len(), differences.join("\n"));
    }
    Ok(())
}

//! The real command, killed at random moments.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    artifacts::Artifacts,
    mock::{Mock, Stats},
};

/// The mock takes this long for each answer, so that most moments fall into one.
const MODEL: &str = "mock/mock-echo-l200";
const REQUEST: &str = "A trainer for job interviews";

/// Kills the command's run of the team `kills` times, takes it up with the command, and compares the answers.
pub(crate) fn kill(
    programs: &Artifacts,
    team: &str,
    at_once: u64,
    kills: u32,
    seed: u64,
) -> Result<Vec<String>> {
    let mock = Mock::start(programs.get("mock-provider")?)?;
    let scenario = Scenario { program: programs.get("thermidor")?, mock: &mock, team };
    let (calm, cost, took) = scenario.undisturbed()?;
    println!(
        "\n{team}, the command itself: undisturbed {} requests, {} ms; seed {seed}",
        cost.requests,
        took.as_millis()
    );
    println!("{:>8}  {:<24}  {:>8}  same answer", "killed", "then", "requests");
    let mut differences = Vec::new();
    let mut random = seed;
    for _ in 0..kills {
        let share = f64::from(u32::try_from(splitmix(&mut random) >> 32)?) / f64::from(u32::MAX);
        let moment = took.mul_f64(share);
        let (how, answer, stats) =
            scenario.killed(moment).with_context(|| format!("killed after {} ms", moment.as_millis()))?;
        let mut found = Vec::new();
        if answer != calm {
            found.push(format!("another answer of {} bytes instead of {}", answer.len(), calm.len()));
        }
        if stats.requests < cost.requests || stats.requests > cost.requests + at_once {
            found.push(format!("{} requests, undisturbed {}", stats.requests, cost.requests));
        }
        println!(
            "{:>5} ms  {how:<24}  {:>8}  {}",
            moment.as_millis(),
            stats.requests,
            if found.is_empty() { "yes" } else { "NO" }
        );
        let place =
            |found: &String| format!("{team}, command killed after {} ms: {found}", moment.as_millis());
        differences.extend(found.iter().map(place));
    }
    println!("{team}, the command itself: {kills} kills, {} differences", differences.len());
    Ok(differences)
}

struct Scenario<'a> {
    program: &'a Path,
    mock: &'a Mock,
    team: &'a str,
}

impl Scenario<'_> {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch for a process outside")]
    fn undisturbed(&self) -> Result<(String, Stats, Duration)> {
        let home = self.home()?;
        let before = self.mock.stats()?;
        let start = Instant::now();
        let output = self.run(home.path()).output().context("failed to start the command")?;
        let took = start.elapsed();
        Ok((answer(output)?, self.mock.stats()?.since(before), took))
    }

    fn killed(&self, moment: Duration) -> Result<(&'static str, String, Stats)> {
        let home = self.home()?;
        let before = self.mock.stats()?;
        let mut child = self.run(home.path()).spawn().context("failed to start the command")?;
        thread::sleep(moment);
        child.kill()?;
        let first = child.wait_with_output()?;
        let (how, answer) = if first.status.success() {
            ("it had ended", answer(first)?)
        } else if self.has_run(home.path())? {
            let output = self.command(home.path(), &["runs", "resume", "last", "-q"]).output()?;
            if is_done(&output) {
                ("runs tail, it was done", self.shown(home.path())?)
            } else {
                ("runs resume last", answer(output)?)
            }
        } else {
            ("run, nothing was stored", answer(self.run(home.path()).output()?)?)
        };
        Ok((how, answer, self.mock.stats()?.since(before)))
    }

    /// The answer of a run that was done when its process died.
    fn shown(&self, home: &Path) -> Result<String> {
        let events = answer(self.command(home, &["runs", "tail", "last", "--json"]).output()?)?;
        let last = events.lines().next_back().context("the run has no events")?;
        let last: Value = serde_json::from_str(last)?;
        ensure!(last["type"] == "run_ended", "the run's last event is {last}");
        Ok(last["text"].as_str().context("the run's end has no text")?.to_owned() + "\n")
    }

    fn has_run(&self, home: &Path) -> Result<bool> {
        let output = self.command(home, &["runs", "ls", "--json"]).output()?;
        Ok(output.status.success() && !output.stdout.is_empty())
    }

    fn home(&self) -> Result<tempfile::TempDir> {
        let home = tempfile::tempdir()?;
        let config = format!("[providers.mock]\nbase_url = \"{}/v1\"\n", self.mock.url());
        fs::write(home.path().join("config.toml"), config)?;
        Ok(home)
    }

    fn run(&self, home: &Path) -> Command {
        self.command(home, &["run", "-q", "-t", self.team, "-m", MODEL, REQUEST])
    }

    fn command(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).env("THERMIDOR_HOME", home).env("NO_COLOR", "1").current_dir(home);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn answer(output: Output) -> Result<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the command ended with {}: {said}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether the command refused to go on with a run because it is done.
fn is_done(output: &Output) -> bool {
    !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("is done")
}

/// The next number of a small generator whose whole state is one number.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

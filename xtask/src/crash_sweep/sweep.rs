//! Every append, and every moment of it.

use std::fmt;

use anyhow::{Context, Result};

use super::target::{Report, Target};
use crate::{
    artifacts::Artifacts,
    mock::{Mock, Stats},
};

/// An append is lost, is in the store's hands, or is stored and nobody learns so.
const MOMENTS: [&str; 3] = ["before", "during", "after"];

/// Crashes the team's run at every append. Returns what was different.
pub(crate) fn sweep(programs: &Artifacts, team: &str, at_once: u64) -> Result<Vec<String>> {
    let mock = Mock::start(programs.get("mock-provider")?)?;
    let scenario = Scenario { programs, team, mock: &mock, url: mock.url() };
    let (calm, cost) = scenario.run(None).context("the undisturbed run failed")?;
    let mut differences: Vec<String> =
        calm.faults.iter().map(|fault| format!("{team}, undisturbed: {fault}")).collect();
    if calm.status != "Done" {
        differences.push(format!("{team}, undisturbed: it ended {}", calm.status));
    }
    println!(
        "\n{team}: undisturbed {} appends, {} pieces of work, {} requests, ends {}",
        calm.appends, calm.works, cost.requests, calm.status
    );
    println!(
        "{:>7}  {:<10}  {:>10}  {:>8}  {:>7}  same end",
        "append", "killed", "then wrote", "requests", "repeated"
    );
    let mut points = 0;
    for at in 0..calm.appends {
        for when in MOMENTS {
            let (report, requests) =
                scenario.run(Some((when, at))).with_context(|| format!("killed {when} append {at}"))?;
            let found = compare(&calm, cost, &report, requests, at_once);
            println!(
                "{at:>7}  {when:<10}  {:>10}  {:>8}  {:>7}  {}",
                report.appends,
                requests.requests,
                requests.repeated,
                if found.is_empty() { "yes" } else { "NO" }
            );
            differences
                .extend(found.iter().map(|found| format!("{team}, killed {when} append {at}: {found}")));
        }
        points += 1;
    }
    println!(
        "{team}: {points} crash points × {} moments, {} appends in the undisturbed run, {} differences",
        MOMENTS.len(),
        calm.appends,
        differences.len()
    );
    Ok(differences)
}

struct Scenario<'a> {
    programs: &'a Artifacts,
    team: &'a str,
    mock: &'a Mock,
    url: String,
}

impl Scenario<'_> {
    /// One run to its end, with a crash on the way; and what the mock saw of it beyond what it knew.
    fn run(&self, crash: Option<(&str, u64)>) -> Result<(Report, Stats)> {
        let folder = tempfile::tempdir()?;
        let target = Target {
            program: self.programs.get("crash-target")?,
            folder: folder.path(),
            mock: &self.url,
            team: self.team,
        };
        let before = self.mock.stats()?;
        if let Some((when, at)) = crash {
            target.crash(when, at)?;
        }
        let report = target.finish()?;
        let mut stats = self.mock.stats()?.since(before);
        // To the mock every request of a later run is a repetition: those beyond one run's worth are ours.
        stats.repeated = report.repeated;
        Ok((report, stats))
    }
}

fn compare(calm: &Report, cost: Stats, report: &Report, stats: Stats, at_once: u64) -> Vec<String> {
    let mut found = report.faults.clone();
    if report.status != calm.status {
        found.push(format!("it ended {}, not {}", report.status, calm.status));
    }
    if report.output != calm.output {
        found.push(first_difference(&calm.output, &report.output));
    }
    if report.works != calm.works {
        found.push(format!("{} pieces of work, not {}", report.works, calm.works));
    }
    let more = stats.requests.checked_sub(cost.requests);
    match more {
        Some(more) if more <= at_once => {}
        _ => found.push(format!(
            "{} requests, not {} to {}",
            stats.requests,
            cost.requests,
            cost.requests + at_once
        )),
    }
    found
}

/// Where two outputs part, in words.
fn first_difference(calm: &impl fmt::Display, report: &impl fmt::Display) -> String {
    let (calm, report) = (calm.to_string(), report.to_string());
    let same = calm.bytes().zip(report.bytes()).take_while(|(one, other)| one == other).count();
    let near = |text: &str| {
        let from = text.floor_char_boundary(same.saturating_sub(40));
        let to = text.ceil_char_boundary((same + 40).min(text.len()));
        text[from..to].to_owned()
    };
    format!("another output: …{}… instead of …{}…", near(&report), near(&calm))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Would fail if a lost stage, a second request too many or work done twice passed as the same end.
    #[test]
    fn every_difference_is_told() {
        let calm = Report {
            appends: 9,
            status: "Done".into(),
            output: json!({"text": "all"}),
            works: 5,
            repeated: 0,
            faults: Vec::new(),
        };
        let cost = Stats { requests: 5, ..Stats::default() };
        let check = |report: &Report, requests| {
            compare(&calm, cost, report, Stats { requests, ..Stats::default() }, 1).len()
        };
        assert_eq!((check(&calm, 5), check(&calm, 6)), (0, 0));
        assert_eq!((check(&calm, 4), check(&calm, 7)), (1, 1));
        assert_eq!(check(&Report { output: json!({"text": "al"}), ..calm.clone() }, 5), 1);
        assert_eq!(check(&Report { status: "Failed".into(), works: 6, ..calm.clone() }, 5), 2);
        assert_eq!(check(&Report { faults: vec!["0/model:1 ended twice".into()], ..calm.clone() }, 5), 1);
    }
}

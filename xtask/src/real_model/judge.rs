//! Whether a run has the form it must have, and the table of what was seen.

use std::fmt;

use super::events::{Call, Seen, Stage};

/// The stages of the bundled software company.
pub(crate) const STAGES: [&str; 5] = ["analysis", "plan", "frontend", "algorithm", "summary"];

/// Everything about the run that is not as it must be. What the model made of the request is not judged.
pub(crate) fn faults(seen: &Seen, window: u32) -> Vec<String> {
    let mut faults = Vec::new();
    let mut demand = |met: bool, fault: String| {
        if !met {
            faults.push(fault);
        }
    };
    let ids: Vec<&str> = seen.stages.iter().map(|stage| stage.id.as_str()).collect();
    demand(ids == STAGES, format!("the stages are {}", ids.join(", ")));
    demand(seen.status == "Done", format!("the run ended {:?}", seen.status));
    demand(!seen.answer.trim().is_empty(), "the run has no answer".into());
    for Stage { id, calls, status, text, .. } in &seen.stages {
        demand(status == "Done", format!("{id}: it ended {status:?}"));
        demand(!text.trim().is_empty(), format!("{id}: it made nothing"));
        demand(!calls.is_empty(), format!("{id}: no model answered"));
        for (number, call) in (1..).zip(calls) {
            let mut demand = |met: bool, what: &str| demand(met, format!("{id}, call {number}: {what}"));
            demand(call.reported && call.input > 0 && call.output > 0, "its tokens are not the server's");
            demand(call.first.is_some_and(|first| first < call.total), "it did not stream");
            demand(call.input + call.output <= u64::from(window), "it is longer than the window");
            demand(call.ending != "CutOff", "it broke off");
        }
    }
    let sum: u64 = calls(seen).map(|call| call.input + call.output).sum();
    demand(sum == seen.tokens, format!("the calls took {sum} tokens, and the run says {}", seen.tokens));
    faults
}

fn calls(seen: &Seen) -> impl Iterator<Item = &Call> {
    seen.stages.iter().flat_map(|stage| &stage.calls)
}

/// The table of the stages, and under it where their answers are unfit.
#[derive(Debug)]
pub(crate) struct Table<'a>(pub(crate) &'a Seen);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head =
            "stage      call      in  cached     out  first s  total s  out/s  ending    words  outcome";
        writeln!(f, "{head}")?;
        for stage in &self.0.stages {
            for (number, call) in (1..).zip(&stage.calls) {
                let id = if number == 1 { stage.id.as_str() } else { "" };
                write!(f, "{id:<10} {number:>4} {:>7} {:>7} {:>7}", call.input, call.cached, call.output)?;
                let (first, total) = (call.first.unwrap_or(call.total) as f64 / 1e3, call.total as f64 / 1e3);
                // The first token comes with the prompt.
                let rate = call.output.saturating_sub(1) as f64 / (total - first).max(1e-3);
                write!(f, "  {first:>7.1}  {total:>7.1}  {rate:>5.1}  ")?;
                if number < stage.calls.len() {
                    writeln!(f, "{}", call.ending)?;
                } else {
                    let words = stage.text.split_whitespace().count();
                    writeln!(f, "{:<8}  {words:>5}  {}", call.ending, outcome(stage))?;
                }
            }
        }
        let (input, output) = calls(self.0).fold((0, 0), |(i, o), call| (i + call.input, o + call.output));
        let total: u64 = calls(self.0).map(|call| call.total).sum();
        let number = calls(self.0).count();
        write!(f, "{:<10} {number:>4} {input:>7} {:>7} {output:>7}", "together", "")?;
        writeln!(f, "  {:>7}  {:>7.1}", "", total as f64 / 1e3)?;
        for stage in self.0.stages.iter().filter(|stage| !stage.unfit.is_empty()) {
            writeln!(f, "{}: {}", stage.id, stage.unfit.join(" "))?;
        }
        Ok(())
    }
}

fn outcome(stage: &Stage) -> String {
    let kept = if stage.unfit.is_empty() { "fit" } else { "marked unfit" };
    match stage.repaired {
        None => kept.to_owned(),
        Some(true) => format!("{kept}, the repair was better"),
        Some(false) => format!("{kept}, the repair was no better"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn good() -> Seen {
        let call = |first, ending: &str| Call {
            input: 2_000,
            cached: 40,
            output: 101,
            reported: true,
            first: Some(first),
            total: 12_000,
            ending: ending.into(),
        };
        let stage = |id: &str| Stage {
            id: id.into(),
            calls: vec![call(2_000, "Length"), call(7_000, "Finished")],
            status: "Done".into(),
            text: "a few words".into(),
            unfit: vec!["The heading \"Data\" is missing.".into()],
            repaired: Some(false),
        };
        let mut seen = Seen {
            stages: STAGES.iter().copied().map(stage).collect(),
            status: "Done".into(),
            answer: "a few words".into(),
            tokens: 10 * 2_101,
        };
        seen.stages[0] = Stage { unfit: Vec::new(), repaired: None, ..seen.stages[0].clone() };
        seen
    }

    #[test]
    fn the_table_shows_every_call() {
        let mut seen = good();
        seen.stages.truncate(2);
        expect![[r#"
            stage      call      in  cached     out  first s  total s  out/s  ending    words  outcome
            analysis      1    2000      40     101      2.0     12.0   10.0  Length
                          2    2000      40     101      7.0     12.0   20.0  Finished      3  fit
            plan          1    2000      40     101      2.0     12.0   10.0  Length
                          2    2000      40     101      7.0     12.0   20.0  Finished      3  marked unfit, the repair was no better
            together      4    8000             404              48.0
            plan: The heading "Data" is missing.
        "#]]
        .assert_eq(&Table(&seen).to_string());
    }

    /// Would fail if a run passed that lacks what this is to show.
    #[test]
    fn each_lack_is_named() {
        let check = |spoil: fn(&mut Seen), expected: &str| {
            let mut seen = good();
            spoil(&mut seen);
            assert_eq!(faults(&seen, 8_192).join("; "), expected);
        };
        check(|_| {}, "");
        check(|seen| seen.status.clear(), "the run ended \"\"");
        check(|seen| seen.answer = "\n".into(), "the run has no answer");
        check(|seen| seen.tokens = 7, "the calls took 21010 tokens, and the run says 7");
        check(|seen| seen.stages.swap(0, 1), "the stages are plan, analysis, frontend, algorithm, summary");
        check(|seen| seen.stages[1].status = "Failed".into(), "plan: it ended \"Failed\"");
        check(|seen| seen.stages[1].text.clear(), "plan: it made nothing");
        check(
            |seen| {
                seen.stages[1].calls.clear();
                seen.tokens -= 2 * 2_101;
            },
            "plan: no model answered",
        );
        check(
            |seen| seen.stages[1].calls[0].reported = false,
            "plan, call 1: its tokens are not the server's",
        );
        check(|seen| seen.stages[1].calls[1].first = Some(12_000), "plan, call 2: it did not stream");
        check(|seen| seen.stages[1].calls[1].ending = "CutOff".into(), "plan, call 2: it broke off");
        check(
            |seen| {
                seen.stages[4].calls[1].input = 8_100;
                seen.tokens += 6_100;
            },
            "summary, call 2: it is longer than the window",
        );
    }
}

//! What came of each step, and how long it took.

use std::{
    fmt,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is well; perhaps with a line worth repeating at the end.
    Passed(Option<String>),
    /// It could not be run here, and why.
    Skipped(String),
    /// Something is wrong. The step has printed what.
    Failed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(None) => f.write_str("passed"),
            Self::Passed(Some(line)) => write!(f, "passed: {line}"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
            Self::Failed => f.write_str("FAILED"),
        }
    }
}

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<(&'static str, Duration, Verdict)>);

impl Report {
    /// Runs a step and keeps what came of it.
    #[expect(clippy::disallowed_methods, reason = "a stopwatch for people: nothing depends on it")]
    pub(crate) fn time(&mut self, name: &'static str, step: impl FnOnce() -> Result<Verdict>) -> Verdict {
        eprintln!("\n==> {name}");
        let start = Instant::now();
        let verdict = step().unwrap_or_else(|error| {
            eprintln!("{error:#}");
            Verdict::Failed
        });
        let took = start.elapsed();
        eprintln!("<== {name} {verdict} ({:.1} s)", took.as_secs_f64());
        self.0.push((name, took, verdict.clone()));
        verdict
    }

    /// Prints the table.
    ///
    /// # Errors
    /// When a step failed.
    pub(crate) fn finish(&self) -> Result<()> {
        println!("\n{self}");
        let failed: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, _, verdict)| *verdict == Verdict::Failed)
            .map(|(name, ..)| *name)
            .collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, took, verdict) in &self.0 {
            writeln!(f, "{name:<10} {:>7.1} s  {verdict}", took.as_secs_f64())?;
        }
        let total: Duration = self.0.iter().map(|(_, took, _)| *took).sum();
        write!(f, "{:<10} {:>7.1} s", "together", total.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use expect_test::expect;

    use super::*;

    /// Would fail if a failure were lost, or if a skipped step counted as one.
    #[test]
    fn the_table_tells_all() {
        let second = Duration::from_secs(1);
        let mut report = Report(vec![
            ("tests", second, Verdict::Passed(Some("7 tests run".into()))),
            ("deny", second, Verdict::Skipped("cargo-deny not installed".into())),
        ]);
        assert!(report.finish().is_ok());
        report.0.push(("docs", second, Verdict::Failed));
        expect![[r"
            tests          1.0 s  passed: 7 tests run
            deny           1.0 s  skipped: cargo-deny not installed
            docs           1.0 s  FAILED
            together       3.0 s"]]
        .assert_eq(&report.to_string());
        assert_eq!(report.finish().expect_err("a step failed").to_string(), "failed: docs");
    }

    /// Would fail if an error ended the run before its table was printed.
    #[test]
    fn an_error_is_a_failed_step() {
        assert_eq!(Report::default().time("x", || Err(anyhow!("no"))), Verdict::Failed);
    }
}

//! One target at work.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

/// Inputs grow to this, in bytes.
const LONGEST: u32 = 4 * 1024;
/// One input may take so many seconds, and so much memory in MB.
const PATIENCE: u32 = 20;
const MEMORY: u32 = 2048;
/// How long a finding is made smaller, in seconds.
const MINIMISING: u32 = 20;

/// Where everything of one target is.
#[derive(Debug)]
pub(crate) struct Drive<'a> {
    /// The instrumented program.
    pub(crate) program: &'a Path,
    pub(crate) target: &'a str,
    /// What is made on the way: the corpus, the log, inputs that broke a promise.
    pub(crate) folder: PathBuf,
    pub(crate) seeds: PathBuf,
    /// Where findings are kept for the test.
    pub(crate) findings: PathBuf,
    pub(crate) dictionary: &'a Path,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) target: String,
    /// Inputs that were tried.
    pub(crate) tried: u64,
    /// Edges of the program that were reached.
    pub(crate) covered: u64,
    /// Inputs in the corpus, each of which reaches something that no other does.
    pub(crate) corpus: usize,
    /// The minimised inputs that broke a promise.
    pub(crate) found: Vec<PathBuf>,
    pub(crate) log: PathBuf,
}

impl Drive<'_> {
    /// Lets the target run for so many seconds, or to its first finding.
    pub(crate) fn run(&self, seconds: u64) -> Result<Driven> {
        let (corpus, broken) = (self.folder.join("corpus"), self.folder.join("broken"));
        for folder in [&corpus, &broken, &self.findings] {
            fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
        }
        let log = self.folder.join("log");
        let output = File::create(&log).with_context(|| format!("failed to write {}", log.display()))?;
        let before = files(&broken)?;
        let mut command = self.command();
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={LONGEST}"));
        command.arg(format!("-artifact_prefix={}/", broken.display())).arg("-print_final_stats=1");
        command.args([&corpus, &self.seeds, &self.findings]);
        let status =
            command.stdout(Stdio::null()).stderr(output).status().context("failed to start the fuzzer")?;
        let said = fs::read(&log)?;
        let said = String::from_utf8_lossy(&said);
        let mut found = Vec::new();
        for path in files(&broken)?.into_iter().filter(|path| !before.contains(path)) {
            found.push(self.minimise(&path)?);
        }
        if !status.success() && found.is_empty() {
            // An input that it began with: it is there already.
            found.push(log.clone());
        }
        Ok(Driven {
            target: self.target.to_owned(),
            tried: figure(&said, "stat::number_of_executed_units:"),
            covered: figure(&said, " cov:"),
            corpus: files(&corpus)?.len(),
            found,
            log,
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.arg(format!("--target={}", self.target)).arg(format!("-dict={}", self.dictionary.display()));
        command.arg(format!("-timeout={PATIENCE}")).arg(format!("-rss_limit_mb={MEMORY}"));
        command.stdin(Stdio::null());
        command
    }

    /// The smallest input found that still breaks a promise, kept for the test.
    fn minimise(&self, path: &Path) -> Result<PathBuf> {
        let name = path.file_name().unwrap_or_default();
        let kept = self.findings.join(name);
        fs::copy(path, &kept).with_context(|| format!("failed to keep {}", kept.display()))?;
        let smaller = self.folder.join("smaller");
        let mut command = self.command();
        command.arg("-minimize_crash=1").arg(format!("-max_total_time={MINIMISING}"));
        command.arg(format!("-exact_artifact_path={}", smaller.display())).arg(path);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("failed to start the fuzzer")?;
        let is_smaller =
            |path: &Path| Ok::<_, std::io::Error>(path.exists() && fs::metadata(path)?.len() > 0);
        if is_smaller(&smaller)? {
            fs::rename(&smaller, &kept)?;
        }
        Ok(kept)
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?)
}

/// The last number behind `word`.
fn figure(said: &str, word: &str) -> u64 {
    let after = said.rsplit_once(word).map(|(_, after)| after.trim_start());
    let digits =
        after.map(|after| after.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_what_the_fuzzer_says() {
        let said = "#2 INITED cov: 8 ft: 9\n#9 NEW    cov: 812 ft: 9 corp: 2/3b\nstat::number_of_executed_units: 4711\n";
        assert_eq!(figure(said, " cov:"), 812);
        assert_eq!(figure(said, "stat::number_of_executed_units:"), 4711);
        assert_eq!(figure(said, "nothing"), 0);
    }
}

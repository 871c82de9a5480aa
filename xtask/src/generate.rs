//! `cargo xtask gen`: the files that are made from code.
//!
//! A generated file is kept by a test beside the code it is made from. Its name begins with `generated_`,
//! and it compares with `expect_test::expect_file!`, which rewrites the file when asked to.

use anyhow::{Result, bail, ensure};
use xshell::{Shell, cmd};

use crate::{flags, workspace::Workspace};

/// What to do with a file that is not what the code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Rewrite it.
    Write,
    /// Fail.
    Check,
}

impl From<&flags::Gen> for Mode {
    fn from(options: &flags::Gen) -> Self {
        if options.check { Self::Check } else { Self::Write }
    }
}

/// Rewrites or checks every generated file.
pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let listing =
        cmd!(shell, "cargo test --quiet --workspace --tests generated_ -- --list --format terse").read()?;
    let tests = listed(&listing);
    if tests.is_empty() {
        bail!(
            "no test is called `generated_…`: a generated file is kept by such a test, see CONTRIBUTING.md"
        );
    }
    println!("generated files are kept by: {}", tests.join(", "));
    let command = cmd!(shell, "cargo test --quiet --workspace --tests generated_");
    match mode {
        Mode::Write => command.env("UPDATE_EXPECT", "1").run()?,
        Mode::Check => {
            let fresh = command.env_remove("UPDATE_EXPECT").run().is_ok();
            ensure!(
                fresh,
                "a generated file is not what the code says; run `cargo xtask gen` and commit the result"
            );
        }
    }
    Ok(())
}

/// The tests in what `--list --format terse` printed.
fn listed(listing: &str) -> Vec<&str> {
    let tests = listing.lines().filter_map(|line| line.trim().strip_suffix(": test"));
    tests.filter(|test| test.contains("generated_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a build without any such test passed as "nothing to do".
    #[test]
    fn only_tests_are_listed() {
        let listing =
            "reference::generated_cli: test\n\ngenerated_bench: benchmark\nschema::generated_team: test\n";
        assert_eq!(listed(listing), ["reference::generated_cli", "schema::generated_team"]);
        assert!(listed("0 tests, 0 benchmarks\n").is_empty());
    }
}

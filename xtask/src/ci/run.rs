//! The list itself.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{
    examples,
    report::{Report, Verdict},
    tests,
};
use crate::{flags, generate, tidy, workspace::Workspace};

/// What to do after a step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// End there.
    Stop,
    /// Run the other steps too.
    KeepGoing,
}

impl From<&flags::Ci> for OnFailure {
    fn from(options: &flags::Ci) -> Self {
        if options.keep_going { Self::KeepGoing } else { Self::Stop }
    }
}

type Step = (&'static str, fn(&Shell, &Workspace) -> Result<Verdict>);

/// Cheap and telling first. All of it in the debug profile with the same features, so that nothing is built twice.
const STEPS: [Step; 10] = [
    ("format", |shell, _| passed(cmd!(shell, "cargo fmt --all --check"))),
    ("tidy", |_, workspace| tidy::run(workspace).map(|()| Verdict::Passed(None))),
    ("clippy", |shell, _| {
        passed(cmd!(shell, "cargo clippy --quiet --workspace --all-targets -- -D warnings"))
    }),
    ("tests", tests::run),
    ("doctests", |shell, _| passed(cmd!(shell, "cargo test --quiet --workspace --doc"))),
    ("docs", |shell, _| {
        passed(cmd!(shell, "cargo doc --quiet --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("examples", examples::run),
    ("generated", |_, workspace| {
        generate::run(workspace, generate::Mode::Check).map(|()| Verdict::Passed(None))
    }),
    ("deny", |shell, _| {
        // Advisories need a database from the network: `cargo deny check` without arguments reads them too.
        optional(shell, "cargo-deny", cmd!(shell, "cargo deny check bans licenses sources"))
    }),
    ("typos", |shell, _| optional(shell, "typos", cmd!(shell, "typos"))),
];

/// Runs the steps, and prints what came of each and how long it took.
pub(crate) fn run(workspace: &Workspace, on_failure: OnFailure) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let mut report = Report::default();
    for (name, step) in STEPS {
        let verdict = report.time(name, || step(&shell, workspace));
        if verdict == Verdict::Failed && on_failure == OnFailure::Stop {
            break;
        }
    }
    report.finish()
}

fn passed(command: xshell::Cmd<'_>) -> Result<Verdict> {
    command.run()?;
    Ok(Verdict::Passed(None))
}

/// Runs a command of a program that not everybody has.
fn optional(shell: &Shell, program: &str, command: xshell::Cmd<'_>) -> Result<Verdict> {
    if cmd!(shell, "{program} --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Ok(Verdict::Skipped(format!("{program} not installed")));
    }
    passed(command)
}

//! How many crates the command is made of, and how long they take to build from nothing.

use std::{collections::BTreeSet, path::Path, time::Instant};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::row::Row;

/// Counts crates, and with `clean` builds them.
pub(crate) fn measure(shell: &Shell, folder: &Path, clean: bool) -> Result<Vec<Row>> {
    let tree = cmd!(shell, "cargo tree -p thermidor-cli -e normal,build --prefix none --no-dedupe")
        .quiet()
        .read()?;
    let crates: BTreeSet<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
    let count = Row::of("build", "crates in the default build", "crates", vec![crates.len() as f64]);
    let mut rows = vec![count.at_most(420.0).how("cargo tree -e normal,build")];
    if clean {
        let target = tempfile::tempdir_in(folder)?;
        rows.push(
            Row::of("build", "clean release build", "min wall", vec![minutes(shell, target.path())?])
                .at_most(12.0),
        );
    }
    Ok(rows)
}

#[expect(clippy::disallowed_methods, reason = "a stopwatch for a process outside")]
fn minutes(shell: &Shell, target: &Path) -> Result<f64> {
    let start = Instant::now();
    cmd!(shell, "cargo build --release -p thermidor-cli").env("CARGO_TARGET_DIR", target).run()?;
    Ok(start.elapsed().as_secs_f64() / 60.0)
}

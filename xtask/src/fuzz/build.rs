//! The fuzzer's program, instrumented.

use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::workspace::Workspace;

/// LLVM's coverage counters for libFuzzer: options of the stable compiler.
const FLAGS: [&str; 8] = [
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// Builds it in a folder of its own. Needs a C++ compiler, for libFuzzer.
pub(crate) fn instrumented(shell: &Shell, workspace: &Workspace) -> Result<PathBuf> {
    let host =
        cmd!(shell, "rustc --print host-tuple").quiet().read().context("failed to ask rustc for its host")?;
    let folder = workspace.target.join("fuzz").join("build");
    // With a named target the flags reach neither build scripts nor macros.
    cmd!(
        shell,
        "cargo build --quiet --release -p thermidor-fuzz --bin fuzz --target {host} --target-dir {folder}"
    )
    .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
    .env("CARGO_PROFILE_RELEASE_LTO", "off")
    .env("CARGO_PROFILE_RELEASE_STRIP", "none")
    .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
    .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
    .run()
    .context("failed to build the fuzzer: a C++ compiler is needed")?;
    Ok(folder.join(host).join("release").join(format!("fuzz{}", std::env::consts::EXE_SUFFIX)))
}

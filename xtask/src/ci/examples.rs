//! The examples: each must run to its end without a network and without a key.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use super::report::Verdict;
use crate::workspace::Workspace;

/// Far more than any example takes.
const PATIENCE: Duration = Duration::from_mins(1);
/// Nobody listens there: whoever wants to leave the machine is refused at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Builds and runs every example.
pub(crate) fn run(shell: &Shell, workspace: &Workspace) -> Result<Verdict> {
    let names: Vec<&str> =
        workspace.packages.values().flat_map(|package| &package.examples).map(String::as_str).collect();
    ensure!(!names.is_empty(), "there are no examples");
    // The whole workspace, because a part of it would be built again with other features.
    cmd!(shell, "cargo build --quiet --workspace --examples").run()?;
    let rooms = workspace.target.join("xtask").join("examples");
    let mut failed = Vec::new();
    for name in &names {
        let room = rooms.join(name);
        let program = workspace.target.join("debug").join("examples").join(name);
        match run_one(Command::new(program), &room, PATIENCE) {
            Ok(()) => eprintln!("{name}: done"),
            Err(error) => {
                eprintln!(
                    "{name}: {error:#}\n{}",
                    fs::read_to_string(room.join("output")).unwrap_or_default()
                );
                failed.push(*name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("examples failed: {}", failed.join(", "));
    }
    Ok(Verdict::Passed(Some(format!("{} run offline", names.len()))))
}

/// Runs a program in an empty folder that is also its home. What it prints goes to the file `output` there.
fn run_one(mut command: Command, room: &Path, patience: Duration) -> Result<()> {
    if room.exists() {
        fs::remove_dir_all(room).with_context(|| format!("failed to empty {}", room.display()))?;
    }
    fs::create_dir_all(room).with_context(|| format!("failed to make {}", room.display()))?;
    let output = File::create(room.join("output")).context("failed to make a file for the output")?;
    command.env_clear().env("HOME", room).env("THERMIDOR_HOME", room.join("data")).env("NO_COLOR", "1");
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env(variable, NOWHERE);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").current_dir(room);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let status = finish(&mut command, patience)?;
    ensure!(status.success(), "ended with {status}");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a deadline for a process outside: there is nothing to replay")]
fn finish(command: &mut Command, patience: Duration) -> Result<ExitStatus> {
    let mut child = command.spawn().context("failed to start")?;
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("not done after {} s", patience.as_secs());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run_script(script: &str, patience: Duration) -> (Result<(), String>, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let room = folder.path().join("room");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let result = run_one(command, &room, patience).map_err(|error| error.to_string());
        (result, fs::read_to_string(room.join("output")).expect("an output"))
    }

    /// Would fail if an example could read a key, or write outside its room by default.
    #[test]
    fn an_example_starts_with_nothing() {
        let script =
            "echo ${CARGO_MANIFEST_DIR:-nothing}; echo $https_proxy; test \"$HOME\" = \"$PWD\" && ls";
        let (result, output) = run_script(script, PATIENCE);
        assert_eq!((result, output.as_str()), (Ok(()), "nothing\nhttp://127.0.0.1:9\noutput\n"));
    }

    /// Would fail if a failing or a hanging example passed.
    #[test]
    fn a_bad_end_is_told() {
        let (result, output) = run_script("echo why >&2; exit 3", PATIENCE);
        assert_eq!((result, output.as_str()), (Err("ended with exit status: 3".into()), "why\n"));
        let (result, _) = run_script("exec sleep 600", Duration::ZERO);
        assert_eq!(result, Err("not done after 0 s".into()));
    }
}

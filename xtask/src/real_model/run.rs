//! The whole of it, in order.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use xshell::{Shell, cmd};

use super::{
    codecs,
    install::install,
    judge::{STAGES, Table, faults},
    server::Server,
    team::Team,
};
use crate::{flags::RealModel, workspace::Workspace};

/// The window of the model, in tokens: all it was trained for.
const WINDOW: u32 = 8_192;
/// One thread is slower than two on a quiet machine, and many times faster on a busy one.
const THREADS: u32 = 1;
/// How long a run may take: ten answers of 800 tokens at 5 tokens a second, and their prompts.
const PATIENCE: Duration = Duration::from_mins(45);

/// Starts the model, checks the client and the team against it, and ends everything that was started.
pub(crate) fn run(workspace: &Workspace, options: &RealModel) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let wanted = Wanted::of(options)?;
    let room = workspace.target.join("xtask").join("real-model");
    if room.exists() {
        fs::remove_dir_all(&room).with_context(|| format!("failed to empty {}", room.display()))?;
    }
    fs::create_dir_all(&room).with_context(|| format!("failed to make {}", room.display()))?;
    let server = Server::start(&install(&shell)?, &room, WINDOW, options.threads.unwrap_or(THREADS))?;
    eprintln!("the model answers at {} with a window of {WINDOW} tokens", server.address());

    eprintln!("\n==> the client");
    codecs::check(&shell, &server)?;
    if wanted == Wanted::Codecs {
        return Ok(());
    }

    eprintln!("\n==> the team: several minutes");
    let program = program(&shell, workspace, options)?;
    let team = Team::configure(program, room, &server, WINDOW)?;
    let answer = team.run(PATIENCE)?;
    let (timeline, seen) = team.look()?;
    println!("\n{timeline}\n{}", Table(&seen));
    let mut faults = faults(&seen, WINDOW);
    if answer.trim() != seen.answer.trim() {
        faults.push("standard output is not the answer alone".into());
    }
    faults.extend(team.missing(&answer));
    let undrawn = STAGES.iter().filter(|stage| !timeline.lines().any(|line| line.contains(**stage)));
    faults.extend(undrawn.map(|stage| format!("`runs show` does not draw {stage}")));

    eprintln!("==> Ctrl-C in the middle of an answer");
    match team.stop(&server, PATIENCE) {
        Ok(quiet) => println!("Ctrl-C: the server was quiet after {} ms", quiet.as_millis()),
        Err(error) => faults.push(format!("Ctrl-C: {error:#}")),
    }
    if !faults.is_empty() {
        bail!("not as it must be:\n- {}", faults.join("\n- "));
    }
    println!("All is as it must be. What was said stands in {}", team.delivery().display());
    Ok(())
}

/// How much of it is wanted.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    All,
    /// The client alone.
    Codecs,
}

impl Wanted {
    fn of(options: &RealModel) -> Result<Self> {
        match options.only.as_deref() {
            None => Ok(Self::All),
            Some("codecs") => Ok(Self::Codecs),
            Some(other) => bail!("there is no part {other:?}: the one that runs alone is `codecs`"),
        }
    }
}

fn program(shell: &Shell, workspace: &Workspace, options: &RealModel) -> Result<PathBuf> {
    if let Some(program) = &options.program {
        return program.canonicalize().with_context(|| format!("{} is not there", program.display()));
    }
    cmd!(shell, "cargo build --release -p thermidor-cli").run()?;
    Ok(workspace.target.join("release").join(format!("thermidor{}", std::env::consts::EXE_SUFFIX)))
}

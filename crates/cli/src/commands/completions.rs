//! `thermidor completions SHELL`

use clap::CommandFactory as _;

use crate::{args::Cli, exit::Trouble, screen::Screen};

/// Prints the script for a shell.
pub(super) fn print(shell: clap_complete::Shell, screen: Screen) -> Result<(), Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "thermidor", &mut script);
    Ok(screen.print(&String::from_utf8_lossy(&script))?)
}

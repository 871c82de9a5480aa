//! The project's own tasks: `cargo xtask --help`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool for people")]

mod artifacts;
mod bench;
mod ci;
mod clients;
mod crash_sweep;
mod flags;
mod fuzz;
mod generate;
mod mock;
mod python;
mod real_model;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use flags::XtaskCmd;
use workspace::Workspace;

fn main() -> ExitCode {
    match run(flags::Xtask::from_env_or_exit().subcommand) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: XtaskCmd) -> Result<()> {
    let workspace = Workspace::load()?;
    match command {
        XtaskCmd::Tidy(_) => tidy::run(&workspace),
        XtaskCmd::Gen(options) => generate::run(&workspace, generate::Mode::from(&options)),
        XtaskCmd::RealModel(options) => real_model::run(&workspace, &options),
        XtaskCmd::Ci(options) => ci::run(&workspace, ci::OnFailure::from(&options)),
        XtaskCmd::Bench(options) => bench::run(&workspace, &options),
        XtaskCmd::Clients(_) => clients::run(&workspace),
        XtaskCmd::Fuzz(options) => fuzz::run(&workspace, &options),
        XtaskCmd::CrashSweep(options) => crash_sweep::run(&workspace, &options),
    }
}

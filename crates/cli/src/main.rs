//! The `thermidor` command: teams of agents from the command line.
//!
//! It drives runs in its own process and reads nothing of them but run events. The environment is read in
//! `settings/environment.rs` and nowhere else; the answer goes to standard output, all else to standard error.

mod args;
mod choose;
mod commands;
mod cost_limit;
mod display;
mod draw;
mod ending;
mod exit;
mod find_run;
mod follow;
mod interrupt;
mod lists;
mod paced;
mod providers;
#[cfg(test)]
mod reference;
mod request;
mod screen;
mod settings;
mod shelf;
mod store;
mod table;
mod tape;
mod timeline;
mod words;

use std::{panic, process::ExitCode};

use clap::Parser as _;
use exit::Exit;
use screen::Screen;
use settings::Environment;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let environment = Environment::read();
    let screen = Screen::of(&environment);
    log(&environment);
    panic::set_hook(Box::new(move |panic| {
        screen.note(&format!("thermidor has a defect and had to give up: {panic}"));
        screen.note(concat!(
            "Please report it with the command you ran: ",
            env!("CARGO_PKG_REPOSITORY"),
            "/issues"
        ));
    }));
    let ended = panic::catch_unwind(|| commands::execute(cli, environment, screen));
    let exit = match ended {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(trouble)) => {
            if !trouble.message.is_empty() {
                let lead =
                    if trouble.exit == Exit::Stopped { String::new() } else { screen.paint.red("error: ") };
                screen.note(&format!("{lead}{}", words::harmless(&trouble.message)));
            }
            trouble.exit
        }
        Err(_) => Exit::Failed,
    };
    ExitCode::from(exit as u8)
}

/// Writes what the crates log to standard error, when `THERMIDOR_LOG` asks for it: `debug`, `thermidor_runs=trace`.
fn log(environment: &Environment) {
    if let Some(filter) = environment.get("THERMIDOR_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}

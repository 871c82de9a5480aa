//! From the parsed command line to its command.

use std::future::Future;

use super::{completions, config, doctor, models, resume, run, runs_ls, runs_show, tail, teams};
use crate::{
    args::{Cli, Command, Config, Models, Runs, Teams},
    exit::{Exit, Trouble},
    screen::Screen,
    settings::{Environment, Settings},
};

/// Runs what the command line asks for.
///
/// # Errors
/// With an exit code and what is said about it.
pub(crate) fn execute(cli: Cli, environment: Environment, screen: Screen) -> Result<(), Trouble> {
    if let Command::Completions { shell } = cli.command {
        return completions::print(shell, screen);
    }
    let settings = match (&cli.command, Settings::load(environment.clone())) {
        // It is there to say what is wrong, also with the settings.
        (Command::Doctor, Err(trouble)) => return doctor::without_settings(&trouble, screen),
        (_, settings) => settings?,
    };
    match cli.command {
        Command::Run(args) => waiting(run::run(&args, &settings, screen)),
        Command::Runs(Runs::Ls { limit, json }) => waiting(runs_ls::ls(limit, json, &settings, screen)),
        Command::Runs(Runs::Show { id, context, json }) => {
            waiting(runs_show::show(&id, context, json, &settings, screen))
        }
        Command::Runs(Runs::Tail { id, json, verbose }) => {
            waiting(tail::tail(&id, json, verbose, &settings, screen))
        }
        Command::Runs(Runs::Resume { id, limits, tape, show }) => {
            waiting(resume::resume(&id, limits, &tape, &show, &settings, screen))
        }
        Command::Teams(Teams::Ls) => teams::ls(&settings, screen),
        Command::Teams(Teams::Show { team }) => teams::show(&team, &settings, screen),
        Command::Teams(Teams::Check { teams }) => teams::check(&teams, &settings, screen),
        Command::Models(Models::Ls { refresh: None }) => models::ls(&settings, screen),
        Command::Models(Models::Ls { refresh: Some(named) }) => {
            waiting(models::refresh(&named, &settings, screen))
        }
        Command::Models(Models::Test { model, tape }) => {
            waiting(models::test(model.as_deref(), &tape, &settings, screen))
        }
        Command::Doctor => waiting(doctor::doctor(&settings, screen)),
        Command::Config(Config::Path) => config::path(&settings, screen),
        Command::Config(Config::Show { origin }) => config::show(origin, &settings, screen),
        Command::Completions { .. } => Ok(()),
    }
}

/// Runs what has to wait for something.
///
/// Two workers besides this thread: one drives the run and its model calls, so that drawing and printing
/// (which may block on a slow pipe) never hold a stream up, and the second takes what the first leaves lying.
fn waiting(work: impl Future<Output = Result<(), Trouble>>) -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| Trouble::new(Exit::Failed, format!("no threads can be started: {error}")))?;
    let done = runtime.block_on(Box::pin(work));
    // What still runs is in the journal; nobody waits for it.
    runtime.shutdown_background();
    done
}

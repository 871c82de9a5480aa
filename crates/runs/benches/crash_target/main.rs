//! A program that dies at a chosen append, for `cargo xtask crash-sweep`.
//!
//! `crash-target --folder DIR --mock URL --team NAME [--crash before|during|after --at N]` starts the team's run
//! in the folder's journal, or takes it up again when there is one, and drives it to its end. With `--crash`
//! it kills itself (`SIGKILL`) at its append number `N`, counted from 0. At the end it prints one line of JSON.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod arguments;
mod deadly;
mod report;

use std::process::ExitCode;

use arguments::Arguments;
use deadly::DeadlyJournal;
use report::Report;
use thermidor_model_runtime::{ModelRuntime, Provider};
use thermidor_runs::{RunRequest, Runs};
use thermidor_skills::{Library as Skills, Source};
use thermidor_step_engine::TreeState;
use thermidor_storage::{Options, SqliteJournal};
use thermidor_teams::{Choices, Language, Library, bundled_skills};
use thermidor_types::{ModelId, Timestamp};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The sentence the team works on.
const REQUEST: &str = "A trainer for job interviews";

fn main() -> ExitCode {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else {
        println!("started by `cargo xtask crash-sweep`; {}", arguments::USAGE);
        return ExitCode::SUCCESS;
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn run(arguments: Arguments) -> Result<(), Error> {
    let store = SqliteJournal::open(arguments.folder.join("journal.sqlite"), Options::default())?;
    let (journal, appends) = DeadlyJournal::new(store, arguments.crash);
    let models =
        ModelRuntime::builder().provider(Provider::new("mock", format!("{}/v1", arguments.mock))).build()?;
    // A fixed moment: the date stands in every prompt, and midnight may not look like a difference.
    let runs =
        Runs::builder(models).journal(journal).clock(|| Timestamp::from_millis(1_780_000_000_000)).build()?;
    let known = runs.list(None, 2).await?;
    let id = match known.as_slice() {
        [] => {
            let run = runs.start(request(&arguments.team)?).await?;
            let id = run.id();
            run.wait().await?;
            id
        }
        [run] => {
            let id = run.row.tree;
            if !matches!(run.row.status.state, TreeState::Ended(_)) {
                runs.resume(id, None).await?.wait().await?;
            }
            id
        }
        _ => return Err("there is more than one run in the folder".into()),
    };
    let appends = appends.count();
    println!("{}", serde_json::to_string(&Report::of(&runs, id, appends).await?)?);
    Ok(())
}

/// The bundled team at work on the sentence, as the command starts it.
fn request(team: &str) -> Result<RunRequest, Error> {
    let skills = Skills::read(&[Source::Embedded(bundled_skills())]);
    let library = Library::open(&[], &skills);
    let team = library.get(team)?;
    let group = team.to_group(&Choices::new(Language::En, ModelId::new("mock", "mock-echo")), &skills)?;
    Ok(RunRequest::group(group, REQUEST).limits(team.limits()))
}

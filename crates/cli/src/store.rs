//! The database of runs, and the leases beside it.

use std::{fs::DirBuilder, io, path::Path};

use thermidor_agent_runtime::Tries;
use thermidor_model_runtime::ModelRuntime;
use thermidor_runs::Runs;
use thermidor_step_engine::JournalErrorKind;
use thermidor_storage::{Access, Leases, Options, SqliteJournal};
use thermidor_tools::{Calculator, Registry};

use crate::{exit::Trouble, settings::Places, tape::Take};

/// The tools that agents of a team can name.
///
/// # Errors
/// When two have one name.
pub(crate) fn tools() -> Result<Registry, Trouble> {
    let mut tools = Registry::default();
    tools.register(Calculator::default()).map_err(Trouble::configuration)?;
    Ok(tools)
}

/// Opens the database to start or resume runs, and creates it where there is none.
///
/// # Errors
/// `Configuration` when the data folder cannot be written, or the database is a newer program's.
pub(crate) fn open(
    places: &Places,
    models: ModelRuntime,
    tries: Tries,
    take: &Take,
) -> Result<Runs, Trouble> {
    let data = &places.data;
    made(data).map_err(|error| {
        let remedy = "make it writable, or set THERMIDOR_HOME to another folder";
        Trouble::configuration(format!(
            "the data folder {} cannot be used: {error}; {remedy}",
            data.display()
        ))
    })?;
    let mut runs = Runs::builder(models).tries(tries);
    if let Some(clock) = take.clock()? {
        runs = runs.prompt_clock(clock);
    }
    let runs = tools()?.iter().fold(runs, |runs, tool| runs.tool(tool.clone()));
    Ok(runs.sqlite(data)?.build()?)
}

/// Makes the folder where there is none: for its owner alone, as it will hold what people asked.
pub(crate) fn made(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens the database to look at runs. `None` when there is none yet. Works on a read-only medium too.
///
/// # Errors
/// `Configuration` when it cannot be read, or is a newer program's.
pub(crate) fn look(places: &Places) -> Result<Option<Runs>, Trouble> {
    let path = places.database();
    if !path.exists() {
        return Ok(None);
    }
    let journal = match SqliteJournal::open(&path, Options::default()) {
        Err(error) if matches!(error.kind(), JournalErrorKind::ReadOnly | JournalErrorKind::Full) => {
            SqliteJournal::open(&path, Options { access: Access::ReadOnly, ..Options::default() })
        }
        opened => opened,
    };
    let models = ModelRuntime::builder().build().map_err(Trouble::configuration)?;
    let builder = Runs::builder(models).journal(journal?);
    // Where no lease can be kept, nobody can drive a run either.
    let builder = match Leases::open(&places.data) {
        Ok(leases) => builder.leases(leases),
        Err(_) => builder,
    };
    Ok(Some(builder.build()?))
}

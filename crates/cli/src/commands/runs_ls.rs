//! `thermidor runs ls`

use serde_json::json;
use thermidor_runs::{RunEventKind, RunSummary, Runs};
use thermidor_step_engine::TreeState;

use crate::{
    exit::Trouble,
    find_run::short,
    screen::Screen,
    settings::{Settings, now},
    store,
    table::Table,
    timeline, words,
};

/// Lists runs, newest first.
pub(super) async fn ls(
    limit: usize,
    as_json: bool,
    settings: &Settings,
    screen: Screen,
) -> Result<(), Trouble> {
    let runs = store::look(&settings.places)?;
    let listed = match &runs {
        Some(runs) => runs.list(None, limit).await?,
        None => Vec::new(),
    };
    if as_json {
        for run in &listed {
            screen.print(&json_line(run))?;
        }
        return Ok(());
    }
    let (Some(runs), false) = (runs, listed.is_empty()) else {
        if limit > 0 {
            screen
                .note("There are no runs yet. Start one: thermidor run \"an AI trainer for job interviews\"");
        }
        return Ok(());
    };
    let mut table = Table::new(&["run", "when", "state", "team", "turns", "tokens", "request"], &[4, 5]);
    let now = now();
    for run in &listed {
        let (status, spent) = (&run.row.status, &run.row.status.spent);
        table.row([
            short(run.row.tree),
            words::ago(run.row.opened_at, now),
            state(run).to_owned(),
            team(&runs, run).await,
            spent.turns.to_string(),
            words::tokens(spent.tokens),
            console::truncate_str(&words::one_line(&status.title), 50, "…").into_owned(),
        ]);
    }
    Ok(screen.print(&table.to_string())?)
}

/// The team stands in the run's first event only.
async fn team(runs: &Runs, run: &RunSummary) -> String {
    let Ok(history) = runs.show(run.row.tree).await else { return "?".to_owned() };
    let started = history.events.into_iter().find_map(|event| match event.kind {
        RunEventKind::RunStarted { team, .. } => Some(words::one_line(&team)),
        _ => None,
    });
    started.unwrap_or_else(|| "?".to_owned())
}

/// Where a run stands, in a word.
pub(super) fn state(run: &RunSummary) -> &'static str {
    match run.row.status.state {
        _ if run.is_interrupted() => "interrupted",
        TreeState::New | TreeState::Running => "running",
        TreeState::Parked { .. } => "parked",
        TreeState::Suspended => "suspended",
        TreeState::Ended(status) => timeline::status(status),
    }
}

fn json_line(run: &RunSummary) -> String {
    let (row, spent) = (&run.row, &run.row.status.spent);
    let line = json!({
        "run": row.tree, "opened_at": row.opened_at, "changed_at": row.changed_at, "state": state(run),
        "title": row.status.title, "kind": row.status.kind, "turns": spent.turns, "tokens": spent.tokens,
        "money": spent.money,
    });
    format!("{line}\n")
}

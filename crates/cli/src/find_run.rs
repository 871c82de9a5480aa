//! From what a person types to a run.

use thermidor_runs::{RunSummary, Runs};
use thermidor_types::TreeId;

use crate::exit::Trouble;

/// The characters of an id that must be given at the least.
const SHORTEST: usize = 4;
/// Runs read at a time while looking for one.
const PAGE: usize = 500;

/// The end of a run's id: its beginning is the time, which runs of the same minute share.
pub(crate) fn short(id: TreeId) -> String {
    let id = id.to_string();
    id[id.len() - 8..].to_owned()
}

/// The run that `text` means: `last`, a whole id, or the beginning or end of exactly one.
///
/// # Errors
/// `Usage` when there is none, or more than one.
pub(crate) async fn find(runs: &Runs, text: &str) -> Result<RunSummary, Trouble> {
    if text == "last" {
        let newest = runs.list(None, 1).await?.pop();
        return newest.ok_or_else(|| Trouble::usage("there are no runs yet"));
    }
    let wanted = text.to_ascii_lowercase();
    let whole = wanted.parse::<TreeId>().ok();
    if whole.is_none() && wanted.len() < SHORTEST {
        return Err(Trouble::usage(format!(
            "{text:?} is too short for a run: give {SHORTEST} characters or more, or `last`"
        )));
    }
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let page = runs.list(before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.row.tree);
        found.extend(page.into_iter().filter(|run| {
            let id = run.row.tree.to_string();
            whole.map_or(id.starts_with(&wanted) || id.ends_with(&wanted), |whole| run.row.tree == whole)
        }));
    }
    match (found.len(), found.pop()) {
        (1, Some(run)) => Ok(run),
        (0, _) | (_, None) => Err(Trouble::usage(format!("there is no run {text:?}; see thermidor runs ls"))),
        (count, Some(last)) => {
            let ids = found.iter().chain([&last]).take(5).map(|run| run.row.tree.to_string());
            let ids: Vec<String> = ids.collect();
            Err(Trouble::usage(format!(
                "{count} runs are called {text:?}: {}; give more of the id",
                ids.join(", ")
            )))
        }
    }
}

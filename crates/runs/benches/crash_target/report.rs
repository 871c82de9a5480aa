use std::collections::BTreeMap;

use serde::Serialize;
use thermidor_runs::Runs;
use thermidor_step_engine::{Driven, EffectKey, Fact, HowKind, NodeId, Record};
use thermidor_types::{Json, TreeId};
use tokio_util::sync::CancellationToken;

use crate::Error;

/// What stands in the journal at the end.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The appends that this process made.
    appends: u64,
    /// How the root run ended.
    status: String,
    /// What it made, stage by stage, in its stored form.
    output: Json,
    /// Pieces of work that were started.
    works: usize,
    /// Starts beyond the first of a piece of work.
    repeated: u32,
    /// Everything that happened more often than it may.
    faults: Vec<String>,
}

/// What became of one piece of work.
#[derive(Default)]
struct Work {
    starts: u32,
    ends: u32,
}

impl Report {
    pub(crate) async fn of(runs: &Runs, id: TreeId, appends: u64) -> Result<Self, Error> {
        let records = runs.engine().records(id, 0).await?;
        let (works, faults) = follow(&records);
        // Driving a run that has ended only takes it, and hands out its end.
        let end = match runs.engine().drive(id, &CancellationToken::new()).await? {
            Driven::Ended(end) => end,
            other => return Err(format!("the run did not come to its end: {other:?}").into()),
        };
        Ok(Self {
            appends,
            status: format!("{:?}", end.status),
            output: end.output,
            works: works.len(),
            repeated: works.values().map(|work| work.starts.saturating_sub(1)).sum(),
            faults,
        })
    }
}

fn follow(records: &[Record]) -> (BTreeMap<(NodeId, EffectKey), Work>, Vec<String>) {
    let mut works: BTreeMap<(NodeId, EffectKey), Work> = BTreeMap::new();
    let mut faults = Vec::new();
    for record in records {
        match &record.fact {
            Fact::Started { key, .. } => {
                let work = works.entry((record.node, key.clone())).or_default();
                work.starts += 1;
                if work.ends > 0 {
                    faults.push(format!("{}/{key} was started after its end", record.node));
                }
            }
            Fact::Ended { key, how: HowKind::Done, .. } => {
                let work = works.entry((record.node, key.clone())).or_default();
                work.ends += 1;
                if work.ends > 1 {
                    faults.push(format!("{}/{key} ended twice", record.node));
                }
            }
            _ => {}
        }
    }
    let open = works
        .iter()
        .filter(|(_, work)| work.ends == 0)
        .map(|((node, key), _)| format!("{node}/{key} never ended"));
    faults.extend(open.collect::<Vec<_>>());
    (works, faults)
}

//! What an append costs.

use std::sync::Arc;

use thermidor_step_engine::{Append, EndStatus, Journal, NodeId, Spent, StoredRecord, TreeState, TreeStatus};
use thermidor_storage::{Durability, SqliteJournal};
use thermidor_types::{RandomIds, Timestamp, TreeId};
use tokio::task::JoinSet;

use crate::{
    Bench, Error, Row, agents,
    meter::{Meter, micros},
    runtime::{spawned, two_threads},
};

const FIGURE: &str = "journal append";
const TREES: usize = 50;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let mut rows = of(bench, Durability::Normal, "NORMAL", bench.pick(2_000, 300))?;
    rows.extend(of(bench, Durability::Full, "FULL", bench.pick(300, 50))?);
    Ok(rows)
}

fn of(bench: &Bench, durability: Durability, name: &str, appends: u64) -> Result<Vec<Row>, Error> {
    let runtime = two_threads()?;
    let folder = agents::folder()?;
    let journal = Arc::new(agents::sqlite(&folder, durability)?);
    let one = journal.clone();
    let singles = spawned(&runtime, async move {
        let tree = TreeId::fresh(&RandomIds);
        let mut costs = Vec::new();
        for version in 0..appends {
            let meter = Meter::start();
            one.append(tree, append(version * 2)).await?;
            costs.push(meter.read());
        }
        Ok(costs)
    })?;
    let (rounds, each) = bench.pick((7, appends / 10), (3, appends / 10));
    let mut groups = Vec::new();
    for _ in 0..rounds {
        let journal = journal.clone();
        let meter = Meter::start();
        spawned(&runtime, group(journal, each))?;
        groups.push(meter.read());
    }
    // The first appends make the file and its pages.
    let warm = || singles.iter().skip(20);
    let how = "2 records of 600 bytes, compare and set, one tree, one after the other";
    let share = |took| micros(took) / (TREES as u64 * each) as f64;
    let row = |unit, samples: Vec<f64>| {
        Row::of(FIGURE, format!("SQLite {name}, {TREES} trees at once"), unit, samples)
    };
    Ok(vec![
        Row::of(FIGURE, format!("SQLite {name}"), "µs wall", warm().map(|cost| micros(cost.wall))).how(how),
        Row::of(FIGURE, format!("SQLite {name}"), "µs CPU", warm().map(|cost| micros(cost.cpu)))
            .how("all threads: caller, writer, watchman"),
        row("µs wall", groups.iter().map(|cost| share(cost.wall)).collect())
            .how(format!("time per append; {each} appends by each tree a sample, grouped into transactions")),
        row("µs CPU", groups.iter().map(|cost| share(cost.cpu)).collect()).how("all threads"),
    ])
}

async fn group(journal: Arc<SqliteJournal>, appends: u64) -> Result<(), Error> {
    let mut tasks = JoinSet::new();
    for _ in 0..TREES {
        let journal = journal.clone();
        tasks.spawn(async move {
            let tree = TreeId::fresh(&RandomIds);
            for version in 0..appends {
                journal.append(tree, append(version * 2)).await?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

fn append(expected: u64) -> Append {
    let body = format!("\"{}\"", "x".repeat(598));
    let record = StoredRecord {
        at: Timestamp::default(),
        node: NodeId::ROOT,
        kind: "happened".into(),
        version: 1,
        body,
        cuts: Vec::new(),
    };
    let state = TreeState::Ended(EndStatus::Done);
    let status = TreeStatus { title: "a tree".into(), kind: "bench".into(), state, spent: Spent::default() };
    Append { expected, records: vec![record.clone(), record], blobs: Vec::new(), handled: Vec::new(), status }
}

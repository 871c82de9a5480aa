//! Runs per second in one process.

use std::sync::Arc;

use thermidor_storage::Durability;
use tokio::task::JoinSet;

use crate::{
    Bench, Error, Row,
    agents::{self, CALLS},
    floor::{self, Floor},
    meter::{Cost, Meter},
    runtime::{raise_descriptor_limit, spawned, two_threads},
};

const FIGURE: &str = "runs per second";

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    raise_descriptor_limit()?;
    let runtime = two_threads()?;
    let floor = Arc::new(Floor::new(bench)?);
    let folder = agents::folder()?;
    let memory = Arc::new(agents::in_memory(bench)?);
    let sqlite = Arc::new(agents::over(bench, agents::sqlite(&folder, Durability::Normal)?)?);
    let rounds = bench.pick(7, 2);
    let mut rows = Vec::new();
    for (in_flight, count) in [(1, 200), (50, 600), (200, 800)] {
        let count = bench.pick(count, count / 4);
        let mut samples: [Vec<f64>; 3] = Default::default();
        for round in 0..=rounds {
            let (floor, memory, sqlite) = (floor.clone(), memory.clone(), sqlite.clone());
            let costs = spawned(&runtime, async move {
                let start = Meter::start();
                bare(floor, count, in_flight).await?;
                let bared = Meter::start();
                agents::many(memory, count, in_flight, || agents::relay("")).await?;
                let remembered = Meter::start();
                agents::many(sqlite, count, in_flight, || agents::relay("")).await?;
                Ok([start.until(&bared), bared.until(&remembered), remembered.read()])
            })?;
            if round > 0 {
                let rate = |cost: &Cost| count as f64 / cost.wall.as_secs_f64();
                costs.iter().zip(&mut samples).for_each(|(cost, samples)| samples.push(rate(cost)));
            }
        }
        let [bare, memory, sqlite] = samples;
        let row = |what: &str, samples: Vec<f64>| {
            Row::of(FIGURE, format!("{what}, {in_flight} in flight"), "runs/s", samples)
        };
        let how = format!(
            "{count} runs of {CALLS} model calls a sample, two threads; the mock shares the two cores"
        );
        let ours = row("agent, memory journal", memory).how(how);
        rows.push(
            row("bare reqwest, five calls", bare).how("the same requests: what this machine and mock can do"),
        );
        rows.push(if in_flight > 1 { ours.at_least(1_000.0) } else { ours });
        rows.push(row("agent, SQLite journal (NORMAL)", sqlite));
    }
    Ok(rows)
}

async fn bare(floor: Arc<Floor>, count: usize, in_flight: usize) -> Result<(), Error> {
    let bodies = Arc::new(floor::relay(""));
    let mut tasks = JoinSet::new();
    for begun in 0..count {
        if begun >= in_flight {
            tasks.join_next().await.ok_or("no task")???;
        }
        let (floor, bodies) = (floor.clone(), bodies.clone());
        tasks.spawn(async move {
            for body in bodies.iter() {
                floor.call(body.clone()).await?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

/// 1,000 runs at once, each call answered after two seconds.
pub(crate) fn thousand(bench: &Bench) -> Result<Vec<Row>, Error> {
    raise_descriptor_limit()?;
    let runtime = two_threads()?;
    let count = bench.pick(1_000, 200);
    let mut walls = Vec::new();
    for _ in 0..bench.pick(3, 1) {
        let runs = Arc::new(agents::in_memory(bench)?);
        let meter = Meter::start();
        spawned(&runtime, agents::many(runs, count, count, || agents::relay("-l2000")))?;
        walls.push(meter.read().wall.as_secs_f64());
    }
    let what = format!("{count} runs at once, five calls of 2 s each");
    let how = "ideal: 10 s; memory journal, one connection per run, two threads";
    Ok(vec![Row::of("many runs", what, "s wall", walls).at_most(11.0).how(how)])
}

//! What one run with an open model call holds.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use crate::{
    Bench, Error, Row, agents,
    floor::{self, Floor},
    meter::resident,
    runtime::{raise_descriptor_limit, spawned, two_threads},
};

const FIGURE: &str = "memory";
/// Late enough that all calls are open at once, also on a busy machine.
const MODEL: &str = "mock-txt-l6000";

pub(crate) fn of_runs(bench: &Bench) -> Result<Vec<Row>, Error> {
    let runs = Arc::new(agents::in_memory(bench)?);
    let row = measure(bench, "run with an open model call", move || {
        let runs = runs.clone();
        async move {
            let request = thermidor_runs::RunRequest::agent(agents::agent(MODEL), agents::REQUEST);
            agents::finish(&runs, request).await
        }
    })?;
    Ok(vec![row.at_most(40.0)])
}

pub(crate) fn of_streams(bench: &Bench) -> Result<Vec<Row>, Error> {
    let floor = Arc::new(Floor::new(bench)?);
    let row = measure(bench, "bare reqwest call", move || {
        let floor = floor.clone();
        async move { floor.call(floor::body(MODEL, 0)).await.map(drop) }
    })?;
    Ok(vec![row])
}

fn measure<F>(bench: &Bench, what: &str, call: impl Fn() -> F + Send + 'static) -> Result<Row, Error>
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    raise_descriptor_limit()?;
    let runtime = two_threads()?;
    let count = bench.pick(1_000, 200);
    let floor = Floor::new(bench)?;
    let held = spawned(&runtime, async move {
        // The first call brings in what all calls share.
        call().await?;
        let seen = floor.requests().await?;
        let before = resident()?;
        let mut calls = JoinSet::new();
        for _ in 0..count {
            calls.spawn(call());
        }
        while floor.requests().await? < seen + count {
            if let Some(early) = calls.try_join_next() {
                early??;
                return Err("an answer came before all calls were open".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let held = resident()? - before;
        while let Some(ended) = calls.join_next().await {
            ended??;
        }
        Ok(held / count as f64)
    })?;
    let how = format!("growth of VmRSS, {count} open at once, each with its connection");
    Ok(Row::of(FIGURE, format!("{what}, {count} at once"), "KB each", [held]).how(how))
}

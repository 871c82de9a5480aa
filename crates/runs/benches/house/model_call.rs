//! CPU and time of one model call, agent, engine, journal and HTTP client included.

use std::{future::Future, sync::Arc};

use futures_util::StreamExt;
use thermidor_runs::{RunRequest, Runs};
use thermidor_storage::Durability;
use tokio::runtime::Runtime;

use crate::{
    Bench, Error, Row,
    agents::{self, CALLS},
    floor::{self, Floor},
    meter::{Cost, Meter, micros, millis},
    runtime::{one_thread, spawned, two_threads},
};

const FIGURE: &str = "model call";

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let mut rows = on(bench, &one_thread()?, "one thread")?;
    rows.extend(on(bench, &two_threads()?, "two threads")?);
    Ok(rows)
}

fn on(bench: &Bench, runtime: &Runtime, threads: &str) -> Result<Vec<Row>, Error> {
    let (rounds, runs) = bench.pick((9, 60), (3, 20));
    let floor = Arc::new(Floor::new(bench)?);
    let folder = agents::folder()?;
    let memory = Arc::new(agents::in_memory(bench)?);
    let sqlite = Arc::new(agents::over(bench, agents::sqlite(&folder, Durability::Normal)?)?);
    let bodies = Arc::new(floor::relay(""));
    let bare = move || {
        let (floor, bodies) = (floor.clone(), bodies.clone());
        async move {
            for body in bodies.iter() {
                floor.call(body.clone()).await?;
            }
            Ok(())
        }
    };
    let ours = |runs: &Arc<Runs>, request: fn() -> RunRequest| {
        let runs = runs.clone();
        move || {
            let runs = runs.clone();
            async move { agents::finish(&runs, request()).await }
        }
    };
    let client = {
        let model = agents::models(bench).build()?.model("mock/mock-sup-n4")?;
        move || {
            let model = model.clone();
            async move {
                for call in 0..CALLS {
                    let mut answer = model.stream(agents::request(call)).await?;
                    while answer.next().await.is_some() {}
                }
                Ok(())
            }
        }
    };
    let relay: fn() -> RunRequest = || agents::relay("");
    let mut samples: [Vec<Cost>; 5] = Default::default();
    // One round first that does not count: connections, vocabularies, caches.
    for round in 0..=rounds {
        let costs = [
            sample(runtime, runs, bare.clone())?,
            sample(runtime, runs, client.clone())?,
            sample(runtime, runs, ours(&memory, relay))?,
            sample(runtime, runs, ours(&sqlite, relay))?,
            sample(runtime, runs, ours(&memory, agents::pipeline))?,
        ];
        if round > 0 {
            costs.into_iter().zip(&mut samples).for_each(|(cost, samples)| samples.push(cost));
        }
    }
    let [bare, client, memory, sqlite, pipeline] = samples;
    let cpu = |costs: &[Cost]| costs.iter().map(|cost| millis(cost.cpu)).collect::<Vec<_>>();
    let above = |costs: &[Cost]| -> Vec<f64> {
        costs.iter().zip(&bare).map(|(cost, bare)| millis(cost.cpu) - millis(bare.cpu)).collect()
    };
    let row =
        |what: &str, samples: Vec<f64>| Row::of(FIGURE, format!("{what}, {threads}"), "ms CPU", samples);
    let loops = format!("{runs} runs of {CALLS} calls a sample, four with a tool call, one after the other");
    Ok(vec![
        row("bare reqwest", cpu(&bare)).how("the same requests and answers, read and not looked at"),
        row("model runtime alone", cpu(&client)).how("the same requests as typed messages, answers decoded"),
        row("agent, memory journal", cpu(&memory)).at_most(0.15).how(&loops),
        row("agent, memory journal, above bare reqwest", above(&memory))
            .at_most(0.06)
            .how("difference in each round"),
        row("agent, SQLite journal (NORMAL)", cpu(&sqlite)).how(&loops),
        row("agent, SQLite journal, above bare reqwest", above(&sqlite)).how("difference in each round"),
        row("pipeline of five members, memory journal", cpu(&pipeline))
            .how("each call in a child run of its own"),
        Row::of(
            FIGURE,
            format!("bare reqwest, {threads}"),
            "µs wall",
            bare.iter().map(|cost| micros(cost.wall)),
        ),
        Row::of(
            FIGURE,
            format!("agent, memory journal, {threads}"),
            "µs wall",
            memory.iter().map(|cost| micros(cost.wall)),
        ),
        Row::of(
            FIGURE,
            format!("agent, SQLite journal, {threads}"),
            "µs wall",
            sqlite.iter().map(|cost| micros(cost.wall)),
        ),
    ])
}

/// What one model call of `runs` runs took on average.
fn sample<F>(runtime: &Runtime, runs: usize, run: impl Fn() -> F + Send + 'static) -> Result<Cost, Error>
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let meter = Meter::start();
    spawned(runtime, async move {
        for _ in 0..runs {
            run().await?;
        }
        Ok(())
    })?;
    let Cost { cpu, wall } = meter.read();
    let calls = u32::try_from(runs * CALLS)?;
    Ok(Cost { cpu: cpu / calls, wall: wall / calls })
}

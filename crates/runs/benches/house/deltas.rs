//! What a streamed token costs on its way from the socket to a watcher.

use std::sync::Arc;

use futures_util::StreamExt;
use thermidor_model_runtime::{ChatEvent, ChatRequest};
use thermidor_runs::{RunEventKind, RunRequest};
use thermidor_types::Message;

use crate::{
    Bench, Error, Row, agents,
    floor::{self, Floor},
    meter::{Cost, Meter, micros},
    runtime::{spawned, two_threads},
};

const FIGURE: &str = "streamed token";
const TOKENS: usize = 20_000;
const MODEL: &str = "mock-txt-t20000";

fn request() -> RunRequest {
    RunRequest::agent(agents::agent(MODEL), agents::REQUEST)
}

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let runtime = two_threads()?;
    let (rounds, streams) = bench.pick((9, 8), (3, 3));
    let floor = Floor::new(bench)?;
    let model = agents::models(bench).build()?.model(&format!("mock/{MODEL}"))?;
    let runs = Arc::new(agents::in_memory(bench)?);
    let mut samples: [Vec<Cost>; 5] = Default::default();
    for round in 0..=rounds {
        let (floor, model) = (floor.clone(), model.clone());
        let (silent, watched, crowd) = (runs.clone(), runs.clone(), runs.clone());
        let meters = spawned(&runtime, async move {
            let mut meters = vec![Meter::start()];
            for _ in 0..streams {
                floor.call(floor::body(MODEL, 0)).await?;
            }
            meters.push(Meter::start());
            for _ in 0..streams {
                let request =
                    ChatRequest { messages: vec![Message::user(agents::REQUEST)], ..ChatRequest::default() };
                let mut answer = model.stream(request).await?;
                while let Some(event) = answer.next().await {
                    if let ChatEvent::Ended(end) = event {
                        assert!(end.message.text().len() > TOKENS, "an answer was too short");
                    }
                }
            }
            meters.push(Meter::start());
            for _ in 0..streams {
                agents::finish(&silent, request()).await?;
            }
            meters.push(Meter::start());
            for _ in 0..streams {
                watch(&watched).await?;
            }
            meters.push(Meter::start());
            agents::many(crowd, 50, 50, request).await?;
            meters.push(Meter::start());
            Ok(meters)
        })?;
        if round > 0 {
            let costs = meters.windows(2).map(|pair| pair[0].until(&pair[1]));
            costs.zip(&mut samples).for_each(|(cost, samples)| samples.push(cost));
        }
    }
    let [bare, decoded, silent, watched, crowd] = samples;
    let per_token = |cost: &Cost, streams: usize| micros(cost.cpu) / (streams * TOKENS) as f64;
    let cpu = |costs: &[Cost]| costs.iter().map(|cost| per_token(cost, streams)).collect::<Vec<_>>();
    let above = |costs: &[Cost]| -> Vec<f64> {
        costs
            .iter()
            .zip(&bare)
            .map(|(cost, bare)| per_token(cost, streams) - per_token(bare, streams))
            .collect()
    };
    let rate = |costs: &[Cost], streams: usize| -> Vec<f64> {
        costs.iter().map(|cost| (streams * TOKENS) as f64 / cost.wall.as_secs_f64()).collect()
    };
    let how =
        format!("{streams} answers of 20,000 one-token events a sample, one after the other, two threads");
    Ok(vec![
        Row::of(FIGURE, "bare reqwest, bytes only", "µs CPU", cpu(&bare)).how(&how),
        Row::of(FIGURE, "model runtime alone", "µs CPU", cpu(&decoded)).how("HTTP, SSE, JSON, assembly"),
        Row::of(FIGURE, "agent, nobody watches", "µs CPU", cpu(&silent)).how("and engine, live text"),
        Row::of(FIGURE, "agent, nobody watches, above bare reqwest", "µs CPU", above(&silent))
            .at_most(2.0)
            .how("difference in each round"),
        Row::of(FIGURE, "agent, one watcher", "µs CPU", cpu(&watched))
            .how("every event read by a subscriber"),
        Row::of(FIGURE, "agent, one watcher, above bare reqwest", "µs CPU", above(&watched))
            .at_most(2.0)
            .how("difference in each round"),
        Row::of(FIGURE, "bare reqwest, one stream", "tokens/s", rate(&bare, streams))
            .how("the mock shares the cores"),
        Row::of(FIGURE, "agent, one stream", "tokens/s", rate(&silent, streams)).at_least(200_000.0),
        Row::of(FIGURE, "agent, 50 streams", "tokens/s", rate(&crowd, 50)).at_least(200_000.0),
    ])
}

/// A run whose every event is read while it goes on.
async fn watch(runs: &thermidor_runs::Runs) -> Result<(), Error> {
    let run = runs.start(request()).await?;
    let mut events = run.events().await?;
    let mut fragments = 0;
    while let Some(event) = events.next().await {
        if matches!(event?.kind, RunEventKind::Delta { .. }) {
            fragments += 1;
        }
    }
    assert!(fragments > 0, "a watcher saw no fragment");
    agents::done(run).await
}

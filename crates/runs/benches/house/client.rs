//! The client alone: tokens from the socket to events, beside a reader that does not look at its bytes.

use futures_util::StreamExt;
use thermidor_model_runtime::{ChatEvent, ChatRequest};
use thermidor_types::Message;

use crate::{
    Bench, Error, Row, agents,
    floor::{self, Floor},
    meter::{Cost, Meter, micros},
    runtime::{one_thread, spawned},
};

const FIGURE: &str = "client";
const TOKENS: usize = 20_000;
const MODEL: &str = "mock-txt-t20000";

/// One thread, as the client that it is compared with has one.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let runtime = one_thread()?;
    let (rounds, streams) = bench.pick((15, 8), (3, 3));
    let floor = Floor::new(bench)?;
    let model = agents::models(bench).build()?.model(&format!("mock/{MODEL}"))?;
    let mut samples: [Vec<Cost>; 2] = Default::default();
    for round in 0..=rounds {
        let (floor, model) = (floor.clone(), model.clone());
        let meters = spawned(&runtime, async move {
            let mut meters = vec![Meter::start()];
            for _ in 0..streams {
                floor.call(floor::body(MODEL, 0)).await?;
            }
            meters.push(Meter::start());
            for _ in 0..streams {
                let messages = vec![Message::user(agents::REQUEST)];
                let mut answer = model.stream(ChatRequest { messages, ..ChatRequest::default() }).await?;
                let mut length = 0;
                while let Some(event) = answer.next().await {
                    if let ChatEvent::Text(text) = event {
                        length += text.len();
                    }
                }
                assert_eq!(length, TOKENS * "token ".len(), "words were lost");
            }
            meters.push(Meter::start());
            Ok(meters)
        })?;
        if round > 0 {
            let costs = meters.windows(2).map(|pair| pair[0].until(&pair[1]));
            costs.zip(&mut samples).for_each(|(cost, samples)| samples.push(cost));
        }
    }
    let [bare, ours] = samples;
    let tokens = (streams * TOKENS) as f64;
    let cpu = |costs: &[Cost]| costs.iter().map(|cost| micros(cost.cpu) / tokens).collect::<Vec<_>>();
    let rate = |costs: &[Cost]| costs.iter().map(|cost| tokens / cost.wall.as_secs_f64()).collect::<Vec<_>>();
    let above = cpu(&ours).into_iter().zip(cpu(&bare)).map(|(ours, bare)| ours - bare);
    let how =
        format!("{streams} answers of 20,000 one-token events a sample, one after the other, one thread");
    Ok(vec![
        Row::of(FIGURE, "bare reqwest, bytes only", "tokens/s", rate(&bare)).how(&how),
        Row::of(FIGURE, "model runtime", "tokens/s", rate(&ours))
            .at_least(200_000.0)
            .how("HTTP, SSE, JSON, assembly; events that came together are one"),
        Row::of(FIGURE, "bare reqwest, bytes only", "µs CPU a token", cpu(&bare)),
        Row::of(FIGURE, "model runtime", "µs CPU a token", cpu(&ours)),
        Row::of(FIGURE, "model runtime, above bare reqwest", "µs CPU a token", above)
            .at_most(2.0)
            .how("difference in each round"),
    ])
}

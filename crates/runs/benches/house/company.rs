//! The bundled company in its two forms: a strict relay, and frontend and algorithm side by side.

use tokio::time::Instant;

use thermidor_runs::{Outcome, RunEventKind, RunRequest, Runs};
use thermidor_skills::Source;
use thermidor_step_engine::EndStatus;
use thermidor_teams::{Choices, Language, Library, bundled_skills};

use crate::{Bench, Error, agents, row::Row, runtime};

/// What one stage takes: the mock's latency.
const STAGE: &str = "mock/mock-echo-l500";

/// Times both forms in turn against a mock that takes half a second a stage.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let (bench, times) = (bench.clone(), bench.pick(5, 1));
    runtime::spawned(&runtime::two_threads()?, async move {
        let runs = agents::in_memory(&bench)?;
        let mut wall = [Vec::new(), Vec::new()];
        let mut middle = [Vec::new(), Vec::new()];
        for _ in 0..times {
            for (form, team) in ["software-company", "software-company-parallel"].into_iter().enumerate() {
                let (total, both) = once(&runs, team).await?;
                wall[form].push(total);
                middle[form].push(both);
            }
        }
        let saved: Vec<f64> =
            wall[0].iter().zip(&wall[1]).map(|(strict, side)| 100.0 * (1.0 - side / strict)).collect();
        let [strict, side] = wall;
        let [strict_middle, side_middle] = middle;
        let how = "500 ms a model call, over HTTP; the two forms in turn";
        let row = |what: &str, unit, samples: Vec<f64>| Row::of("company", what, unit, samples).how(how);
        Ok(vec![
            row("frontend and algorithm, strict relay", "ms", strict_middle),
            row("frontend and algorithm, side by side", "ms", side_middle).at_most(600.0),
            row("the whole run, strict relay", "ms", strict),
            row("the whole run, side by side", "ms", side),
            row("time saved by working side by side", "%", saved),
        ])
    })
}

/// Milliseconds of a whole run, and from the beginning of the first to the end of the last of the two stages.
async fn once(runs: &Runs, team: &str) -> Result<(f64, f64), Error> {
    let skills = thermidor_skills::Library::read(&[Source::Embedded(bundled_skills())]);
    let library = Library::open(&[], &skills);
    let team = library.get(team)?;
    let group = team.to_group(&Choices::new(Language::En, STAGE.parse()?), &skills)?;
    let request = RunRequest::group(group, "an AI trainer for job interviews").limits(team.limits());
    let began = Instant::now();
    let run = runs.start(request).await?;
    let id = run.id();
    match run.wait().await? {
        Outcome::Ended(ended) if ended.end.status == EndStatus::Done => {}
        other => return Err(format!("the run did not end well: {other:?}").into()),
    }
    let wall = began.elapsed().as_secs_f64() * 1_000.0;
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for event in runs.show(id).await?.events {
        match &event.kind {
            RunEventKind::TurnStarted { stage, .. } if stage == "frontend" || stage == "algorithm" => {
                first = first.min(event.at.as_millis());
            }
            RunEventKind::TurnEnded { stage, .. } if stage == "frontend" || stage == "algorithm" => {
                last = last.max(event.at.as_millis());
            }
            _ => {}
        }
    }
    Ok((wall, (last - first) as f64))
}

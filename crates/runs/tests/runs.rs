//! One sentence through the whole house, in memory, with the rehearsal model.

use std::time::Duration;

use thermidor_context_engine::Language;
use thermidor_model_runtime::{ModelRuntime, Rehearsal};
use thermidor_runs::{ErrorKind, Outcome, RunEvent, RunEventKind as Kind, RunRequest, Runs, delivery};
use thermidor_skills::Source;
use thermidor_step_engine::{EndStatus, Limits};
use thermidor_teams::{Choices, Library, bundled_skills};
use thermidor_testing::ScriptedModel;

const REHEARSAL: &str = "rehearsal/extractive";

fn house(pace: Duration) -> Runs {
    let models = ModelRuntime::builder().register(Rehearsal::paced(pace)).build().expect("it builds");
    Runs::builder(models).build().expect("it builds")
}

fn company(team: &str, sentence: &str, model: &str) -> RunRequest {
    let skills = thermidor_skills::Library::read(&[Source::Embedded(bundled_skills())]);
    let library = Library::open(&[], &skills);
    let team = library.get(team).expect("bundled");
    let choices = Choices::new(Language::of(sentence), model.parse().expect("a model id"));
    let group = team.to_group(&choices, &skills).expect("it fits");
    RunRequest::group(group, sentence).limits(team.limits())
}

async fn all(mut events: thermidor_runs::Events) -> Vec<RunEvent> {
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        seen.push(event.expect("the journal reads"));
    }
    seen
}

/// The events that are in the journal, not live.
fn lasting(events: &[RunEvent]) -> Vec<&RunEvent> {
    events.iter().filter(|event| !matches!(event.kind, Kind::Delta { .. })).collect()
}

fn stages(events: &[RunEvent]) -> Vec<String> {
    let ended = |event: &RunEvent| match &event.kind {
        Kind::TurnEnded { stage, status: EndStatus::Done, .. } => Some(stage.to_string()),
        _ => None,
    };
    events.iter().filter_map(ended).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sentence_becomes_a_delivery() {
    let runs = house(Duration::ZERO);
    let sentence = "an AI trainer for job interviews";
    let run = runs.start(company("software-company", sentence, REHEARSAL)).await.expect("it starts");
    let (id, events) = (run.id(), run.events().await.expect("it watches"));
    let (seen, outcome) = tokio::join!(all(events), run.wait());
    let Outcome::Ended(ended) = outcome.expect("it is driven") else { panic!("it ends") };
    assert_eq!(ended.end.status, EndStatus::Done);
    assert_eq!(stages(&seen), ["analysis", "plan", "frontend", "algorithm", "summary"]);

    // What was streamed is what was said, as far as the watcher could keep up.
    let mut streamed = String::new();
    for event in &seen {
        match &event.kind {
            Kind::Delta { turn: 5, channel, text, .. } if channel == "text" => streamed.push_str(text),
            _ => {}
        }
    }
    assert!(ended.output.text().starts_with(&streamed), "{streamed}");
    assert!(ended.output.text().contains("interview"), "{}", ended.output.text());

    // Invariant 11: the events are a projection that can be made again from the journal.
    let history = runs.show(id).await.expect("it reads");
    assert_eq!(lasting(&seen), history.events.iter().collect::<Vec<_>>());
    for event in &seen {
        let line = serde_json::to_string(event).expect("it serialises");
        assert_eq!(&serde_json::from_str::<RunEvent>(&line).expect("it reads back"), event);
    }

    let folder = tempfile::tempdir().expect("a folder");
    delivery::check(folder.path()).expect("it is empty");
    let delivery = delivery::write(folder.path(), &ended.output).expect("it is written");
    assert!(delivery.left_out.is_empty(), "{delivery:?}");
    assert!(delivery.files.len() >= 1 + 5 + 2, "{delivery:?}");
    assert!(delivery::check(folder.path()).is_err(), "a full folder must not be overwritten");
    assert_eq!(runs.resume(id, None).await.expect_err("it is done").kind(), ErrorKind::Done);
    assert_eq!(runs.ended(id).await.expect("it reads"), Some(ended), "what it made can be had again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chinese_in_chinese_out_and_another_sentence_another_text() {
    let runs = house(Duration::ZERO);
    let answer = async |sentence: &str| {
        let run =
            runs.start(company("software-company-parallel", sentence, REHEARSAL)).await.expect("it starts");
        run.answer().await.expect("it is done")
    };
    let (first, second) = (answer("一个面试陪练的人工智能").await, answer("一个种菜的提醒工具").await);
    assert_ne!(first, second);
    let chinese = first.chars().filter(|letter| ('\u{4e00}'..'\u{9fff}').contains(letter)).count();
    assert!(chinese > 200, "{first}");
}

/// Would fail if a suspension lost a finished stage, or repeated one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_run_goes_on_where_it_was() {
    let runs = house(Duration::from_millis(1));
    let run =
        runs.start(company("software-company", "a garden planner", REHEARSAL)).await.expect("it starts");
    let (id, mut events) = (run.id(), run.events().await.expect("it watches"));
    let mut seen = Vec::new();
    let mut third = 0;
    while let Some(event) = events.next().await {
        let event = event.expect("the journal reads");
        if matches!(event.kind, Kind::Delta { turn: 3, .. }) {
            third += 1;
            if third == 5 {
                run.suspend();
            }
        }
        seen.push(event);
    }
    assert!(matches!(seen.last().map(|event| &event.kind), Some(Kind::RunSuspended)));
    assert_eq!(run.wait().await.expect("it lets go"), Outcome::Suspended);
    assert_eq!(stages(&seen), ["analysis", "plan"]);
    let cut = seen.iter().any(|event| {
        matches!(&event.kind, Kind::Said { turn: 3, ending, text, .. }
        if *ending == thermidor_types::Ending::CutOff && !text.is_empty())
    });
    assert!(cut, "what was said must be kept, marked as cut off");

    let again = runs.resume(id, None).await.expect("it goes on");
    let events = again.events().await.expect("it watches");
    let (rest, outcome) = tokio::join!(all(events), again.wait());
    assert!(
        matches!(outcome.expect("it is driven"), Outcome::Ended(ended) if ended.end.status == EndStatus::Done)
    );
    assert_eq!(stages(&rest), ["frontend", "algorithm", "summary"]);
    assert!(rest.first().is_some_and(|event| matches!(event.kind, Kind::RunResumed { epoch: 2 })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_at_its_limit_goes_on_with_another() {
    let runs = house(Duration::ZERO);
    let tight = Limits { turns: Some(2), ..Limits::default() };
    let run = runs
        .start(company("software-company", "a tea timer", REHEARSAL).limits(tight))
        .await
        .expect("it starts");
    let id = run.id();
    let Outcome::Ended(ended) = run.wait().await.expect("it is driven") else { panic!("it ends") };
    assert_eq!(ended.end.status, EndStatus::Limit);
    assert_eq!(ended.output.stages().len(), 2, "what was done is kept");
    let again = runs.resume(id, Some(Limits::default())).await.expect("it goes on");
    let Outcome::Ended(ended) = again.wait().await.expect("it is driven") else { panic!("it ends") };
    assert_eq!((ended.end.status, ended.output.stages().len()), (EndStatus::Done, 5));
    let history = runs.show(id).await.expect("it reads");
    assert_eq!(stages(&history.events), ["analysis", "plan", "frontend", "algorithm", "summary"]);
    // Whoever follows the run from its beginning is not sent home at its first end.
    let followed = all(runs.tail(id, 0).await.expect("it follows")).await;
    assert_eq!(followed, history.events);
}

/// Would fail if outputs larger than the model's window stopped the last stage, or were cut without a word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outputs_larger_than_the_window_are_shortened_and_the_report_says_so() {
    let long = |_: &thermidor_model_runtime::ChatRequest| {
        let items: Vec<_> = (0..6_000).map(|number| format!("item{number}")).collect();
        thermidor_testing::Reply::Says(items.join(" "))
    };
    let model = ScriptedModel::answering("scripted/small", long).with_window(thermidor_types::Tokens(9_000));
    let models = ModelRuntime::builder().register(model).build().expect("it builds");
    let runs = Runs::builder(models).build().expect("it builds");
    let request = company("software-company", "a chess clock", "scripted/small").limits(Limits::default());
    let run = runs.start(request).await.expect("it starts");
    let id = run.id();
    let Outcome::Ended(ended) = run.wait().await.expect("it is driven") else { panic!("it ends") };
    assert_eq!(ended.end.status, EndStatus::Done, "{:?}", ended.end.reason);
    let history = runs.show(id).await.expect("it reads");
    let mut reports = history.events.iter().filter_map(|event| match &event.kind {
        Kind::Said { turn: 5, context: Some(report), .. } => Some(report),
        _ => None,
    });
    let report = reports.next_back().expect("the summary has a report");
    assert!(report.total <= report.budget, "{report}");
    let shortened: Vec<_> = report.cuts().map(|line| line.source.to_string()).collect();
    for stage in ["analysis", "plan", "frontend", "algorithm"] {
        assert!(shortened.iter().any(|source| source.contains(stage)), "{stage} is not in {report}");
    }
}

/// Would fail if a run began that cannot come to its end: it would break off at the turn of the agent whose tool is
/// not there, again each time it is resumed.
#[tokio::test]
async fn a_tool_that_is_not_there_is_told_before_anything_begins() {
    let runs = house(Duration::ZERO);
    let agent = r#"{"member":"ada","name":"Ada","model":"rehearsal/extractive","tools":["calculator"]}"#;
    let agent = serde_json::from_str(agent).expect("an agent");
    let error = runs.start(RunRequest::agent(agent, "17 * 23")).await.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(error.to_string(), "the agent ada: there is no tool `calculator`; there are no tools");
    assert!(runs.list(None, 1).await.expect("it lists").is_empty());
}

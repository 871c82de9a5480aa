//! How effects end when their executors hang, panic, are late or kill the process; long runs; newer records.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use thermidor_step_engine::{
    Append, BoxFuture, Driven, Effect, EffectContext, EffectKey, End, EndStatus, Engine, ErrorKind, Executor,
    Fact, How, HowKind, Input, Journal, Kinds, Limits, Machine, MemoryJournal, Moment, Next, NodeId, Open,
    Refusal, Request, Signal, Start, Work,
};
use thermidor_testing::{Crash, CrashingJournal, TokioClock};
use thermidor_types::{Ids, Json, SequentialIds, Tokens, TreeId};
use tokio_util::sync::CancellationToken;

/// Runs `steps` effects of one sort after the other and ends with how the last one went.
#[derive(Clone, Serialize, Deserialize)]
struct Plan {
    steps: u32,
    sort: Sort,
    once: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Sort {
    Quick,
    Hang,
    Panic,
    Deaf,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    done: u32,
    last: Option<HowKind>,
    stopping: bool,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
enum Event {
    Began,
    Went(HowKind, String),
    StopAsked,
    Ended(EndStatus),
}

struct Diary(Plan);

impl Machine for Diary {
    type State = State;
    type Command = ();
    type Instruction = ();
    type Outcome = String;
    type Event = Event;
    const KIND: &'static str = "diary";
    const VERSION: u32 = 1;

    fn handle(&self, _: &State, input: Input<Self>, _: &Moment<'_>) -> Result<Vec<Event>, Refusal> {
        Ok(match input {
            Input::Command(()) => vec![Event::Began],
            Input::Settled { how, .. } => {
                let kind = how.kind();
                let text = if let How::Done(text) = how { text } else { String::new() };
                vec![Event::Went(kind, text)]
            }
            Input::Signal(Signal::Stop | Signal::Limit) => vec![Event::StopAsked],
        })
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::Began => {}
            Event::Went(how, _) => {
                state.done += 1;
                state.last = Some(*how);
            }
            Event::StopAsked => state.stopping = true,
            Event::Ended(status) => state.end = Some(End::because(*status, format!("{:?}", state.last))),
        }
    }

    fn next(&self, state: &State, open: &Open) -> Next<Self> {
        if state.stopping {
            let end = || Next::Record(vec![Event::Ended(EndStatus::Stopped)]);
            return if open.is_empty() { end() } else { Next::Want(vec![]) };
        }
        if state.done == self.0.steps {
            return Next::Record(vec![Event::Ended(EndStatus::Done)]);
        }
        let effect = if self.0.once { Effect::once(()) } else { Effect::repeatable(()) };
        let work = Work::Effect(effect.within(Duration::from_secs(5)).reserving(Tokens(1)));
        Next::Want(vec![(EffectKey::new("entry", state.done + 1), work)])
    }

    fn end(state: &State) -> Option<End> {
        state.end.clone()
    }
}

struct Pen(Sort);

impl Executor<Diary> for Pen {
    fn start(&self, _: &State, (): (), context: EffectContext) -> BoxFuture<String> {
        let sort = self.0;
        Box::pin(async move {
            match sort {
                Sort::Quick => {}
                Sort::Hang => context.cancelled().await,
                Sort::Panic => panic!("the executor breaks, as the test wants it"),
                Sort::Deaf => std::future::pending().await,
            }
            "x".repeat(400)
        })
    }
}

fn open(spec: &Json) -> Result<(Diary, Arc<dyn Executor<Diary>>), String> {
    let plan: Plan = spec.read().map_err(|error| error.to_string())?;
    Ok((Diary(plan.clone()), Arc::new(Pen(plan.sort))))
}

fn kinds() -> Kinds {
    Kinds::new().with::<Diary>(open)
}

fn start(steps: u32, sort: Sort, once: bool) -> Start {
    Start {
        kind: Diary::KIND.into(),
        spec: Json::of(&Plan { steps, sort, once }).expect("a plan"),
        command: Json::default(),
        limits: Limits { steps: Some(10_000), ..Limits::default() },
        title: "a diary".into(),
    }
}

fn a_tree() -> TreeId {
    TreeId::from(SequentialIds::default().next())
}

async fn ended(start: Start, stop_after: Option<Duration>) -> (EndStatus, String, Duration) {
    let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds(), TokioClock::new()).audited();
    let (tree, never) = (a_tree(), CancellationToken::new());
    engine.start(tree, start).await.expect("it starts");
    let began = tokio::time::Instant::now();
    let stop = async {
        if let Some(pause) = stop_after {
            tokio::time::sleep(pause).await;
            engine.send(tree, NodeId::ROOT, Request::Stop).await.expect("it is posted");
        }
    };
    let (driven, ()) = tokio::join!(engine.drive(tree, &never), stop);
    match driven.expect("it is driven") {
        Driven::Ended(end) => (end.status, end.reason.unwrap_or_default().to_string(), began.elapsed()),
        other => panic!("it ends, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn however_an_effect_ends_its_machine_is_told() {
    let check = async |sort, once, stop: Option<u64>, status, how: &str, millis: u64| {
        let (end, last, took) = ended(start(1, sort, once), stop.map(Duration::from_millis)).await;
        assert_eq!((end, last.as_str()), (status, how));
        assert!(took <= Duration::from_millis(millis), "{how} took {took:?}");
    };
    check(Sort::Quick, true, None, EndStatus::Done, "Some(Done)", 0).await;
    // A deadline fires the token and leaves a grace; what comes in it is late.
    check(Sort::Hang, false, None, EndStatus::Done, "Some(TimedOut)", 5_000).await;
    check(Sort::Deaf, false, None, EndStatus::Done, "Some(TimedOut)", 5_800).await;
    // Whether something with consequences happened cannot be known when it was cut off.
    check(Sort::Deaf, true, None, EndStatus::Done, "Some(Unknown)", 5_800).await;
    check(Sort::Panic, false, None, EndStatus::Done, "Some(Unknown)", 0).await;
    // A stop ends within a second, whatever the executor does.
    check(Sort::Hang, true, Some(100), EndStatus::Stopped, "Some(Done)", 100).await;
    check(Sort::Deaf, false, Some(100), EndStatus::Stopped, "Some(Abandoned)", 900).await;
    check(Sort::Deaf, true, Some(100), EndStatus::Stopped, "Some(Unknown)", 900).await;
}

/// Invariant 10: would fail if an effect that kills its process were tried for ever.
#[tokio::test(start_paused = true)]
async fn a_crash_is_answered_by_another_try_only_so_often() {
    let journal = Arc::new(CrashingJournal::new(MemoryJournal::new()));
    let engine = Engine::new(journal.clone(), kinds(), TokioClock::new());
    let (tree, never) = (a_tree(), CancellationToken::new());
    engine.start(tree, start(1, Sort::Hang, false)).await.expect("it starts");
    let mut crashes = 0;
    let end = loop {
        // The append of the start goes through, the one of the end does not.
        journal.arm(Some(Crash::before(1)));
        match engine.drive(tree, &never).await {
            Ok(Driven::Ended(end)) => break end,
            Ok(other) => panic!("it ends, not {other:?}"),
            Err(_) => crashes += 1,
        }
        journal.arm(None);
        assert!(crashes < 50, "it is tried for ever");
    };
    assert_eq!((end.reason.as_deref(), crashes), (Some("Some(Unknown)"), 5));
}

/// Invariant 13: what a step adds to the journal and to the state does not grow with the run.
#[tokio::test(start_paused = true)]
async fn steps_cost_the_same_at_the_end_as_at_the_beginning() {
    let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds(), TokioClock::new());
    let (tree, never) = (a_tree(), CancellationToken::new());
    engine.start(tree, start(1_000, Sort::Quick, false)).await.expect("it starts");
    engine.drive(tree, &never).await.expect("it is driven");
    let loaded = engine.journal().load(tree, 0).await.expect("it reads");
    let size = |range: std::ops::Range<usize>| -> usize {
        loaded.records[range].iter().map(|record| record.body.len() + record.kind.len()).sum()
    };
    // Three records a step: started, ended, happened. Keys grow by two digits from 10 to 1,000, three times.
    let (early, late) = (size(32..62), size(2_932..2_962));
    assert!(late <= early + 10 * 3 * 3, "{early} bytes for ten early steps, {late} for ten late ones");
    assert!(size(0..loaded.records.len()) < 1_500_000);
    let image = engine.image(tree, u64::MAX).await.expect("it folds");
    assert!(image.len() < 2_000, "{} bytes of state after 1,000 steps", image.len());

    // Other kinds have another fingerprint: no snapshot fits, and folding everything must give the same.
    let folding = Engine::new(engine.journal().clone(), kinds().with::<Diary>(open), TokioClock::new());
    assert_eq!(
        folding.image(tree, u64::MAX).await.expect("it folds"),
        image,
        "the snapshot shows another state"
    );
}

/// Invariant 12: an older program refuses what a newer one wrote, and harms nothing.
#[tokio::test(start_paused = true)]
async fn newer_records_are_refused_and_left_alone() {
    let journal = Arc::new(MemoryJournal::new());
    let engine = Engine::new(journal.clone(), kinds(), TokioClock::new());
    let (tree, never) = (a_tree(), CancellationToken::new());
    engine.start(tree, start(1, Sort::Quick, false)).await.expect("it starts");
    let row = journal.list(None, 1).await.expect("it lists").remove(0);
    let mut newer = journal.load(tree, 0).await.expect("it reads").records.remove(0);
    newer.version += 1;
    newer.body = r#"{"Dreamt":{"of":"things to come"}}"#.into();
    let append = Append {
        expected: 1,
        records: vec![newer],
        blobs: vec![],
        handled: vec![],
        status: row.status.clone(),
    };
    journal.append(tree, append).await.expect("the newer program appends");

    let error = engine.drive(tree, &never).await.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert!(error.to_string().contains("newer version"), "{error}");
    assert_eq!(engine.records(tree, 0).await.expect_err("it is refused").kind(), ErrorKind::Newer);
    assert_eq!(journal.load(tree, 0).await.expect("it reads").records.len(), 2, "nothing was added");

    // A machine's events have a version of their own.
    let other = TreeId::from(thermidor_types::Uuid::from_u128(7));
    engine.start(other, start(1, Sort::Quick, false)).await.expect("it starts");
    let mut newer = journal.load(other, 0).await.expect("it reads").records.remove(0);
    newer.body =
        serde_json::to_string(&Fact::Happened { version: 2, event: Json::default() }).expect("a fact");
    let append =
        Append { expected: 1, records: vec![newer], blobs: vec![], handled: vec![], status: row.status };
    journal.append(other, append).await.expect("the newer program appends");
    assert_eq!(engine.drive(other, &never).await.expect_err("it is refused").kind(), ErrorKind::Newer);
}

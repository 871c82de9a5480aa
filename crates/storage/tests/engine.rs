//! The engine over a journal in a file: runs, large records, forks, and going on in another process.

#![cfg(feature = "sqlite")]

mod bed;

use std::{sync::Arc, time::Duration};

use bed::{Place, run, tree};
use serde::{Deserialize, Serialize};
use thermidor_step_engine::{
    BoxFuture, Driven, Effect, EffectContext, EffectKey, End, EndStatus, Engine, Executor, Fact, How, Input,
    Journal, Kinds, Limits, LiveEvent, Machine, MemoryJournal, Moment, Next, NodeId, Open, Question, Refusal,
    Request, SPILL_BYTES, Start, TreeState, Work,
};
use thermidor_types::{Json, Timestamp};
use tokio_util::sync::CancellationToken;

/// Writes pages of a given size, asks whether to go on after half of them, and ends with their number.
struct Scribe {
    pages: usize,
}

#[derive(Default, Serialize, Deserialize)]
struct Written {
    pages: usize,
    approved: bool,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
enum Event {
    Wrote(String),
    Approved,
    Ended(End),
}

impl Machine for Scribe {
    type State = Written;
    type Command = bool;
    type Instruction = usize;
    type Outcome = String;
    type Event = Event;
    const KIND: &'static str = "scribe";
    const VERSION: u32 = 1;

    fn handle(&self, _: &Written, input: Input<Self>, _: &Moment<'_>) -> Result<Vec<Event>, Refusal> {
        Ok(match input {
            Input::Command(true) => vec![Event::Approved],
            Input::Settled { how: How::Done(page), .. } => vec![Event::Wrote(page)],
            Input::Command(false) | Input::Settled { .. } => vec![],
            Input::Signal(_) => vec![Event::Ended(End::because(EndStatus::Stopped, "asked to"))],
        })
    }

    fn apply(state: &mut Written, event: &Event) {
        match event {
            Event::Wrote(_) => state.pages += 1,
            Event::Approved => state.approved = true,
            Event::Ended(end) => state.end = Some(end.clone()),
        }
    }

    fn next(&self, state: &Written, _: &Open) -> Next<Self> {
        if state.pages == self.pages {
            return Next::Record(vec![Event::Ended(End::done(Json::of(&state.pages).expect("a number")))]);
        }
        let key = |name| EffectKey::new(name, u32::try_from(state.pages).expect("few"));
        if state.pages == self.pages / 2 && !state.approved {
            let question =
                Question { kind: "approve".into(), text: "go on?".into(), detail: Json::default() };
            return Next::Want(vec![(key("ask"), Work::Person(question))]);
        }
        Next::Want(vec![(key("page"), Work::Effect(Effect::repeatable(state.pages)))])
    }

    fn end(state: &Written) -> Option<End> {
        state.end.clone()
    }
}

struct Pen {
    size: usize,
}

impl Executor<Scribe> for Pen {
    fn start(&self, _: &Written, page: usize, _: EffectContext) -> BoxFuture<String> {
        // Quotes and line ends: what is cut out must come back escaped as it was.
        let text = format!("\"page {page}\"\n").repeat(1 + self.size / 11);
        Box::pin(async move { text })
    }
}

fn kinds() -> Kinds {
    Kinds::new().with::<Scribe>(|spec| {
        let (pages, size) = spec.read().map_err(|error| error.to_string())?;
        Ok((Scribe { pages }, Arc::new(Pen { size })))
    })
}

fn engine(journal: Arc<dyn Journal>) -> Engine {
    Engine::new(journal, kinds(), || Timestamp::from_millis(1_000)).audited()
}

fn start(pages: usize, size: usize) -> Start {
    Start {
        kind: Scribe::KIND.into(),
        spec: Json::of(&(pages, size)).expect("two numbers"),
        command: Json::of(&false).expect("a command"),
        limits: Limits { steps: None, ..Limits::default() },
        title: "pages".into(),
    }
}

async fn drive(engine: &Engine, number: u128) -> Driven {
    engine.drive(tree(number), &CancellationToken::new()).await.expect("it is driven")
}

/// Drives half, lets somebody else answer, drives the rest.
async fn both_halves(first: Arc<dyn Journal>, second: Arc<dyn Journal>, size: usize) -> String {
    let here = engine(first);
    here.start(tree(1), start(6, size)).await.expect("it starts");
    let parked = drive(&here, 1).await;
    assert!(matches!(parked, Driven::Parked { ref waits, .. } if waits.len() == 1), "{parked:?}");
    let there = engine(second);
    let yes = Json::of(&true).expect("a command");
    here.send(tree(1), NodeId::ROOT, Request::Command(yes)).await.expect("it is posted");
    let Driven::Ended(end) = drive(&there, 1).await else { panic!("it goes on") };
    assert_eq!(end.status, EndStatus::Done);
    let row = here.journal().list(None, 1).await.expect("it lists").remove(0);
    assert_eq!(row.status.state, TreeState::Ended(EndStatus::Done));
    there.image(tree(1), u64::MAX).await.expect("it folds")
}

/// Would fail if anything came back from the file otherwise than from memory: the engine compares its live
/// state with one folded afresh after every append.
#[test]
fn a_run_in_a_file_is_the_run_in_memory() {
    for size in [20, 3 * SPILL_BYTES] {
        run(async {
            let memory: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
            let expected = both_halves(memory.clone(), memory, size).await;
            let place = Place::new();
            let image = both_halves(Arc::new(place.open()), Arc::new(place.open()), size).await;
            assert_eq!(image, expected);
        });
    }
}

#[test]
fn large_texts_are_stored_once() {
    let place = Place::new();
    run(async {
        let engine = engine(Arc::new(place.open()));
        for number in 1..=3 {
            engine.start(tree(number), start(2, 8 * SPILL_BYTES)).await.expect("it starts");
            drive(&engine, number).await;
        }
        assert!(engine.records(tree(3), 0).await.expect("they read back").len() > 4);
    });
    let texts: i64 =
        place.raw().query_row("SELECT count(*) FROM blob", [], |row| row.get(0)).expect("a number");
    assert_eq!(texts, 1);
}

#[test]
fn a_fork_goes_its_own_way_from_every_border() {
    let place = Place::new();
    run(async {
        let engine = engine(Arc::new(place.open()));
        engine.start(tree(1), start(4, 2 * SPILL_BYTES)).await.expect("it starts");
        drive(&engine, 1).await;
        let records = engine.records(tree(1), 0).await.expect("they read back");
        let mut forks = 0;
        for at in 1..=records.len() as u64 {
            let Ok(fork) = engine.fork(tree(1), at).await else { continue };
            let Driven::Parked { .. } =
                engine.drive(fork, &CancellationToken::new()).await.expect("it is driven")
            else {
                panic!("it waits for a person as the first did")
            };
            let shared = engine.records(fork, 0).await.expect("they read back");
            let at = usize::try_from(at).expect("small");
            assert_eq!(shared[..at], records[..at]);
            assert!(matches!(shared[at].fact, Fact::Forked { .. }));
            forks += 1;
        }
        assert!(forks > 2, "{forks} borders");
    });
}

/// Watching a run that another process drives.
#[test]
fn a_run_is_watched_from_elsewhere_without_a_gap() {
    let place = Place::new();
    run(async {
        let here = engine(Arc::new(place.open()));
        here.start(tree(1), start(2, 20)).await.expect("it starts");
        let there = engine(Arc::new(place.open()));
        let mut watching = there.subscribe(tree(1), 0).await.expect("it is there");
        let driving = async { drive(&here, 1).await };
        let seeing = async {
            let mut seen = Vec::new();
            while !matches!(seen.last(), Some(Fact::Released { .. })) {
                if let LiveEvent::Records(_, records) = watching.next().await.expect("it goes on") {
                    seen.extend(records.iter().map(|record| record.fact.clone()));
                }
            }
            seen
        };
        let (_, seen) = tokio::join!(driving, seeing);
        let all = here.records(tree(1), 0).await.expect("they read back");
        assert_eq!(seen, all.into_iter().map(|record| record.fact).collect::<Vec<_>>());
    });
}

/// A watcher that lags is caught up from the journal, and whoever waits for it may give up in the middle of
/// that. Would fail if what it was to be caught up with were lost then.
#[test]
fn a_watcher_that_gives_up_waiting_loses_nothing() {
    let place = Place::new();
    run(async {
        let engine = Engine::new(Arc::new(place.open()), kinds(), || Timestamp::from_millis(1_000));
        engine.start(tree(1), start(1_200, 20)).await.expect("it starts");
        let mut watching = engine.subscribe(tree(1), 0).await.expect("it is there");
        // More appends than a watcher may lag behind.
        drive(&engine, 1).await;
        let mut seen = Vec::new();
        let mut take = |event| {
            if let LiveEvent::Records(_, records) = event {
                seen.extend(records.iter().map(|record| record.fact.clone()));
            }
        };
        while let Ok(event) = tokio::time::timeout(Duration::ZERO, watching.next()).await {
            take(event.expect("it goes on"));
        }
        // A few more appends are there before anybody looks again.
        let yes = Json::of(&true).expect("a command");
        engine.send(tree(1), NodeId::ROOT, Request::Command(yes)).await.expect("it is posted");
        let parked = engine.journal().list(None, 1).await.expect("it lists").remove(0).version;
        let suspend = CancellationToken::new();
        let enough = async {
            engine.journal().appended(tree(1), parked + 20).await;
            suspend.cancel();
        };
        let (driven, ()) = tokio::join!(engine.drive(tree(1), &suspend), enough);
        assert_eq!(driven.expect("it is driven"), Driven::Suspended);
        let all = engine.records(tree(1), 0).await.expect("they read back");
        while watching.version() < all.len() as u64 {
            take(watching.next().await.expect("it goes on"));
        }
        assert_eq!(seen, all.into_iter().map(|record| record.fact).collect::<Vec<_>>());
    });
}

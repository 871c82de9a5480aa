//! The explorer: runs one script over and over and disturbs it in every way the engine promises to survive.
//!
//! Random timing of effects, a crash at every append (before it is stored, and after it was stored but
//! before anybody knew), a stop and a suspension at any moment. After each disturbance the run goes on, and
//! what is promised is checked: folding the journal gives the live state (after every append), the end is
//! that of the undisturbed run, nothing that must not be doubled was doubled, nothing is left open.

use std::{
    collections::{BTreeMap, BTreeSet, hash_map::DefaultHasher},
    fmt,
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use thermidor_step_engine::{
    Driven, End, EndStatus, Engine, ErrorKind, Fact, JournalErrorKind, Kinds, MemoryJournal, NodeId, Request,
    Start, Wait,
};
use thermidor_types::{Ids, Json, SequentialIds, TreeId};
use tokio_util::sync::CancellationToken;

use crate::{Crash, CrashingJournal, TokioClock};

/// What a person answers to a question; `None` when it is not meant to come up.
pub type Answer = Box<dyn Fn(&Wait) -> Option<Json>>;

/// What the explorer needs to know of a run.
pub struct Script {
    /// Makes the machines; their executors call [`World::work`] for everything they do.
    pub kinds: Box<dyn Fn(&World) -> Kinds>,
    /// The tree to run.
    pub start: Start,
    /// What a person answers.
    pub answer: Answer,
    /// How many random runs to make.
    pub seeds: u64,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Script({}, {} seeds)", self.start.kind, self.seeds)
    }
}

/// The world outside the machines: takes random time, and keeps account of what was done in it.
#[derive(Clone, Debug)]
pub struct World {
    seed: u64,
    done: Arc<Mutex<BTreeMap<String, u32>>>,
    began: Arc<AtomicU64>,
}

/// Whether doing a thing twice is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twice {
    /// It may be done again after a crash.
    Harmless,
    /// It may be done once, whatever happens.
    Forbidden,
}

impl World {
    /// A world whose timing follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, done: Arc::default(), began: Arc::default() }
    }

    /// Does the thing called `name`: takes 0 to 8 ms of (paused) time and notes that it was done. Returns
    /// whether it was done before `cancel` fired.
    pub async fn work(&self, name: &str, twice: Twice, cancel: &CancellationToken) -> bool {
        self.began.fetch_add(1, Ordering::Relaxed);
        let mut hasher = DefaultHasher::new();
        (self.seed, name).hash(&mut hasher);
        let pause = Duration::from_millis(hasher.finish() % 9);
        tokio::select! {
            biased;
            () = cancel.cancelled() => false,
            () = tokio::time::sleep(pause) => {
                if twice == Twice::Forbidden {
                    let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
                    *done.entry(name.to_owned()).or_default() += 1;
                }
                true
            }
        }
    }

    fn check_doubles(&self, what: &str) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, times) in done.iter() {
            assert!(*times <= 1, "{what}: {name:?} was done {times} times");
        }
    }
}

/// What an exploration covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Appends of the undisturbed run.
    pub appends: u64,
    /// Crash points tried: two for each append.
    pub crashes: u64,
    /// Random runs made.
    pub seeds: u64,
    /// How the random runs ended, by name.
    pub ends: BTreeMap<&'static str, u64>,
}

/// A disturbance of one run.
#[derive(Clone, Copy, Debug, Default)]
struct Trouble {
    seed: u64,
    crash: Option<Crash>,
    stop: Option<(Duration, NodeId)>,
    suspend: Option<Duration>,
}

struct Ran {
    end: End,
    appends: u64,
}

/// Explores a script.
///
/// # Panics
/// When anything that is promised does not hold; the message names the disturbance.
pub fn explore(script: &Script) -> Explored {
    let calm = run(script, Trouble::default());
    let mut crashes = 0;
    for at in 0..calm.appends {
        for crash in [Crash::before(at), Crash::after(at)] {
            let trouble = Trouble { crash: Some(crash), ..Trouble::default() };
            let ran = run(script, trouble);
            assert_eq!(ran.end, calm.end, "another end after {trouble:?}");
            crashes += 1;
        }
    }
    let mut ends = BTreeMap::new();
    for seed in 1..=script.seeds {
        let trouble = random_trouble(seed, calm.appends);
        let ran = run(script, trouble);
        if trouble.stop.is_none() {
            assert_eq!(ran.end, calm.end, "another end after {trouble:?}");
        }
        let name = match ran.end.status {
            EndStatus::Done => "done",
            EndStatus::Failed => "failed",
            EndStatus::Stopped => "stopped",
            EndStatus::Limit => "limit",
        };
        *ends.entry(name).or_default() += 1;
    }
    Explored { appends: calm.appends, crashes, seeds: script.seeds, ends }
}

fn random_trouble(seed: u64, appends: u64) -> Trouble {
    let draw = |what: &str, below: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, what).hash(&mut hasher);
        hasher.finish() % below.max(1)
    };
    let crash = match draw("crash", 3) {
        0 => None,
        1 => Some(Crash::before(draw("at", appends))),
        _ => Some(Crash::after(draw("at", appends))),
    };
    let stop = (draw("stop", 2) == 1).then(|| {
        let node = if draw("root", 2) == 1 { 0 } else { u32::try_from(draw("node", 8)).unwrap_or(0) };
        (Duration::from_millis(draw("stop at", 100)), NodeId(node))
    });
    let suspend = (draw("suspend", 3) == 1).then(|| Duration::from_millis(draw("suspend at", 100)));
    Trouble { seed, crash, stop, suspend }
}

fn run(script: &Script, trouble: Trouble) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime starts").block_on(drive(script, trouble))
}

async fn drive(script: &Script, trouble: Trouble) -> Ran {
    let world = World::new(trouble.seed);
    let journal = Arc::new(CrashingJournal::new(MemoryJournal::new()));
    let tree = TreeId::from(SequentialIds::default().next());
    let clock = TokioClock::new();
    let engine = |journal: &Arc<CrashingJournal<MemoryJournal>>| {
        Arc::new(
            Engine::new(journal.clone(), (script.kinds)(&world), clock.clone())
                .with_ids(SequentialIds::default())
                .audited(),
        )
    };
    let mut now = engine(&journal);
    let mut stops = tokio::task::JoinSet::new();
    now.start(tree, script.start.clone()).await.expect("the script starts");
    journal.arm(trouble.crash);
    if let Some((at, node)) = trouble.stop {
        let (engine, journal) = (now.clone(), journal.clone());
        stops.spawn(async move {
            tokio::time::sleep(at).await;
            // A run that is gone by then refuses, which is fine.
            journal.outside(engine.send(tree, node, Request::Stop)).await.expect("the stop is posted");
        });
    }
    let mut suspensions = trouble.suspend.into_iter();
    let mut parks = 0;
    loop {
        let suspend = CancellationToken::new();
        let pause = suspensions.next();
        let suspender = async {
            match pause {
                Some(pause) => {
                    tokio::time::sleep(pause).await;
                    suspend.cancel();
                    std::future::pending::<()>().await;
                }
                None => std::future::pending().await,
            }
        };
        let driven = tokio::select! {
            biased;
            driven = now.drive(tree, &suspend) => driven,
            () = suspender => unreachable!("it never ends"),
        };
        match driven {
            Ok(Driven::Ended(end)) => {
                check_end(&now, tree, &world, trouble).await;
                return Ran { end, appends: journal.appends() };
            }
            Ok(Driven::Suspended) => {}
            Ok(Driven::Parked { waits, wake_at }) => {
                parks += 1;
                assert!(parks < 100, "parked again and again after {trouble:?}: {waits:?}");
                if let Some(moment) = wake_at {
                    tokio::time::sleep(moment.since(clock.read())).await;
                } else if waits.is_empty() {
                    // A stop that is still to come may end it.
                    assert!(trouble.stop.is_some(), "parked with nothing to wait for after {trouble:?}");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                for wait in waits {
                    let answer = (script.answer)(&wait);
                    let answer = answer.unwrap_or_else(|| panic!("nobody expected the question {wait:?}"));
                    journal
                        .outside(now.send(tree, wait.node, Request::Command(answer)))
                        .await
                        .expect("posted");
                }
            }
            Err(error) => {
                let crashed = error.kind() == ErrorKind::Journal(JournalErrorKind::Unavailable);
                assert!(crashed && journal.crashed(), "{error} after {trouble:?}");
                journal.arm(None);
                now = engine(&journal);
            }
        }
    }
}

async fn check_end(engine: &Engine, tree: TreeId, world: &World, trouble: Trouble) {
    world.check_doubles(&format!("{trouble:?}"));
    let records = engine.records(tree, 0).await.expect("the journal reads back");
    let (mut open, mut finished) = (BTreeSet::new(), BTreeSet::new());
    for record in &records {
        match &record.fact {
            Fact::Started { key, .. } => {
                let name = (record.node, key.clone());
                assert!(!finished.contains(&name), "{name:?} ran again after its end: {trouble:?}");
                open.insert(name);
            }
            Fact::Opened(opened) => {
                if let Some(parent) = &opened.parent {
                    assert!(!finished.contains(parent), "{parent:?} opened again: {trouble:?}");
                    open.insert(parent.clone());
                }
            }
            Fact::Ended { key, .. } => {
                let name = (record.node, key.clone());
                open.remove(&name);
                assert!(finished.insert(name.clone()), "{name:?} ended twice: {trouble:?}");
            }
            Fact::Driver { .. }
            | Fact::Began
            | Fact::Happened { .. }
            | Fact::Limited { .. }
            | Fact::Relimited(_)
            | Fact::Signalled(_)
            | Fact::Reopened
            | Fact::Handled { .. }
            | Fact::Forked { .. }
            | Fact::Released { .. } => {}
        }
    }
    assert!(open.is_empty(), "left open after {trouble:?}: {open:?}");
}

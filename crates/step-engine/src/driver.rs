//! The loop: handle what came, append, launch, wait. All I/O of the engine is here.

use std::{collections::HashMap, pin::pin, sync::Arc, time::Duration};

use smol_str::SmolStr;
use thermidor_types::{Text, Timestamp, TreeId};
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    Append, BoxFuture, EffectContext, EffectKey, End, Engine, Error, Fact, How, Moment, NodeId, Question,
    Recovery, Release, TreeState, codec,
    error::Problem,
    fold::Tree,
    live::Live,
    node::AnyOutcome,
    step::{Batch, Launch, Step, lost},
};

/// Records between two snapshots, at the least.
const SNAPSHOT_EVERY: u64 = 500;

/// A moment no further off than this is waited for: letting go of a tree and taking it again would cost more than
/// holding it, and whoever watches would see the run pause.
const LINGER: Duration = Duration::from_secs(5);

/// Why a driver let go of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Driven {
    /// The root run ended.
    Ended(End),
    /// Nothing is in flight, and something is awaited: an answer, or a moment more than five seconds off.
    /// Nearer moments are waited for.
    Parked {
        /// What people are asked.
        waits: Vec<Wait>,
        /// The moment to drive it again.
        wake_at: Option<Timestamp>,
    },
    /// It was told to let go. Driving it again goes on where it was.
    Suspended,
}

/// A question that a run waits to have answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Which run asks. The answer goes to it, as a command.
    pub node: NodeId,
    /// Under which key.
    pub key: EffectKey,
    /// What.
    pub question: Question,
}

type Settled = How<AnyOutcome>;

pub(crate) struct Driver<'a> {
    engine: &'a Engine,
    tree: Tree,
    live: Arc<Live>,
    batch: Batch,
    tasks: JoinSet<Settled>,
    names: HashMap<Id, EffectContext>,
    suspending: bool,
    /// A release stands in the journal: going on means taking the tree again.
    released: bool,
    snapshot_at: u64,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(engine: &'a Engine, tree: Tree, live: Arc<Live>, snapshot_at: u64) -> Self {
        Self {
            engine,
            tree,
            live,
            batch: Batch::default(),
            tasks: JoinSet::new(),
            names: HashMap::new(),
            suspending: false,
            released: true,
            snapshot_at,
        }
    }

    fn id(&self) -> TreeId {
        self.tree.id
    }

    fn step<T>(&mut self, act: impl FnOnce(&mut Step<'_>) -> Result<T, Problem>) -> Result<T, Error> {
        let (tree, engine) = (self.tree.id, self.engine);
        let mut step = Step {
            tree: &mut self.tree,
            kinds: &engine.kinds,
            batch: &mut self.batch,
            at: Moment { now: engine.clock.now(), ids: &*engine.ids },
            suspending: self.suspending,
        };
        act(&mut step).map_err(|problem| Error::new(tree, problem))
    }

    pub(crate) async fn run(mut self, suspend: &CancellationToken) -> Result<Driven, Error> {
        let (id, journal) = (self.id(), self.engine.journal.clone());
        let mut inbox = true;
        loop {
            if self.released {
                let epoch = self.tree.epoch + 1;
                let program = self.engine.program.clone();
                self.step(|step| step.record(NodeId::ROOT, Fact::Driver { epoch, program }))?;
                self.released = false;
            }
            if inbox {
                for posted in journal.inbox(id).await.map_err(|error| Error::new(id, error))? {
                    self.step(|step| step.post(posted))?;
                }
            }
            self.step(|step| {
                step.check_time()?;
                step.rest()
            })?;
            let idle = self.tasks.is_empty() && self.batch.launches.is_empty();
            let driven = if idle { self.rested()? } else { None };
            self.append(driven.as_ref()).await?;
            if let Some(driven) = driven {
                // What was posted before the release is ours; what comes after it belongs to the next driver.
                let waiting = journal.inbox(id).await.map_err(|error| Error::new(id, error))?;
                if waiting.is_empty() || self.suspending {
                    self.snapshot(true).await;
                    return Ok(driven);
                }
                inbox = true;
                continue;
            }
            self.snapshot(false).await;
            self.launch();
            inbox = self.wait(suspend).await?;
        }
    }

    /// Why there is nothing to do now.
    fn rested(&mut self) -> Result<Option<Driven>, Error> {
        if let Some(end) = self.tree.runs.get(&NodeId::ROOT).and_then(|root| root.machine.end()) {
            return Ok(Some(Driven::Ended(end)));
        }
        if self.suspending {
            return Ok(Some(Driven::Suspended));
        }
        let mut waits = Vec::new();
        let mut wake_at: Option<Timestamp> = None;
        for (node, run) in &self.tree.runs {
            let questions = run.waits.iter().cloned();
            waits.extend(questions.map(|(key, question)| Wait { node: *node, key, question }));
            let first = run.timers.iter().map(|timer| timer.1).min();
            wake_at = wake_at.into_iter().chain(first).min();
        }
        if wake_at.is_some_and(|moment| moment <= self.engine.clock.now()) {
            self.step(|step| {
                let nodes: Vec<_> = step.tree.runs.keys().copied().collect();
                step.tree.dirty.extend(nodes);
                step.rest()
            })?;
            return Ok(None);
        }
        let soon = self.engine.clock.now().after(LINGER);
        if wake_at.is_some_and(|moment| moment <= soon) {
            return Ok(None);
        }
        Ok(Some(Driven::Parked { waits, wake_at }))
    }

    async fn append(&mut self, driven: Option<&Driven>) -> Result<(), Error> {
        let state = match driven {
            None => TreeState::Running,
            Some(Driven::Ended(end)) => TreeState::Ended(end.status),
            Some(Driven::Parked { wake_at, .. }) => TreeState::Parked { wake_at: *wake_at },
            Some(Driven::Suspended) => TreeState::Suspended,
        };
        let why = driven.map(|driven| match driven {
            Driven::Ended(_) => Release::Ended,
            Driven::Parked { .. } => Release::Parked,
            Driven::Suspended => Release::Suspended,
        });
        if let Some(why) = why {
            self.step(|step| step.record(NodeId::ROOT, Fact::Released { why }))?;
            self.released = true;
        }
        if self.batch.records.is_empty() {
            return Ok(());
        }
        let id = self.id();
        let records = std::mem::take(&mut self.batch.records);
        let mut blobs = std::mem::take(&mut self.batch.blobs);
        let mut stored = Vec::with_capacity(records.len());
        for record in &records {
            let (record, spilled) = codec::encode(record)
                .map_err(|error| Error::new(id, Problem::Configuration(format!("a record: {error}"))))?;
            stored.push(record);
            blobs.extend(spilled);
        }
        let append = Append {
            expected: self.tree.version,
            records: stored,
            blobs,
            handled: std::mem::take(&mut self.batch.handled),
            status: self.tree.status(state),
        };
        self.tree.version =
            self.engine.journal.append(id, append).await.map_err(|error| Error::new(id, error))?;
        self.live.publish(self.tree.version, records.into());
        if self.engine.audited { self.audit().await } else { Ok(()) }
    }

    /// Compares the live tree with one folded afresh from the journal.
    async fn audit(&self) -> Result<(), Error> {
        let id = self.id();
        let mut folded = Tree::new(id);
        for record in self.engine.records(id, 0).await? {
            folded.replay(&self.engine.kinds, &record).map_err(|problem| Error::new(id, problem))?;
        }
        let images = self.tree.image().and_then(|live| Ok((live, folded.image()?)));
        let (live, folded) =
            images.map_err(|error| Error::new(id, Problem::Configuration(error.to_string())))?;
        if live == folded {
            return Ok(());
        }
        let [live, folded] = [live, folded].map(|image| String::from_utf8_lossy(&image).into_owned());
        let reason = format!("folding its journal gives another state\nlive:   {live}\nfolded: {folded}");
        Err(Error::new(id, Problem::Defect { kind: self.tree.status(TreeState::Running).kind, reason }))
    }

    fn launch(&mut self) {
        for launch in std::mem::take(&mut self.batch.launches) {
            let Launch { node, key, attempt, recovery, deadline, cancel } = launch;
            let live = self.live.clone();
            let left = self.tree.tokens_left(node, &key);
            let context = EffectContext::new(self.tree.id, node, key.clone(), attempt, cancel.clone(), live)
                .with_tokens_left(left);
            let Some(run) = self.tree.runs.get_mut(&node) else { continue };
            let work = if cancel.is_cancelled() { None } else { run.machine.launch(&key, context.clone()) };
            let grace = self.engine.grace;
            let task = match work {
                Some(work) => self.tasks.spawn(watch(work, cancel, recovery, deadline, grace)),
                // It was unwanted before it began: nothing happened outside.
                None => self.tasks.spawn(async { How::Abandoned }),
            };
            self.names.insert(task.id(), context);
        }
    }

    /// Waits until something happens. Returns whether the inbox may have something.
    async fn wait(&mut self, suspend: &CancellationToken) -> Result<bool, Error> {
        let now = self.engine.clock.now();
        let pause = self.next_moment().map(|moment| moment.since(now));
        let journal = self.engine.journal.clone();
        let id = self.id();
        tokio::select! {
            biased;
            Some(first) = self.tasks.join_next_with_id() => {
                let mut next = Some(first);
                // Whatever else has ended by now goes into the same append.
                while let Some(ended) = next {
                    self.settle(ended)?;
                    next = self.tasks.try_join_next_with_id();
                }
                Ok(false)
            }
            () = journal.posted(id) => Ok(true),
            () = suspend.cancelled(), if !self.suspending => {
                self.suspending = true;
                for token in self.tree.runs.values().flat_map(|run| run.live.values()) {
                    token.cancel();
                }
                Ok(false)
            }
            () = sleep(pause) => {
                let nodes: Vec<_> = self.tree.runs.keys().copied().collect();
                self.tree.dirty.extend(nodes);
                Ok(false)
            }
        }
    }

    fn settle(&mut self, ended: Result<(Id, Settled), tokio::task::JoinError>) -> Result<(), Error> {
        let (id, settled) = match ended {
            Ok((id, settled)) => (id, Some(settled)),
            Err(error) => (error.id(), None),
        };
        let Some(context) = self.names.remove(&id) else { return Ok(()) };
        // A panic leaves its outcome unknown, whatever it was.
        let how = settled.unwrap_or(How::Unknown);
        let (node, key) = (context.node(), context.key().clone());
        if self.suspending && matches!(how, How::Abandoned | How::Unknown | How::TimedOut) {
            // Left open: the next driver recovers it as after a crash.
            return Ok(());
        }
        let account = context.take_account();
        self.step(|step| step.settle(node, key, how, account))
    }

    /// The next moment at which a timer fires or a run's time is up.
    fn next_moment(&self) -> Option<Timestamp> {
        let now = self.engine.clock.now();
        let driven = self.tree.clock.at(now);
        let runs = self.tree.runs.values();
        let moments = runs.flat_map(|run| {
            let left = run.book.limits.millis.filter(|_| run.book.allowance.is_none()).map(|limit| {
                let used = driven.saturating_sub(run.book.opened_after);
                now.after(Duration::from_millis(limit.saturating_sub(used)))
            });
            run.timers.iter().map(|timer| timer.1).chain(left)
        });
        moments.min()
    }

    /// Keeps a snapshot now and then. A cache: a failure costs time at the next load, nothing else.
    async fn snapshot(&mut self, leaving: bool) {
        let grown = self.tree.version - self.snapshot_at;
        if grown < SNAPSHOT_EVERY || !(leaving || grown >= 4 * SNAPSHOT_EVERY) {
            return;
        }
        self.snapshot_at = self.tree.version;
        let saved = match self.tree.image() {
            Ok(body) => self.engine.save_snapshot(&self.tree, body).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = saved {
            tracing::warn!(tree = %self.tree.id, error, "no snapshot was kept");
        }
    }
}

async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}

/// Runs one effect to its end, its deadline, or the end of its grace after it is no longer wanted.
async fn watch(
    work: BoxFuture<AnyOutcome>,
    cancel: CancellationToken,
    recovery: Recovery,
    deadline: Option<Duration>,
    grace: Duration,
) -> Settled {
    let mut work = pin!(work);
    let late = tokio::select! {
        biased;
        outcome = &mut work => return How::Done(outcome),
        () = cancel.cancelled() => false,
        () = sleep(deadline) => true,
    };
    cancel.cancel();
    match tokio::time::timeout(grace, &mut work).await {
        Ok(outcome) if !late => How::Done(outcome),
        Ok(_) => How::TimedOut,
        Err(_) if late && recovery == Recovery::Repeat => How::TimedOut,
        Err(_) => lost(recovery),
    }
}

/// The name and version of this program, as drivers sign with it.
pub(crate) fn program() -> Text {
    SmolStr::new_static(concat!("thermidor ", env!("CARGO_PKG_VERSION"))).as_str().into()
}

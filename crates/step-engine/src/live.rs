use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use smol_str::SmolStr;
use thermidor_types::{Text, TreeId};
use tokio::sync::broadcast;

use crate::{EffectKey, Error, Fact, Journal, NodeId, Record, codec};

/// How many events a watcher may lag behind before it is caught up from the journal instead.
const WATCHER_QUEUE: usize = 512;

/// A fragment of an effect's result on its way. Never journaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The tree.
    pub tree: TreeId,
    /// The run.
    pub node: NodeId,
    /// The effect.
    pub key: EffectKey,
    /// Its attempt; a higher one voids what lower ones showed.
    pub attempt: u32,
    /// The number of fragments before this one in the attempt. Several may come joined into one.
    pub seq: u64,
    /// What it is a fragment of: named by the executor.
    pub channel: SmolStr,
    /// The fragment.
    pub text: Text,
}

/// What a watcher sees, in order.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// Records that were appended; the tree's version after them.
    Records(u64, Arc<[Record]>),
    /// A fragment. What a watcher missed of an effect still open comes joined into one: no gap, no repetition.
    Delta(Delta),
}

/// The live side of one tree: its version and the partial results of its open effects.
pub(crate) struct Live {
    tree: TreeId,
    inner: Mutex<Inner>,
}

struct Inner {
    version: u64,
    partials: BTreeMap<(NodeId, EffectKey), Partial>,
    /// Made for the first watcher: a tree that nobody watches pays for no queue.
    sender: Option<broadcast::Sender<LiveEvent>>,
}

#[derive(Default)]
struct Partial {
    attempt: u32,
    seq: u64,
    channels: Vec<(SmolStr, String)>,
}

impl Live {
    pub(crate) fn new(tree: TreeId, version: u64) -> Arc<Self> {
        Arc::new(Self { tree, inner: Mutex::new(Inner { version, partials: BTreeMap::new(), sender: None }) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn delta(&self, node: NodeId, key: &EffectKey, attempt: u32, channel: SmolStr, text: Text) {
        let mut inner = self.lock();
        let partial = match inner.partials.get_mut(&(node, key.clone())) {
            Some(partial) => partial,
            None => inner.partials.entry((node, key.clone())).or_default(),
        };
        if attempt < partial.attempt {
            return;
        }
        if attempt > partial.attempt {
            *partial = Partial { attempt, ..Partial::default() };
        }
        match partial.channels.iter_mut().find(|entry| entry.0 == channel) {
            Some((_, so_far)) => so_far.push_str(&text),
            None => partial.channels.push((channel.clone(), text.as_str().to_owned())),
        }
        let seq = partial.seq;
        partial.seq += 1;
        if let Some(sender) = &inner.sender {
            let delta = Delta { tree: self.tree, node, key: key.clone(), attempt, seq, channel, text };
            // No watcher at this moment is fine: the partial text is kept for the next one.
            let _ = sender.send(LiveEvent::Delta(delta));
        }
    }

    /// Shows records once they are durable.
    pub(crate) fn publish(&self, version: u64, records: Arc<[Record]>) {
        let mut inner = self.lock();
        for record in records.iter() {
            if let Fact::Ended { key, .. } = &record.fact {
                inner.partials.remove(&(record.node, key.clone()));
            }
        }
        inner.version = version;
        if let Some(sender) = &inner.sender {
            let _ = sender.send(LiveEvent::Records(version, records));
        }
    }

    pub(crate) fn set_version(&self, version: u64) {
        self.lock().version = version;
    }

    /// Version, partial results and receiver, taken at one instant.
    fn attach(&self) -> (u64, VecDeque<LiveEvent>, broadcast::Receiver<LiveEvent>) {
        let mut inner = self.lock();
        let mut partials = VecDeque::new();
        for ((node, key), partial) in &inner.partials {
            for (channel, text) in &partial.channels {
                partials.push_back(LiveEvent::Delta(Delta {
                    tree: self.tree,
                    node: *node,
                    key: key.clone(),
                    attempt: partial.attempt,
                    seq: partial.seq,
                    channel: channel.clone(),
                    text: text.as_str().into(),
                }));
            }
        }
        let sender = inner.sender.get_or_insert_with(|| broadcast::channel(WATCHER_QUEUE).0);
        let receiver = sender.subscribe();
        (inner.version, partials, receiver)
    }
}

/// A watcher of one tree: all records from a version on, without a gap or a repetition, and live fragments.
///
/// A watcher that cannot keep up never slows the run down: it is caught up from the journal. Works for
/// trees driven by another process too, then without fragments.
pub struct Subscription {
    live: Arc<Live>,
    journal: Arc<dyn Journal>,
    version: u64,
    queue: VecDeque<LiveEvent>,
    receiver: broadcast::Receiver<LiveEvent>,
    /// Partial results to be handed out once the records before them were read. Kept here while that is under
    /// way: whoever waits may give up, and what was received since follows only after it.
    behind: Option<VecDeque<LiveEvent>>,
    /// How much of each open effect's text was handed out: the attempt, and bytes by channel.
    shown: BTreeMap<(NodeId, EffectKey), (u32, BTreeMap<SmolStr, usize>)>,
}

impl Subscription {
    pub(crate) async fn open(live: Arc<Live>, journal: Arc<dyn Journal>, after: u64) -> Result<Self, Error> {
        let (_, partials, receiver) = live.attach();
        let mut subscription = Self {
            live,
            journal,
            version: after,
            queue: VecDeque::new(),
            receiver,
            behind: Some(partials),
            shown: BTreeMap::new(),
        };
        subscription.catch_up().await?;
        Ok(subscription)
    }

    /// The version up to which records were handed out.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Waits for the next event. Never ends by itself: whoever watches knows which record it waits for. Giving
    /// up waiting loses nothing.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn next(&mut self) -> Result<LiveEvent, Error> {
        loop {
            while let Some(event) = self.queue.pop_front() {
                match event {
                    LiveEvent::Records(version, _) if version <= self.version => {}
                    LiveEvent::Records(version, records) => {
                        // A batch that overlaps what was handed out already is cut to its new part.
                        let new = usize::try_from(version - self.version).unwrap_or(usize::MAX);
                        let seen = records.len().saturating_sub(new);
                        self.version = version;
                        for record in records.iter() {
                            if let Fact::Ended { key, .. } = &record.fact {
                                self.shown.remove(&(record.node, key.clone()));
                            }
                        }
                        let records = if seen == 0 { records } else { records[seen..].into() };
                        return Ok(LiveEvent::Records(version, records));
                    }
                    LiveEvent::Delta(delta) => {
                        let shown = self.shown.entry((delta.node, delta.key.clone())).or_default();
                        if delta.attempt > shown.0 {
                            *shown = (delta.attempt, BTreeMap::new());
                        }
                        *shown.1.entry(delta.channel.clone()).or_default() += delta.text.len();
                        return Ok(LiveEvent::Delta(delta));
                    }
                }
            }
            if self.behind.is_some() {
                self.catch_up().await?;
                continue;
            }
            tokio::select! {
                biased;
                received = self.receiver.recv() => match received {
                    Ok(event) => self.queue.push_back(event),
                    Err(broadcast::error::RecvError::Lagged(_) | broadcast::error::RecvError::Closed) => {
                        let (_, partials, receiver) = self.live.attach();
                        (self.receiver, self.behind) = (receiver, Some(partials));
                    }
                },
                () = self.journal.appended(self.live.tree, self.version) => self.behind = Some(VecDeque::new()),
            }
        }
    }

    /// The part of an effect's text so far that was not handed out yet.
    fn unseen(&self, partial: LiveEvent) -> Option<LiveEvent> {
        let LiveEvent::Delta(mut delta) = partial else { return Some(partial) };
        let shown = self.shown.get(&(delta.node, delta.key.clone()));
        if let Some((_, channels)) = shown.filter(|shown| shown.0 == delta.attempt) {
            let seen = channels.get(&delta.channel).copied().unwrap_or(0);
            delta.text = delta.text.get(seen..).unwrap_or_default().into();
        }
        (!delta.text.is_empty()).then_some(LiveEvent::Delta(delta))
    }

    async fn catch_up(&mut self) -> Result<(), Error> {
        let tree = self.live.tree;
        let loaded = self.journal.load(tree, self.version).await.map_err(|error| Error::new(tree, error))?;
        let records = codec::decode(tree, self.version, loaded)?;
        if !records.is_empty() {
            self.queue.push_back(LiveEvent::Records(self.version + records.len() as u64, records.into()));
        }
        for partial in self.behind.take().unwrap_or_default() {
            self.queue.extend(self.unseen(partial));
        }
        Ok(())
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({} after {})", self.live.tree, self.version)
    }
}

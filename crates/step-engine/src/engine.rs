use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use smol_str::SmolStr;
use thermidor_types::{Clock, CommandId, Ids, Json, RandomIds, Text, TreeId};
use tokio_util::sync::CancellationToken;

use crate::{
    Append, Driven, End, Error, Fact, Journal, JournalError, Kinds, Limits, NodeId, Opened, Posted, Record,
    Request, Snapshot, Subscription, TreeState, TreeStatus, codec,
    driver::{Driver, program},
    fold::Tree,
    live::Live,
};

/// How long work that is no longer wanted may take to come to its end.
const GRACE: Duration = Duration::from_millis(800);

/// Drives trees of runs over a journal. Cheap to share behind an `Arc`; holds no tree itself.
pub struct Engine {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) kinds: Kinds,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) grace: Duration,
    pub(crate) program: Text,
    pub(crate) audited: bool,
    live: Mutex<HashMap<TreeId, Weak<Live>>>,
}

/// A tree to open: its root run.
#[derive(Clone, Debug)]
pub struct Start {
    /// The kind of the root's machine.
    pub kind: SmolStr,
    /// Its configuration, frozen from here on.
    pub spec: Json,
    /// Its first command.
    pub command: Json,
    /// The limits of the whole tree.
    pub limits: Limits,
    /// A title for lists.
    pub title: Text,
}

impl Engine {
    /// An engine over `journal` that knows `kinds` and reads the time from `clock`.
    pub fn new(journal: Arc<dyn Journal>, kinds: Kinds, clock: impl Clock) -> Self {
        Self {
            journal,
            kinds,
            clock: Arc::new(clock),
            ids: Arc::new(RandomIds),
            grace: GRACE,
            program: program(),
            audited: false,
            live: Mutex::default(),
        }
    }

    /// Takes fresh ids from `ids` instead of at random.
    #[must_use]
    pub fn with_ids(mut self, ids: impl Ids) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Gives cancelled work `grace` to come to its end (800 ms when not set).
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Compares, after every append, the live tree with one folded afresh from the journal, and fails with
    /// `Defect` when they differ. Costs a full load per append: for tests.
    #[must_use]
    pub fn audited(mut self) -> Self {
        self.audited = true;
        self
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Opens a tree. Nothing runs before somebody drives it.
    ///
    /// # Errors
    /// `Configuration` when the root's configuration cannot be used; `Journal(Conflict)` when the tree exists.
    pub async fn start(&self, id: TreeId, start: Start) -> Result<(), Error> {
        let Start { kind, spec, command, limits, title } = start;
        let at = self.clock.now();
        let status = TreeStatus {
            title: title.clone(),
            kind: kind.clone(),
            state: TreeState::New,
            spent: crate::Spent::default(),
        };
        let opened = Opened { parent: None, kind, spec, command, limits, title: Some(title) };
        let record = Record { at, node: NodeId::ROOT, fact: Fact::Opened(Box::new(opened)) };
        // Folding it proves that the configuration can be used before it is stored for good.
        Tree::new(id).replay(&self.kinds, &record).map_err(|problem| Error::new(id, problem))?;
        let (stored, blobs) = codec::encode(&record)
            .map_err(|error| Error::new(id, crate::error::Problem::Configuration(error.to_string())))?;
        let append = Append { expected: 0, records: vec![stored], blobs, handled: Vec::new(), status };
        self.journal.append(id, append).await.map_err(|error| Error::new(id, error))?;
        Ok(())
    }

    /// Drives a tree until it ends, parks, or `suspend` fires. Taking over from a driver that still lives
    /// makes that one fail at its next append.
    ///
    /// Spawn this: polled from the main thread's `block_on`, every wake-up costs several times as much.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). Nothing that was appended is lost; driving again goes on.
    pub async fn drive(&self, id: TreeId, suspend: &CancellationToken) -> Result<Driven, Error> {
        let (tree, snapshot_at) = self.load(id, u64::MAX).await?;
        let live = self.live(id);
        live.set_version(tree.version);
        Driver::new(self, tree, live, snapshot_at).run(suspend).await
    }

    /// Sends a command to a run. Returns at once; the driver, wherever it is, handles it once.
    ///
    /// # Errors
    /// `Journal(NotFound)` when there is no such tree.
    pub async fn send(&self, tree: TreeId, node: NodeId, request: Request) -> Result<CommandId, Error> {
        let id = CommandId::fresh(&*self.ids);
        self.post(tree, Posted { id, node, request }).await?;
        Ok(id)
    }

    /// Sends a command under an id of the caller's: sending it again changes nothing.
    ///
    /// # Errors
    /// `Journal(NotFound)` when there is no such tree.
    pub async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), Error> {
        self.journal.post(tree, posted).await.map_err(|error| Error::new(tree, error))
    }

    /// Watches a tree: its records after version `after`, then what happens.
    ///
    /// # Errors
    /// `Journal(NotFound)` when there is no such tree.
    pub async fn subscribe(&self, tree: TreeId, after: u64) -> Result<Subscription, Error> {
        Subscription::open(self.live(tree), self.journal.clone(), after).await
    }

    /// Reads a tree's records after version `after`.
    ///
    /// # Errors
    /// `Journal(NotFound)` when there is no such tree; `Newer` and `Corrupt` for what cannot be read.
    pub async fn records(&self, tree: TreeId, after: u64) -> Result<Vec<Record>, Error> {
        let loaded = self.journal.load(tree, after).await.map_err(|error| Error::new(tree, error))?;
        codec::decode(tree, after, loaded)
    }

    /// Makes a new tree that shares the first `at` records of `from` and goes its own way from there. What
    /// was in flight at that place is recovered as after a crash: repeatable effects run again.
    ///
    /// # Errors
    /// `Journal(NotFound)`; `Journal(NotABorder)` when `at` lies inside a step.
    pub async fn fork(&self, from: TreeId, at: u64) -> Result<TreeId, Error> {
        let to = TreeId::fresh(&*self.ids);
        let failed = |error: JournalError| Error::new(from, error);
        self.journal.fork(from, at, to).await.map_err(failed)?;
        let (mut tree, _) = self.load(to, u64::MAX).await?;
        let record = Record { at: self.clock.now(), node: NodeId::ROOT, fact: Fact::Forked { from, at } };
        tree.replay(&self.kinds, &record).map_err(|problem| Error::new(to, problem))?;
        let (stored, blobs) = codec::encode(&record)
            .map_err(|error| Error::new(to, crate::error::Problem::Configuration(error.to_string())))?;
        let status = tree.status(TreeState::Suspended);
        let append = Append { expected: at, records: vec![stored], blobs, handled: Vec::new(), status };
        self.journal.append(to, append).await.map_err(failed)?;
        Ok(to)
    }

    /// The end of a tree's root run; `None` while it has none.
    ///
    /// # Errors
    /// As [`Engine::records`].
    pub async fn end(&self, tree: TreeId) -> Result<Option<End>, Error> {
        let (loaded, _) = self.load(tree, u64::MAX).await?;
        Ok(loaded.runs.get(&NodeId::ROOT).and_then(|root| root.machine.end()))
    }

    /// The folded state of a tree at a version (`u64::MAX` for the newest), as JSON: for comparisons and
    /// debugging. Its form is no promise.
    ///
    /// # Errors
    /// As [`Engine::records`].
    pub async fn image(&self, tree: TreeId, at: u64) -> Result<String, Error> {
        let (loaded, _) = self.load(tree, at).await?;
        let image = loaded.image().map_err(|error| error.to_string());
        let text = image.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        text.map_err(|reason| Error::new(tree, crate::error::Problem::Unreadable { version: at, reason }))
    }

    async fn load(&self, id: TreeId, at: u64) -> Result<(Tree, u64), Error> {
        let failed = |error: JournalError| Error::new(id, error);
        let snapshot = self.journal.snapshot(id, self.kinds.fingerprint(), at).await.map_err(failed)?;
        let (mut tree, from) = match snapshot {
            Some(snapshot) => match Tree::from_image(id, &self.kinds, &snapshot.body) {
                Ok(tree) if tree.version == snapshot.version => (tree, snapshot.version),
                // A snapshot is a cache: one that does not fit is passed over.
                Ok(_) | Err(_) => (Tree::new(id), 0),
            },
            None => (Tree::new(id), 0),
        };
        let loaded = self.journal.load(id, from).await.map_err(failed)?;
        for record in codec::decode(id, from, loaded)? {
            if tree.version >= at {
                break;
            }
            tree.replay(&self.kinds, &record).map_err(|problem| Error::new(id, problem))?;
        }
        Ok((tree, from))
    }

    pub(crate) async fn save_snapshot(&self, tree: &Tree, body: Vec<u8>) -> Result<(), JournalError> {
        let snapshot =
            Snapshot { version: tree.version, fingerprint: self.kinds.fingerprint(), body: body.into() };
        self.journal.save_snapshot(tree.id, snapshot).await
    }

    fn live(&self, tree: TreeId) -> Arc<Live> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = live.get(&tree).and_then(Weak::upgrade) {
            return live;
        }
        if live.len() == live.capacity() {
            live.retain(|_, live| live.strong_count() > 0);
        }
        let new = Live::new(tree, 0);
        live.insert(tree, Arc::downgrade(&new));
        new
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("kinds", &self.kinds)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use thermidor_types::{CommandId, ContentHash, Timestamp, TreeId};
use tokio::sync::{Notify, watch};

use crate::{
    Append, Journal, JournalError, JournalErrorKind, Loaded, Posted, Snapshot, StoredRecord, TreeRow,
    TreeStatus,
};

/// A journal in memory: for tests, examples and runs that need not outlive the process.
#[derive(Default)]
pub struct MemoryJournal {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    trees: BTreeMap<TreeId, Tree>,
    blobs: HashMap<ContentHash, Bytes>,
    bells: HashMap<TreeId, Arc<Bell>>,
}

struct Tree {
    records: Vec<StoredRecord>,
    borders: BTreeSet<u64>,
    inbox: Vec<Posted>,
    posted: BTreeSet<CommandId>,
    snapshot: Option<Snapshot>,
    opened_at: Timestamp,
    status: TreeStatus,
}

struct Bell {
    posted: Notify,
    version: watch::Sender<u64>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes of all records and blobs, for measurements.
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        let records =
            inner.trees.values().flat_map(|tree| &tree.records).map(|record| record.body.len() + 24);
        records.sum::<usize>() + inner.blobs.values().map(Bytes::len).sum::<usize>()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bell(&self, tree: TreeId) -> Arc<Bell> {
        let mut inner = self.lock();
        let version = inner.trees.get(&tree).map_or(0, |tree| tree.records.len() as u64);
        let new = || Arc::new(Bell { posted: Notify::new(), version: watch::channel(version).0 });
        inner.bells.entry(tree).or_insert_with(new).clone()
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryJournal({} trees)", self.lock().trees.len())
    }
}

fn not_found() -> JournalError {
    JournalError::new(JournalErrorKind::NotFound)
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn load(&self, tree: TreeId, after: u64) -> Result<Loaded, JournalError> {
        let inner = self.lock();
        let stored = inner.trees.get(&tree).ok_or_else(not_found)?;
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let records: Vec<_> = stored.records.iter().skip(after).cloned().collect();
        let hashes = records.iter().flat_map(|record| record.cuts.iter().map(|cut| cut.hash));
        let blobs = hashes.filter_map(|hash| Some((hash, inner.blobs.get(&hash)?.clone()))).collect();
        Ok(Loaded { records, blobs })
    }

    async fn append(&self, tree: TreeId, append: Append) -> Result<u64, JournalError> {
        let bell = self.bell(tree);
        let mut guard = self.lock();
        let inner = &mut *guard;
        let version = inner.trees.get(&tree).map_or(0, |tree| tree.records.len() as u64);
        if version != append.expected || append.records.is_empty() {
            return Err(JournalError::new(JournalErrorKind::Conflict)
                .with_message(format!("the journal stands at {version}, not at {}", append.expected)));
        }
        let opened_at = append.records.first().map_or_else(Timestamp::default, |record| record.at);
        let stored = inner.trees.entry(tree).or_insert_with(|| Tree {
            records: Vec::new(),
            borders: BTreeSet::new(),
            inbox: Vec::new(),
            posted: BTreeSet::new(),
            snapshot: None,
            opened_at,
            status: append.status.clone(),
        });
        stored.records.extend(append.records);
        stored.status = append.status;
        stored.inbox.retain(|posted| !append.handled.contains(&posted.id));
        let version = stored.records.len() as u64;
        stored.borders.insert(version);
        inner.blobs.extend(append.blobs);
        bell.version.send_replace(version);
        Ok(version)
    }

    async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), JournalError> {
        let bell = self.bell(tree);
        let mut inner = self.lock();
        let stored = inner.trees.get_mut(&tree).ok_or_else(not_found)?;
        if stored.posted.insert(posted.id) {
            stored.inbox.push(posted);
            bell.posted.notify_one();
        }
        Ok(())
    }

    async fn inbox(&self, tree: TreeId) -> Result<Vec<Posted>, JournalError> {
        Ok(self.lock().trees.get(&tree).ok_or_else(not_found)?.inbox.clone())
    }

    async fn posted(&self, tree: TreeId) {
        self.bell(tree).posted.notified().await;
    }

    async fn appended(&self, tree: TreeId, version: u64) {
        let mut versions = self.bell(tree).version.subscribe();
        // The sender lives in the bell that lives as long as the journal: an error cannot come while we wait.
        let _ = versions.wait_for(|now| *now > version).await;
    }

    async fn snapshot(
        &self,
        tree: TreeId,
        fingerprint: ContentHash,
        at_most: u64,
    ) -> Result<Option<Snapshot>, JournalError> {
        let inner = self.lock();
        let snapshot = inner.trees.get(&tree).and_then(|tree| tree.snapshot.as_ref());
        Ok(snapshot.filter(|it| it.fingerprint == fingerprint && it.version <= at_most).cloned())
    }

    async fn save_snapshot(&self, tree: TreeId, snapshot: Snapshot) -> Result<(), JournalError> {
        self.lock().trees.get_mut(&tree).ok_or_else(not_found)?.snapshot = Some(snapshot);
        Ok(())
    }

    async fn fork(&self, from: TreeId, at: u64, to: TreeId) -> Result<(), JournalError> {
        let mut inner = self.lock();
        if inner.trees.contains_key(&to) {
            return Err(JournalError::new(JournalErrorKind::Conflict));
        }
        let source = inner.trees.get(&from).ok_or_else(not_found)?;
        if !source.borders.contains(&at) {
            let nearest = source.borders.range(..at).next_back().or_else(|| source.borders.first());
            let nearest =
                nearest.map_or_else(String::new, |border| format!("; the nearest place before is {border}"));
            return Err(JournalError::new(JournalErrorKind::NotABorder)
                .with_message(format!("{at} lies inside a step{nearest}")));
        }
        let records =
            source.records.iter().take(usize::try_from(at).unwrap_or(usize::MAX)).cloned().collect();
        let fork = Tree {
            records,
            borders: source.borders.range(..=at).copied().collect(),
            inbox: Vec::new(),
            posted: BTreeSet::new(),
            snapshot: None,
            opened_at: source.opened_at,
            status: source.status.clone(),
        };
        inner.trees.insert(to, fork);
        Ok(())
    }

    async fn blob(&self, hash: ContentHash) -> Result<Option<Bytes>, JournalError> {
        Ok(self.lock().blobs.get(&hash).cloned())
    }

    async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, JournalError> {
        let inner = self.lock();
        let older = inner.trees.iter().rev().filter(|(tree, _)| before.is_none_or(|before| **tree < before));
        let row = |(tree, stored): (&TreeId, &Tree)| TreeRow {
            tree: *tree,
            opened_at: stored.opened_at,
            changed_at: stored.records.last().map_or(stored.opened_at, |record| record.at),
            version: stored.records.len() as u64,
            status: stored.status.clone(),
        };
        Ok(older.take(limit).map(row).collect())
    }
}

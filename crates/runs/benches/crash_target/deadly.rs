//! A journal that ends the process at a given append.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::process::{Signal, getpid, kill_process};
use thermidor_step_engine::{Append, Journal, JournalError, Loaded, Posted, Snapshot, TreeRow};
use thermidor_types::{ContentHash, TreeId};

use crate::arguments::{Crash, When};

pub(crate) struct DeadlyJournal<J> {
    inner: J,
    crash: Option<Crash>,
    appends: Appends,
}

/// Counts the appends that were begun.
#[derive(Clone, Debug, Default)]
pub(crate) struct Appends(Arc<AtomicU64>);

impl Appends {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl<J: Journal> DeadlyJournal<J> {
    pub(crate) fn new(inner: J, crash: Option<Crash>) -> (Self, Appends) {
        let appends = Appends::default();
        (Self { inner, crash, appends: appends.clone() }, appends)
    }
}

/// Ends this process as `kill -9` does: no destructor runs, nothing is flushed.
async fn die() -> ! {
    if let Err(error) = kill_process(getpid(), Signal::KILL) {
        // Going on would make the sweep believe that it crashed.
        eprintln!("cannot kill itself: {error}");
        std::process::abort();
    }
    std::future::pending().await
}

#[async_trait]
impl<J: Journal> Journal for DeadlyJournal<J> {
    async fn append(&self, tree: TreeId, append: Append) -> Result<u64, JournalError> {
        let number = self.appends.0.fetch_add(1, Ordering::SeqCst);
        let mut work = pin!(self.inner.append(tree, append));
        match self.crash.filter(|crash| crash.at == number).map(|crash| crash.when) {
            None => work.await,
            Some(When::Before) => die().await,
            Some(When::During) => {
                // Polled once, the store has it.
                let _ = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
                die().await
            }
            Some(When::After) => {
                work.await?;
                die().await
            }
        }
    }

    async fn load(&self, tree: TreeId, after: u64) -> Result<Loaded, JournalError> {
        self.inner.load(tree, after).await
    }

    async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), JournalError> {
        self.inner.post(tree, posted).await
    }

    async fn inbox(&self, tree: TreeId) -> Result<Vec<Posted>, JournalError> {
        self.inner.inbox(tree).await
    }

    async fn posted(&self, tree: TreeId) {
        self.inner.posted(tree).await;
    }

    async fn appended(&self, tree: TreeId, version: u64) {
        self.inner.appended(tree, version).await;
    }

    async fn snapshot(
        &self,
        tree: TreeId,
        fingerprint: ContentHash,
        at_most: u64,
    ) -> Result<Option<Snapshot>, JournalError> {
        self.inner.snapshot(tree, fingerprint, at_most).await
    }

    async fn save_snapshot(&self, tree: TreeId, snapshot: Snapshot) -> Result<(), JournalError> {
        self.inner.save_snapshot(tree, snapshot).await
    }

    async fn fork(&self, from: TreeId, at: u64, to: TreeId) -> Result<(), JournalError> {
        self.inner.fork(from, at, to).await
    }

    async fn blob(&self, hash: ContentHash) -> Result<Option<Bytes>, JournalError> {
        self.inner.blob(hash).await
    }

    async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, JournalError> {
        self.inner.list(before, limit).await
    }
}

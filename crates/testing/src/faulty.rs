//! A journal that fails on command, and a clock that goes by the runtime's time.

use std::{
    fmt,
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use thermidor_step_engine::{
    Append, Journal, JournalError, JournalErrorKind, Loaded, Posted, Snapshot, TreeRow,
};
use thermidor_types::{Clock, ContentHash, Timestamp, TreeId};

/// At which append a [`CrashingJournal`] crashes, counted from 0 after it was armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    at: u64,
    stored: bool,
}

impl Crash {
    /// The append is lost.
    pub fn before(at: u64) -> Self {
        Self { at, stored: false }
    }

    /// The append is stored, but whoever made it never learns so.
    pub fn after(at: u64) -> Self {
        Self { at, stored: true }
    }
}

/// A journal over another one that crashes at a given append: that one and everything after it fails
/// until it is armed anew, as if the process had died.
pub struct CrashingJournal<J> {
    inner: J,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    appends: u64,
    crash: Option<Crash>,
    crashed: bool,
}

impl<J: Journal> CrashingJournal<J> {
    /// Works like `inner` until it is armed.
    pub fn new(inner: J) -> Self {
        Self { inner, state: Mutex::default() }
    }

    /// Crashes at `crash`, counted from now, or no more.
    pub fn arm(&self, crash: Option<Crash>) {
        *self.state() = State { appends: 0, crash, crashed: false };
    }

    /// The appends that were made since it was armed.
    pub fn appends(&self) -> u64 {
        self.state().appends
    }

    /// Whether it crashed since it was armed.
    pub fn crashed(&self) -> bool {
        self.state().crashed
    }

    /// Does something from outside the crashed process: it reaches the journal in any case.
    pub async fn outside<T>(&self, work: impl Future<Output = T>) -> T {
        let crashed = std::mem::take(&mut self.state().crashed);
        let done = work.await;
        self.state().crashed |= crashed;
        done
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self) -> Result<(), JournalError> {
        if self.state().crashed { Err(dead()) } else { Ok(()) }
    }
}

impl<J> fmt::Debug for CrashingJournal<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CrashingJournal")
    }
}

fn dead() -> JournalError {
    JournalError::new(JournalErrorKind::Unavailable).with_message("the process has crashed")
}

#[async_trait]
impl<J: Journal> Journal for CrashingJournal<J> {
    async fn load(&self, tree: TreeId, after: u64) -> Result<Loaded, JournalError> {
        self.alive()?;
        self.inner.load(tree, after).await
    }

    async fn append(&self, tree: TreeId, append: Append) -> Result<u64, JournalError> {
        self.alive()?;
        let crash = {
            let mut state = self.state();
            let crash = state.crash.filter(|crash| crash.at == state.appends);
            state.appends += 1;
            state.crashed |= crash.is_some();
            crash
        };
        match crash {
            None => self.inner.append(tree, append).await,
            Some(Crash { stored: false, .. }) => Err(dead()),
            Some(Crash { stored: true, .. }) => {
                self.inner.append(tree, append).await?;
                Err(dead())
            }
        }
    }

    async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.post(tree, posted).await
    }

    async fn inbox(&self, tree: TreeId) -> Result<Vec<Posted>, JournalError> {
        self.alive()?;
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
        self.alive()?;
        self.inner.snapshot(tree, fingerprint, at_most).await
    }

    async fn save_snapshot(&self, tree: TreeId, snapshot: Snapshot) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.save_snapshot(tree, snapshot).await
    }

    async fn fork(&self, from: TreeId, at: u64, to: TreeId) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.fork(from, at, to).await
    }

    async fn blob(&self, hash: ContentHash) -> Result<Option<Bytes>, JournalError> {
        self.alive()?;
        self.inner.blob(hash).await
    }

    async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, JournalError> {
        self.alive()?;
        self.inner.list(before, limit).await
    }
}

/// A clock that goes by the runtime's time, paused or not; it starts at 1 January 2026 when it is made.
#[derive(Clone, Debug)]
pub struct TokioClock {
    started: tokio::time::Instant,
}

impl TokioClock {
    /// Starts now. Must be called inside a runtime with time.
    pub fn new() -> Self {
        Self { started: tokio::time::Instant::now() }
    }

    /// The current moment.
    pub fn read(&self) -> Timestamp {
        const NEW_YEAR_2026: Timestamp = Timestamp::from_millis(1_767_225_600_000);
        NEW_YEAR_2026.after(self.started.elapsed())
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.read()
    }
}

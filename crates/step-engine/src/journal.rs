use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{CommandId, ContentHash, Json, Text, Timestamp, TreeId};

use crate::{Cut, EndStatus, Limits, NodeId, Spent};

/// The only truth: an append-only list of records per tree, with an inbox, blobs and cached snapshots.
///
/// A tree's version is the number of its records. All methods may be called from any task; an
/// implementation for several processes must make [`Journal::append`] atomic among them.
#[async_trait]
pub trait Journal: Send + Sync + 'static {
    /// Reads a tree's records after the first `after`, with the blobs that they refer to.
    ///
    /// # Errors
    /// `NotFound` when there is no such tree; `Newer` when it was written by a newer program.
    async fn load(&self, tree: TreeId, after: u64) -> Result<Loaded, JournalError>;

    /// Adds records, blobs and marks of handled commands in one step, if the tree's version is still
    /// `expected`. An append that expects 0 creates the tree. Returns the new version.
    ///
    /// # Errors
    /// `Conflict` when somebody else appended; nothing was written then, nor after any other error.
    async fn append(&self, tree: TreeId, append: Append) -> Result<u64, JournalError>;

    /// Puts a command into the tree's inbox. Posting the same id again changes nothing.
    ///
    /// # Errors
    /// `NotFound` when there is no such tree.
    async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), JournalError>;

    /// Reads the commands that no append marked as handled, in the order they were posted.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn inbox(&self, tree: TreeId) -> Result<Vec<Posted>, JournalError>;

    /// Waits until something may have been posted to the tree since the last call. May return for nothing,
    /// never misses a post.
    async fn posted(&self, tree: TreeId);

    /// Waits until the tree's version may be above `version`. May return for nothing.
    async fn appended(&self, tree: TreeId, version: u64);

    /// Reads the newest snapshot at or before `at_most` with this fingerprint. A cache: `None` is always right.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn snapshot(
        &self,
        tree: TreeId,
        fingerprint: ContentHash,
        at_most: u64,
    ) -> Result<Option<Snapshot>, JournalError>;

    /// Keeps a snapshot in place of the tree's older ones.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn save_snapshot(&self, tree: TreeId, snapshot: Snapshot) -> Result<(), JournalError>;

    /// Makes `to` a tree that shares the first `at` records of `from`. `at` must be the version after some append.
    ///
    /// # Errors
    /// `NotFound`; `NotABorder` when `at` lies inside an append; `Conflict` when `to` exists.
    async fn fork(&self, from: TreeId, at: u64, to: TreeId) -> Result<(), JournalError>;

    /// Reads a blob.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn blob(&self, hash: ContentHash) -> Result<Option<Bytes>, JournalError>;

    /// Lists trees, newest first, at most `limit` of those created before `before` (all when `None`).
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, JournalError>;
}

/// A record in its stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredRecord {
    /// When its append was made.
    pub at: Timestamp,
    /// Its run.
    pub node: NodeId,
    /// What sort of fact it holds, for indexes.
    pub kind: SmolStr,
    /// The version of its stored form.
    pub version: u32,
    /// The fact as JSON text, without the strings that were cut out: not valid JSON where there are cuts.
    pub body: String,
    /// Where strings were cut out.
    pub cuts: Vec<Cut>,
}

/// One append: all of it happens, or nothing.
#[derive(Clone, Debug)]
pub struct Append {
    /// The version the tree must have.
    pub expected: u64,
    /// The records, at least one.
    pub records: Vec<StoredRecord>,
    /// The blobs that the records refer to, and others the run made. Storing one twice is fine.
    pub blobs: Vec<(ContentHash, Bytes)>,
    /// Commands that these records handle.
    pub handled: Vec<CommandId>,
    /// What lists shall show of the tree from now on.
    pub status: TreeStatus,
}

/// What [`Journal::load`] found.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The records in order.
    pub records: Vec<StoredRecord>,
    /// The blobs that their cuts refer to.
    pub blobs: BTreeMap<ContentHash, Bytes>,
}

/// A command on its way to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// Posting the same id twice has the effect of posting it once.
    pub id: CommandId,
    /// The run it is for.
    pub node: NodeId,
    /// What is asked.
    pub request: Request,
}

/// What is asked of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// A command in the machine's own form.
    Command(Json),
    /// Come to an orderly stop.
    Stop,
    /// Go by other limits from now on.
    Limits(Box<Limits>),
}

/// A cached state of a whole tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The version of the tree it shows.
    pub version: u64,
    /// The shape of the state it holds: another program version looks for another fingerprint.
    pub fingerprint: ContentHash,
    /// The state.
    pub body: Bytes,
}

/// A tree in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeRow {
    /// Which tree.
    pub tree: TreeId,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was last appended to.
    pub changed_at: Timestamp,
    /// The number of its records.
    pub version: u64,
    /// What its last append said of it.
    pub status: TreeStatus,
}

/// What lists show of a tree. A projection: written with each append, made from its records alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeStatus {
    /// The root's title.
    pub title: Text,
    /// The kind of the root's machine.
    pub kind: SmolStr,
    /// Where it stands.
    pub state: TreeState,
    /// What it consumed so far.
    pub spent: Spent,
}

/// Where a tree stands according to its journal. A tree whose process died stands as `Running`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeState {
    /// Opened, and never driven.
    New,
    /// A driver has it, or had it when it died.
    Running,
    /// It waits for a person, or for a time.
    Parked {
        /// The moment it wants to go on at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wake_at: Option<Timestamp>,
    },
    /// A driver let go of it before its end.
    Suspended,
    /// It ended.
    Ended(EndStatus),
}

/// Why a journal could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("{kind}{}", .message.as_deref().map(|message| format!(": {message}")).unwrap_or_default())]
pub struct JournalError {
    kind: JournalErrorKind,
    message: Option<String>,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl JournalError {
    /// An error of `kind`.
    pub fn new(kind: JournalErrorKind) -> Self {
        Self { kind, message: None, source: None }
    }

    /// Adds what a person needs to know: the place and the remedy.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Adds the error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The closed kind, to branch on.
    pub fn kind(&self) -> JournalErrorKind {
        self.kind
    }
}

/// Why a journal could not do what was asked, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalErrorKind {
    /// Somebody else appended first.
    #[error("another process has taken the run over")]
    Conflict,
    /// There is no such tree.
    #[error("no such run")]
    NotFound,
    /// A fork at a version that is no border between appends.
    #[error("a run cannot be forked at this place")]
    NotABorder,
    /// The store cannot be reached now.
    #[error("the store is not available")]
    Unavailable,
    /// No room is left.
    #[error("the store is full")]
    Full,
    /// The store may not be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// A newer program wrote it.
    #[error("the data was written by a newer version of this program")]
    Newer,
    /// What is stored cannot be understood.
    #[error("the stored data is damaged")]
    Corrupt,
}

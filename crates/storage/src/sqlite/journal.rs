use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use thermidor_step_engine::{
    Append, Journal, JournalError, JournalErrorKind as Kind, Loaded, Posted, Snapshot, TreeRow,
};
use thermidor_types::{ContentHash, TreeId};

use super::{
    connect,
    options::{Access, Options},
    problem, read,
    readers::Readers,
    watch::{Bells, Watchman},
    writer::{Done, Work, Writer},
};

/// Threads that read beside the one that writes.
const READERS: usize = 2;

/// A journal in one `SQLite` file, shared by any number of processes on one machine.
///
/// A thread owns the connection that writes; what waits for it is written in one transaction, so that many
/// trees share the cost of one commit, and each learns its own result. Two threads read meanwhile. Nothing
/// blocks a thread of the async runtime but opening and dropping.
///
/// Posts and appends of this process wake those that wait at once; those of other processes within 250 ms.
///
/// Dropping it writes what waits, puts the write-ahead log away, and closes the file: a few milliseconds.
pub struct SqliteJournal {
    path: PathBuf,
    // Dropped in this order: the one that leaves last puts the log away.
    _watchman: Watchman,
    readers: Readers,
    writer: Option<Writer>,
    bells: Arc<Bells>,
}

impl SqliteJournal {
    /// Opens the journal in the file at `path`, whose folder exists. Blocks: some milliseconds as a rule, up
    /// to [`Options::busy_timeout`] when other processes are busy with it.
    ///
    /// # Errors
    /// `Newer` when a newer program wrote it; `Corrupt` when it is no journal; both leave it as it was.
    /// `ReadOnly` and `Full` when it cannot be created or written, `Unavailable` when it cannot be reached.
    pub fn open(path: impl Into<PathBuf>, options: Options) -> Result<Self, JournalError> {
        let path = path.into();
        let bells = Arc::new(Bells::default());
        let mut connections = Vec::new();
        let writer = match options.access {
            Access::ReadWrite => {
                let db = connect::writer(&path, &options)?;
                for _ in 0..READERS {
                    connections.push(connect::reader(&path, &options)?);
                }
                Some(Writer::start(&path, db, bells.clone())?)
            }
            Access::ReadOnly => {
                for _ in 0..READERS {
                    connections.push(connect::spectator(&path, &options)?);
                }
                None
            }
        };
        let readers = Readers::start(&path, connections)?;
        let lookout = writer.as_ref().map(Writer::lookout);
        let watchman = Watchman::start(bells.clone(), readers.asker(), lookout);
        let watchman = watchman.map_err(|error| problem::from_io(&path, error))?;
        Ok(Self { path, _watchman: watchman, readers, writer, bells })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn write(&self, work: Work) -> Result<Done, JournalError> {
        match &self.writer {
            Some(writer) => writer.write(work).await,
            None => Err(JournalError::new(Kind::ReadOnly)
                .with_message(format!("{} was opened for reading only", self.path.display()))),
        }
    }
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteJournal").field(&self.path).finish()
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn load(&self, tree: TreeId, after: u64) -> Result<Loaded, JournalError> {
        self.readers.ask(move |db| read::load(db, tree, after)).await
    }

    async fn append(&self, tree: TreeId, append: Append) -> Result<u64, JournalError> {
        let version = append.expected + append.records.len() as u64;
        self.write(Work::Append(tree, append)).await?;
        Ok(version)
    }

    async fn post(&self, tree: TreeId, posted: Posted) -> Result<(), JournalError> {
        self.write(Work::Post(tree, posted)).await?;
        Ok(())
    }

    async fn inbox(&self, tree: TreeId) -> Result<Vec<Posted>, JournalError> {
        self.readers.ask(move |db| read::inbox(db, tree)).await
    }

    async fn posted(&self, tree: TreeId) {
        self.bells.posted(tree).await;
    }

    async fn appended(&self, tree: TreeId, version: u64) {
        self.bells.appended(tree, version).await;
    }

    async fn snapshot(
        &self,
        tree: TreeId,
        fingerprint: ContentHash,
        at_most: u64,
    ) -> Result<Option<Snapshot>, JournalError> {
        self.readers.ask(move |db| read::snapshot(db, tree, fingerprint, at_most)).await
    }

    async fn save_snapshot(&self, tree: TreeId, snapshot: Snapshot) -> Result<(), JournalError> {
        self.write(Work::SaveSnapshot(tree, snapshot)).await?;
        Ok(())
    }

    async fn fork(&self, from: TreeId, at: u64, to: TreeId) -> Result<(), JournalError> {
        self.write(Work::Fork { from, at, to }).await?;
        Ok(())
    }

    async fn blob(&self, hash: ContentHash) -> Result<Option<Bytes>, JournalError> {
        self.readers.ask(move |db| read::blob(db, hash)).await
    }

    async fn list(&self, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, JournalError> {
        self.readers.ask(move |db| read::list(db, before, limit)).await
    }
}

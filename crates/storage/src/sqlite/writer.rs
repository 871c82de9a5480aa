use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc::SyncSender},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;
use thermidor_step_engine::{Append, JournalError, JournalErrorKind as Kind, Posted, Snapshot};
use thermidor_types::TreeId;
use tokio::sync::{mpsc, oneshot};

use super::{problem::Problem, watch::Bells, write};

/// Work that may wait before whoever brings it waits too.
const QUEUE: usize = 1024;

/// Work done in one transaction at the most.
const GROUP: usize = 256;

/// What is to be written.
pub(crate) enum Work {
    Append(TreeId, Append),
    Post(TreeId, Posted),
    SaveSnapshot(TreeId, Snapshot),
    Fork { from: TreeId, at: u64, to: TreeId },
}

/// What was written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Done {
    Appended(TreeId, u64),
    Posted(TreeId),
    /// Something nobody waits for, or nothing because it stood there already.
    Kept,
}

impl Work {
    fn write(&self, db: &Connection) -> Result<Done, Problem> {
        match self {
            Self::Append(tree, append) => {
                write::append(db, *tree, append).map(|version| Done::Appended(*tree, version))
            }
            Self::Post(tree, posted) => {
                write::post(db, *tree, posted).map(|new| if new { Done::Posted(*tree) } else { Done::Kept })
            }
            Self::SaveSnapshot(tree, snapshot) => {
                write::save_snapshot(db, *tree, snapshot).map(|()| Done::Kept)
            }
            Self::Fork { from, at, to } => {
                write::fork(db, *from, *at, *to).map(|()| Done::Appended(*to, *at))
            }
        }
    }
}

enum Job {
    Write(Work, oneshot::Sender<Result<Done, JournalError>>),
    /// Asks for a number that changes when another connection wrote.
    Foreign(SyncSender<i64>),
}

/// The thread that owns the connection that writes.
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(path: &Path, db: Connection, bells: Arc<Bells>) -> Result<Self, JournalError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let desk = Desk { path: path.to_owned(), db, bells };
        let thread = thread::Builder::new().name("journal-writer".into()).spawn(move || desk.run(queue));
        let thread = thread.map_err(|error| super::problem::from_io(path, error))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Writes, together with whatever else waits to be written. Once it has been sent the work is done even
    /// if nobody waits for its end.
    pub(crate) async fn write(&self, work: Work) -> Result<Done, JournalError> {
        let (reply, done) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(Job::Write(work, reply)).await.map_err(|_| gone())?;
        done.await.map_err(|_| gone())?
    }

    pub(crate) fn lookout(&self) -> Lookout {
        Lookout(self.jobs.clone())
    }
}

impl Drop for Writer {
    /// Writes what waits, and leaves one file behind.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes the journal has panicked");
        }
    }
}

/// Tells whether other processes write.
pub(crate) struct Lookout(Option<mpsc::Sender<Job>>);

impl Lookout {
    /// A number that changes when another process wrote; `None` when the writer is too busy to say.
    pub(crate) fn foreign_writes(&self) -> Option<i64> {
        const PATIENCE: std::time::Duration = std::time::Duration::from_millis(50);
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        self.0.as_ref()?.try_send(Job::Foreign(reply)).ok()?;
        answer.recv_timeout(PATIENCE).ok()
    }
}

fn gone() -> JournalError {
    JournalError::new(Kind::Unavailable)
        .with_message("the journal's thread has ended; open the journal again")
}

struct Desk {
    path: PathBuf,
    db: Connection,
    bells: Arc<Bells>,
}

impl Desk {
    fn run(self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::new();
        while queue.blocking_recv_many(&mut jobs, GROUP) > 0 {
            let (mut works, mut replies) = (Vec::new(), Vec::new());
            for job in jobs.drain(..) {
                match job {
                    Job::Write(work, reply) => {
                        works.push(work);
                        replies.push(reply);
                    }
                    Job::Foreign(reply) => {
                        let number = self.db.pragma_query_value(None, "data_version", |row| row.get(0));
                        if let Ok(number) = number {
                            // Whoever asked may have lost patience.
                            let _ = reply.try_send(number);
                        }
                    }
                }
            }
            for (result, reply) in self.write(&works).into_iter().zip(replies) {
                if let Ok(done) = &result {
                    self.bells.ring(*done);
                }
                // Nobody may wait for it any more: it is written all the same.
                let _ = reply.send(result.map_err(|problem| problem.at(&self.path)));
            }
        }
        if let Err(error) = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::debug!(path = %self.path.display(), %error, "the log is left for the next one to put away");
        }
    }

    /// Writes everything in one transaction. When that fails each piece gets one of its own, so that none
    /// fails for another's sake.
    fn write(&self, works: &[Work]) -> Vec<Result<Done, Problem>> {
        if works.is_empty() {
            return Vec::new();
        }
        if let Err(problem) = self.execute("BEGIN IMMEDIATE") {
            return works.iter().map(|_| Err(problem.clone())).collect();
        }
        match self.group(works) {
            Ok(done) => done,
            Err(problem) => {
                self.roll_back();
                match works {
                    [_] => vec![Err(problem)],
                    works => works.iter().flat_map(|work| self.write(std::slice::from_ref(work))).collect(),
                }
            }
        }
    }

    fn group(&self, works: &[Work]) -> Result<Vec<Result<Done, Problem>>, Problem> {
        let mut all = Vec::with_capacity(works.len());
        for work in works {
            match work.write(&self.db) {
                Ok(done) => all.push(Ok(done)),
                // Nothing was written for it: the others go on.
                Err(problem @ Problem::Refused(..)) => all.push(Err(problem)),
                Err(problem) => return Err(problem),
            }
        }
        self.execute("COMMIT")?;
        Ok(all)
    }

    fn execute(&self, sql: &str) -> Result<(), Problem> {
        self.db.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn roll_back(&self) {
        // Some failures have rolled back by themselves.
        if !self.db.is_autocommit()
            && let Err(problem) = self.execute("ROLLBACK")
        {
            tracing::error!(?problem, path = %self.path.display(), "a transaction could not be rolled back");
        }
    }
}

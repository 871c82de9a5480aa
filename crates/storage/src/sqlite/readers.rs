use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;
use thermidor_step_engine::{JournalError, JournalErrorKind as Kind};
use tokio::sync::oneshot;

use super::problem::Problem;

/// Questions that may wait before whoever asks waits too.
const QUEUE: usize = 256;

type Question = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that read, each with its own connection. Whoever asks never blocks a thread of the runtime.
pub(crate) struct Readers {
    path: PathBuf,
    questions: Option<tokio::sync::mpsc::Sender<Question>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(path: &Path, connections: Vec<Connection>) -> Result<Self, JournalError> {
        let (questions, queue) = tokio::sync::mpsc::channel(QUEUE);
        let mut readers = Self { path: path.to_owned(), questions: Some(questions), threads: Vec::new() };
        let queue = Arc::new(Mutex::new(queue));
        for db in connections {
            let queue = queue.clone();
            let answer = move || {
                // Whoever holds the lock waits for the next question, and lets go before answering it.
                let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
                while let Some(question) = next() {
                    question(&db);
                }
            };
            let thread = thread::Builder::new().name("journal-reader".into()).spawn(answer);
            readers.threads.push(thread.map_err(|error| super::problem::from_io(path, error))?);
        }
        Ok(readers)
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (reply, answer) = oneshot::channel();
        let question = Box::new(move |db: &Connection| {
            // Nobody may wait for the answer any more: then it is of no use.
            let _ = reply.send(question(db));
        });
        let questions = self.questions.as_ref().ok_or_else(gone)?;
        questions.send(question).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(|problem| problem.at(&self.path))
    }

    /// Asks from a thread that may block.
    pub(crate) fn asker(&self) -> Asker {
        Asker(self.questions.clone())
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.questions = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread that reads the journal has panicked");
            }
        }
    }
}

/// Asks from a thread that may block.
pub(crate) struct Asker(Option<tokio::sync::mpsc::Sender<Question>>);

impl Asker {
    /// `None` when the journal is being closed or the answer is an error.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Option<T> {
        let (reply, answer) = mpsc::sync_channel(1);
        let question = Box::new(move |db: &Connection| {
            let _ = reply.send(question(db));
        });
        self.0.as_ref()?.blocking_send(question).ok()?;
        match answer.recv().ok()? {
            Ok(answer) => Some(answer),
            Err(problem) => {
                tracing::debug!(?problem, "the journal could not be watched");
                None
            }
        }
    }
}

fn gone() -> JournalError {
    JournalError::new(Kind::Unavailable)
        .with_message("the journal's thread has ended; open the journal again")
}

use std::{fmt, sync::Arc};

use smol_str::SmolStr;
use thermidor_step_engine::{Driven, End, Engine, NodeId, Request, Wait};
use thermidor_types::{Clock, Text, TreeId};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Error, Events, error::Problem, outcome::Output};

/// A run that this process drives. Dropping it suspends the run: it can be resumed from its journal.
pub struct Run {
    id: TreeId,
    kind: SmolStr,
    engine: Arc<Engine>,
    suspend: CancellationToken,
    since: u64,
    task: Option<JoinHandle<Result<Driven, Error>>>,
}

/// How driving a run came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The run ended.
    Ended(Ended),
    /// It waits for people.
    Waiting(Vec<Wait>),
    /// It was let go before its end, and goes on when it is resumed.
    Suspended,
}

/// A run's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Which way, and why.
    pub end: End,
    /// What it made.
    pub output: Output,
}

impl Run {
    pub(crate) fn spawn(
        (id, kind): (TreeId, SmolStr),
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        since: u64,
        lease: impl Send + 'static,
    ) -> Self {
        let suspend = CancellationToken::new();
        let (driver, token) = (engine.clone(), suspend.clone());
        #[expect(clippy::disallowed_methods, reason = "the home of all drivers: a handle owns the task")]
        let task = tokio::spawn(async move {
            let driven = drive(&driver, &*clock, id, &token).await;
            drop(lease);
            driven
        });
        Self { id, kind, engine, suspend, since, task: Some(task) }
    }

    /// Names the run, for resuming and for looking at it later.
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// The run's events since it was started or resumed here, until this process lets go of it.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn events(&self) -> Result<Events, Error> {
        Events::driven(&self.engine, self.id, self.since).await
    }

    /// Lets go of the run: what is in flight is cut short and kept, nothing new starts. [`Run::wait`] then
    /// returns [`Outcome::Suspended`] within about a second.
    pub fn suspend(&self) {
        self.suspend.cancel();
    }

    /// Whether nobody drives the run here any more: [`Run::wait`] returns at once.
    pub fn is_over(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Asks the run to come to an orderly end.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn stop(&self) -> Result<(), Error> {
        self.engine.send(self.id, NodeId::ROOT, Request::Stop).await?;
        Ok(())
    }

    /// Waits until the run ends, waits for people, or was suspended.
    ///
    /// # Errors
    /// When the store failed or another process took the run over. The run can be resumed.
    pub async fn wait(mut self) -> Result<Outcome, Error> {
        let Some(task) = self.task.take() else { return Ok(Outcome::Suspended) };
        let driven = task.await.map_err(|error| Problem::Broken(self.id, error.to_string()))??;
        Ok(match driven {
            Driven::Ended(end) => {
                let output = Output::read(&self.kind, &end).map_err(Error::configuration)?;
                Outcome::Ended(Ended { end, output })
            }
            Driven::Parked { waits, .. } => Outcome::Waiting(waits),
            Driven::Suspended => Outcome::Suspended,
        })
    }

    /// Waits for the end and returns the final answer.
    ///
    /// # Errors
    /// As [`Run::wait`], and when the run ends in any other way than done; the message says which.
    pub async fn answer(self) -> Result<Text, Error> {
        let id = self.id;
        match self.wait().await? {
            Outcome::Ended(Ended { end, output }) if end.status == thermidor_step_engine::EndStatus::Done => {
                Ok(output.text().clone())
            }
            Outcome::Ended(Ended { end, output }) => {
                let reason =
                    output.failure().map(ToString::to_string).or(end.reason.map(|it| it.to_string()));
                let reason = reason.unwrap_or_default();
                Err(Problem::NotDone(id, end.status, reason).into())
            }
            Outcome::Waiting(waits) => {
                let questions: Vec<_> = waits.iter().map(|wait| wait.question.text.as_str()).collect();
                Err(Problem::Asks(id, questions.join("; ")).into())
            }
            Outcome::Suspended => Err(Problem::Suspended(id).into()),
        }
    }
}

/// Drives a tree through the times it waits for by itself.
async fn drive(
    engine: &Engine,
    clock: &dyn Clock,
    id: TreeId,
    suspend: &CancellationToken,
) -> Result<Driven, Error> {
    loop {
        match engine.drive(id, suspend).await? {
            Driven::Parked { waits, wake_at: Some(moment) } if waits.is_empty() => {
                tokio::select! {
                    () = tokio::time::sleep(moment.since(clock.now())) => {}
                    () = engine.journal().posted(id) => {}
                    () = suspend.cancelled() => return Ok(Driven::Suspended),
                }
            }
            driven => return Ok(driven),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.suspend.cancel();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({})", self.id)
    }
}

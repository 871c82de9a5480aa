use std::{collections::VecDeque, fmt, sync::Arc};

use thermidor_step_engine::{Engine, LiveEvent, Subscription};
use thermidor_types::TreeId;

use crate::{Error, RunEvent, RunEventKind, projector::Projector};

/// The events of a run, in order, without a gap or a repetition.
pub struct Events {
    subscription: Subscription,
    projector: Projector,
    queue: VecDeque<RunEvent>,
    /// Events of records up to this one are not shown.
    after: u64,
    until: Until,
    over: bool,
}

/// Until when events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The driver lets go of the run, for whatever reason.
    Released,
    /// The run ends.
    Ended,
}

impl Events {
    pub(crate) async fn driven(engine: &Arc<Engine>, run: TreeId, after: u64) -> Result<Self, Error> {
        Self::new(engine, run, after, Until::Released).await
    }

    pub(crate) async fn followed(engine: &Arc<Engine>, run: TreeId, after: u64) -> Result<Self, Error> {
        Self::new(engine, run, after, Until::Ended).await
    }

    async fn new(engine: &Arc<Engine>, run: TreeId, after: u64, until: Until) -> Result<Self, Error> {
        // The projector has to see everything from the beginning: who is who stands there.
        let subscription = engine.subscribe(run, 0).await?;
        let projector = Projector::new(run);
        Ok(Self { subscription, projector, queue: VecDeque::new(), after, until, over: false })
    }

    /// Waits for the next event; `None` when there will be no more.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn next(&mut self) -> Option<Result<RunEvent, Error>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                if event.seq <= self.after && !matches!(event.kind, RunEventKind::Delta { .. }) {
                    continue;
                }
                let released = matches!(event.kind, RunEventKind::RunParked | RunEventKind::RunSuspended);
                let ended = matches!(event.kind, RunEventKind::RunEnded { .. })
                    || (released && self.until == Until::Released);
                // A run that was resumed has ends in its past: more of its past follows them.
                self.over = ended && self.queue.is_empty();
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            match self.subscription.next().await {
                Ok(LiveEvent::Records(version, records)) => {
                    let first = version - records.len() as u64 + 1;
                    for (seq, record) in (first..).zip(records.iter()) {
                        self.queue.extend(self.projector.project(seq, record));
                    }
                }
                Ok(LiveEvent::Delta(delta)) => self.queue.extend(self.projector.delta(delta)),
                Err(error) => {
                    self.over = true;
                    return Some(Err(error.into()));
                }
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({:?})", self.subscription)
    }
}

/// Everything that happened in a run up to now.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The run.
    pub run: TreeId,
    /// Its events, from the first one.
    pub events: Vec<RunEvent>,
}

impl History {
    pub(crate) async fn read(engine: &Engine, run: TreeId) -> Result<Self, Error> {
        let mut projector = Projector::new(run);
        let records = engine.records(run, 0).await?;
        let events = (1..).zip(&records).flat_map(|(seq, record)| projector.project(seq, record)).collect();
        Ok(Self { run, events })
    }
}

use std::{fmt, sync::Arc};

use thermidor_types::{CallId, Text};
use tokio_util::sync::CancellationToken;

type Sink = Arc<dyn Fn(Text) + Send + Sync>;

/// What a running call knows of its surroundings. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    call: CallId,
    idempotency_key: Text,
    cancellation: CancellationToken,
    progress: Option<Sink>,
}

impl ToolContext {
    /// The surroundings of one call.
    ///
    /// `idempotency_key` names the deed, not the attempt: it is the same when the call is repeated after a
    /// crash. `cancellation` is fired by whoever owns the run.
    pub fn new(
        call: impl Into<CallId>,
        idempotency_key: impl Into<Text>,
        cancellation: CancellationToken,
    ) -> Self {
        Self { call: call.into(), idempotency_key: idempotency_key.into(), cancellation, progress: None }
    }

    /// Surroundings without a run, for tests and for calling a tool by hand.
    pub fn detached() -> Self {
        Self::new("detached", "detached", CancellationToken::new())
    }

    /// Has `sink` receive what the tool says while it works. It is called on the tool's task: hand over
    /// and return.
    #[must_use]
    pub fn on_progress(mut self, sink: impl Fn(Text) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// The call being answered.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Names the deed for services that drop repeated requests. The same for every attempt.
    pub fn idempotency_key(&self) -> &Text {
        &self.idempotency_key
    }

    /// Waits until the call should stop. A tool that notices and returns by itself can say what it did;
    /// one that does not is dropped a moment later.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// Whether the call should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// The token behind [`ToolContext::cancelled`], to hand further down.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Tells people what is going on. Not part of the answer, and lost if nobody listens.
    pub fn progress(&self, words: impl Into<Text>) {
        if let Some(sink) = &self.progress {
            sink(words.into());
        }
    }

    /// The same surroundings under a token of their own, which falls with this one.
    pub(crate) fn child(&self) -> Self {
        Self { cancellation: self.cancellation.child_token(), ..self.clone() }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", &self.call)
            .field("idempotency_key", &self.idempotency_key)
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

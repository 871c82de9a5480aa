use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use smol_str::SmolStr;
use thermidor_types::{ContentHash, Money, Text, Tokens, TreeId};
use tokio_util::sync::CancellationToken;

use crate::{EffectKey, Machine, NodeId, Spent, live::Live};

/// A future that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Does what a machine instructs. Thin: it decides nothing and writes no events.
pub trait Executor<M: Machine>: Send + Sync + 'static {
    /// Reads from the state what it needs and returns the work.
    ///
    /// The work must come to its end soon after [`EffectContext::cancelled`], with whatever it has; what
    /// does not is dropped after a grace. A panic counts as an unknown outcome.
    fn start(
        &self,
        state: &M::State,
        instruction: M::Instruction,
        context: EffectContext,
    ) -> BoxFuture<M::Outcome>;
}

/// What one effect in execution may use: its name, its cancellation, its deltas, its account.
#[derive(Clone)]
pub struct EffectContext {
    tree: TreeId,
    node: NodeId,
    key: EffectKey,
    attempt: u32,
    cancel: CancellationToken,
    live: Arc<Live>,
    account: Arc<Mutex<Account>>,
    tokens_left: Option<Tokens>,
}

#[derive(Default)]
pub(crate) struct Account {
    pub(crate) spent: Spent,
    pub(crate) blobs: Vec<(ContentHash, Bytes)>,
}

impl EffectContext {
    pub(crate) fn new(
        tree: TreeId,
        node: NodeId,
        key: EffectKey,
        attempt: u32,
        cancel: CancellationToken,
        live: Arc<Live>,
    ) -> Self {
        Self { tree, node, key, attempt, cancel, live, account: Arc::default(), tokens_left: None }
    }

    pub(crate) fn with_tokens_left(self, tokens_left: Option<Tokens>) -> Self {
        Self { tokens_left, ..self }
    }

    /// A context that belongs to no tree, for tests of executors.
    pub fn detached() -> Self {
        let tree = TreeId::from(uuid_nil());
        Self::new(
            tree,
            NodeId::ROOT,
            EffectKey::new("detached", 1),
            1,
            CancellationToken::new(),
            Live::new(tree, 0),
        )
    }

    /// The tree.
    pub fn tree(&self) -> TreeId {
        self.tree
    }

    /// The run.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The effect.
    pub fn key(&self) -> &EffectKey {
        &self.key
    }

    /// The attempt, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Names this effect for the world outside: the same in every attempt, different for all other effects.
    pub fn idempotency_key(&self) -> Text {
        format!("{}/{}/{}", self.tree, self.node, self.key).into()
    }

    /// Returns when the effect is no longer wanted.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Whether the effect is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The token behind [`EffectContext::cancelled`].
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The tokens that were left to this effect when it started: the least, over its run and the run's
    /// ancestors, of what is neither spent nor reserved by other effects in flight. `None` when none of them
    /// limits tokens.
    ///
    /// A snapshot: effects that run beside each other each see the same rest, and what others spend after the
    /// start does not show. The engine does not cut an effect off that consumes more; to keep to it is the
    /// executor's part.
    pub fn tokens_left(&self) -> Option<Tokens> {
        self.tokens_left
    }

    /// Shows a fragment to whoever watches. Never journaled. Cost: one lock and one copy into the text so far.
    pub fn delta(&self, channel: impl Into<SmolStr>, text: impl Into<Text>) {
        self.live.delta(self.node, &self.key, self.attempt, channel.into(), text.into());
    }

    /// Notes what was consumed, at once: it counts however the effect ends.
    pub fn spend(&self, tokens: Tokens, money: Option<Money>) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.spent += Spent { tokens, money, ..Spent::default() };
    }

    /// Stores bytes under their content hash, in the append that records the effect's end.
    pub fn attach(&self, bytes: Bytes) -> ContentHash {
        let hash = ContentHash::of(&bytes);
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.blobs.push((hash, bytes));
        hash
    }

    pub(crate) fn take_account(&self) -> Account {
        std::mem::take(&mut self.account.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn uuid_nil() -> thermidor_types::Uuid {
    thermidor_types::Uuid::nil()
}

impl fmt::Debug for EffectContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EffectContext({}/{}/{}#{})", self.tree, self.node, self.key, self.attempt)
    }
}

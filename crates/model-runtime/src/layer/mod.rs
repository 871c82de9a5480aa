//! What stands around a model: decorators of [`ChatModel`](crate::ChatModel).

mod metering;
mod retry;

pub use metering::Metered;
pub(crate) use retry::unseen_failure;
pub use retry::{CallObserver, CallReport, CallStep, Chance, Retry, RetryPolicy};

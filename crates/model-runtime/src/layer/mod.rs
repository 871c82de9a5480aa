//! What stands around a model: decorators of [`ChatModel`](crate::ChatModel).

mod estimate;
mod metering;
mod retry;

pub(crate) use metering::Learnt;
pub use metering::{Metered, estimated_input};
pub(crate) use retry::unseen_failure;
pub use retry::{CallObserver, CallReport, CallStep, Chance, Retry, RetryPolicy};

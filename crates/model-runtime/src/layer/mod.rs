//! What stands around a model: decorators of [`ChatModel`](crate::ChatModel).
//!
//! From the model outwards: [`Metered`], [`Observed`], [`Limited`], [`Breaker`], then [`Failover`] over the channels
//! of one model, [`Retry`], and [`Failover`] over models. Each works alone as well.

mod breaker;
mod bucket;
mod circuit;
mod estimate;
mod failover;
mod limited;
mod metering;
mod observed;
mod observer;
mod opening;
mod retry;
#[cfg(feature = "tower")]
pub mod tower;

pub use breaker::Breaker;
pub(crate) use breaker::{SharedCircuit, circuit};
pub use circuit::{BreakerPolicy, BreakerState};
pub use failover::{Channel, Failover, Order};
pub use limited::{Limited, Limiter, Limits};
pub(crate) use metering::Learnt;
pub use metering::{Metered, estimated_input};
pub use observed::Observed;
pub use observer::{CallObserver, CallReport, CallStep};
pub(crate) use opening::unseen_failure;
pub use retry::{Chance, Retry, RetryPolicy};
pub(crate) use retry::{random, retried};

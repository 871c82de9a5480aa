//! From a name to a model that can be called.

mod builder;
mod discover;
mod listing;
mod models;
mod preview;
mod siblings;
mod ways;

pub use builder::ModelRuntimeBuilder;
pub use discover::LocalServer;
pub use models::{Known, ModelRuntime};
pub use preview::Preview;

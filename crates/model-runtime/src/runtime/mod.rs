//! From a name to a model that can be called.

mod builder;
mod discover;
mod listing;
mod models;

pub use builder::ModelRuntimeBuilder;
pub use discover::LocalServer;
pub use models::{Known, ModelRuntime};

//! From a name to a model that can be called.

mod builder;
mod discover;
mod models;
mod suggest;

pub use builder::ModelRuntimeBuilder;
pub use discover::LocalServer;
pub use models::{Known, ModelRuntime};

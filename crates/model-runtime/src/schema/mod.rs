//! JSON Schemas in the dialect that a provider takes.

mod narrow;
mod node;
mod references;
mod request;
mod rules;
mod strict;

pub(crate) use narrow::embeddable;
pub use narrow::{Dropped, Narrowed, Unfit, narrow};
pub(crate) use request::narrowed;
pub use rules::SchemaDialect;

#[cfg(test)]
mod tests;

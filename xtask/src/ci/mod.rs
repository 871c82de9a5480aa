//! `cargo xtask ci`: everything that is checked before a change goes in, in one place.

mod examples;
mod report;
mod run;
mod tests;

pub(crate) use run::{OnFailure, run};

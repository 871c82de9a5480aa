//! `cargo xtask crash-sweep`: a run is killed at every append, and comes to the same end.

mod kills;
mod run;
mod sweep;
mod target;

pub(crate) use run::run;

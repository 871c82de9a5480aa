//! `cargo xtask real-model`: the bundled software company works on a real, small language model.
//!
//! What is judged is form: that everything streams, ends, is counted and is written down. A model of 135 million
//! parameters has no wit to judge; it passes over demands for headings and words, and the run has to cope.

mod codecs;
mod events;
mod install;
mod judge;
mod process;
mod run;
mod server;
mod team;

pub(crate) use run::run;

//! `cargo xtask bench`: the figures of speed, size and growth, in one table.

mod build;
mod command;
mod machine;
mod python_client;
mod row;
mod run;
mod table;

pub(crate) use run::run;

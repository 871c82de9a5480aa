//! `cargo xtask clients`: our client and the official Python client hear the same from the same bytes.

mod case;
mod run;
mod table;

pub(crate) use run::run;

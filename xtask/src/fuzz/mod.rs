//! `cargo xtask fuzz`: bytes that nobody thought of, guided by coverage, on the stable toolchain.

mod build;
mod drive;
mod run;

pub(crate) use run::run;

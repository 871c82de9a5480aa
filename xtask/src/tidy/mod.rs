//! `cargo xtask tidy`: what the compiler cannot check.

mod docs;
mod fault;
mod layers;
mod length;
mod manifests;
mod modules;
mod run;
mod source;
mod text;
mod words;

pub(crate) use run::run;

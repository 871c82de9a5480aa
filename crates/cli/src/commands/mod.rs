//! One file for each command.

mod completions;
mod config;
mod doctor;
mod execute;
mod models;
mod resume;
mod run;
mod runs_ls;
mod runs_show;
mod tail;
mod teams;

pub(crate) use execute::execute;

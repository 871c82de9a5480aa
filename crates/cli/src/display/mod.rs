//! A run as it happens: live lines on a terminal, plain lines elsewhere, JSON lines for programs.

mod json;
mod live;
mod plain;
mod progress;
mod show;

pub(crate) use json::{Json, line};
pub(crate) use live::Live;
pub(crate) use plain::Plain;
pub(crate) use progress::Progress;
pub(crate) use show::{Detail, Display, Silent};

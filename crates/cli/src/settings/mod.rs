//! What the environment and the configuration files say, and where each value comes from.

mod environment;
mod file;
mod places;
mod values;

pub(crate) use environment::{Environment, now};
pub(crate) use places::Places;
pub(crate) use values::{From, Setting, Settings};

//! Whether an answer has the form asked for. Pure.

mod check;
mod files;
mod headings;
mod lines;
mod words;

pub(crate) use check::{faults, repair_words};
pub use files::{ProjectFile, parse_files};
pub use words::count_words;

//! Reads the JSON that models write: with fences, single quotes, comments, missing commas, or cut off.

mod ahead;
mod edit;
mod outer;
mod repaired;
mod string;
mod walk;
mod word;

pub use edit::{Edit, EditKind};
pub use repaired::{LONGEST_DOCUMENT, MOST_DEPTH, Repaired, Unrepairable, repair};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

//! What a provider's refusal means: a pure reading of status and body.

mod body;
mod class;
mod codes;
mod phrases;
mod read;
#[cfg(test)]
mod tests;

pub use class::FaultClass;
pub(crate) use read::read_fault_text;
pub use read::{Fault, read_fault};

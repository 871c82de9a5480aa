//! Forms of answers: a schema for models that take none, tools for models that call none.

mod constrained;
mod decode;
mod history;
mod note;
mod spoken;
mod structured;
mod tap;
mod union;
mod words;

pub use constrained::ConstrainedTools;
pub use structured::StructuredOutput;
pub(crate) use words::schema_in_words;

#[cfg(test)]
mod constrained_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod structured_tests;

mod answer;
mod arithmetic;
mod blocks;
mod compose;
mod contract;
mod facts;
mod files;
mod fill;
mod language;
mod model;
mod phrases;
mod templates;
#[cfg(test)]
mod tests;
mod tools;

pub use contract::{Contract, Material, MaterialKind};
pub use language::Language;
pub use model::Rehearsal;

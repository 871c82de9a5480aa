mod answer;
mod arithmetic;
mod blocks;
mod brief;
mod brief_en;
mod brief_zh;
mod compose;
mod contract;
mod facts;
mod files;
mod fill;
mod language;
mod model;
mod notice;
mod paper;
mod phrases;
mod points;
#[cfg(test)]
mod reading;
mod table;
#[cfg(test)]
mod tests;
mod tools;
mod verbs;
mod writer;

pub use contract::{Contract, Material, MaterialKind};
pub use language::Language;
pub use model::Rehearsal;

//! Conversations as tables of commands and what is seen of them; properties; growth.

mod branches;
mod projections;
mod properties;
mod rows;
mod scale;
mod script;

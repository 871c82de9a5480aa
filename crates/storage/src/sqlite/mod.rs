//! The journal in one `SQLite` file, for any number of processes on one machine.

mod connect;
mod form;
mod journal;
mod options;
mod problem;
mod read;
mod readers;
mod schema;
mod watch;
mod write;
mod writer;

pub use journal::SqliteJournal;
pub use options::{Access, Durability, Options};

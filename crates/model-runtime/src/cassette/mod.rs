//! Exchanges recorded to a file, and answered from it.

mod asked;
mod differ;
mod file;
mod line;
mod player;
mod recorder;
mod secrets;

pub use file::Cassette;
pub(crate) use player::Player;
pub(crate) use recorder::Recorder;

//! Storage: journals that outlive the process, and leases that keep one driver per tree.
//!
//! The ports belong to the crates that need them; here are their adapters, a module and a feature per
//! database. `sqlite` (on by default) keeps everything in one file.
//!
//! ```
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! # #[cfg(feature = "sqlite")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use thermidor_step_engine::Journal;
//! use thermidor_storage::{Leases, Options, SqliteJournal};
//!
//! # let folder = tempfile::tempdir()?;
//! # let data = folder.path();
//! let journal = SqliteJournal::open(data.join("journal.sqlite"), Options::default())?;
//! let leases = Leases::open(data)?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! for row in journal.list(None, 20).await? {
//!     let driven = leases.is_leased(row.tree)?;
//!     println!("{} {} driven now: {driven}", row.tree, row.status.title);
//! }
//! # Ok::<_, thermidor_step_engine::JournalError>(())
//! # })?;
//! # Ok(())
//! # }
//! ```

mod file_error;
mod lease;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use lease::{LeaseGuard, Leases};
#[cfg(feature = "sqlite")]
pub use sqlite::{Access, Durability, Options, SqliteJournal};

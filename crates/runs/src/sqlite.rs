//! Runs kept in SQLite, with leases as files beside the database.

use std::{any::Any, path::Path};

use async_trait::async_trait;
use thermidor_storage::{Options, SqliteJournal};
use thermidor_types::TreeId;

use crate::{Error, Leases, RunsBuilder};

/// The database's name in its folder.
pub const DATABASE: &str = "thermidor.db";

impl RunsBuilder {
    /// Keeps runs in the database [`DATABASE`] in `folder`, and leases beside it; makes both where there are none.
    ///
    /// # Errors
    /// `Store` when the folder cannot be written or the database cannot be used; `Newer` when a newer program wrote
    /// it.
    pub fn sqlite(self, folder: &Path) -> Result<Self, Error> {
        let journal = SqliteJournal::open(folder.join(DATABASE), Options::default())?;
        let leases = thermidor_storage::Leases::open(folder)?;
        Ok(self.journal(journal).leases(leases))
    }
}

#[async_trait]
impl Leases for thermidor_storage::Leases {
    async fn take(&self, run: TreeId) -> Result<Option<Box<dyn Any + Send>>, String> {
        // It may have to wait for whoever looks at the lease just now.
        let leases = self.clone();
        let taken = tokio::task::spawn_blocking(move || leases.try_lease(run)).await;
        let lease = taken.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn Any + Send>))
    }

    async fn is_taken(&self, run: TreeId) -> bool {
        // A look at one file: handing it to another thread would cost more. A lease that cannot be read is
        // somebody's: a run is not called dead on a guess.
        self.is_leased(run).unwrap_or(true)
    }
}

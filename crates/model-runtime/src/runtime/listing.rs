use std::{sync::Arc, time::Duration};

use thermidor_types::{FailureKind, ModelId};

use super::{ModelRuntime, models::unknown_provider};
use crate::{
    Error, Provider,
    listing::{HttpListing, ListedModel, ModelListing as _},
};

/// How long one request for a list may take. A server on this machine that takes longer is busy with a model.
const PATIENCE: Duration = Duration::from_secs(20);

impl ModelRuntime {
    /// The models that `provider` serves, by its own list. Costs a request a page.
    ///
    /// # Errors
    /// As [`ModelRuntime::listing`] and [`ModelListing::list`](crate::listing::ModelListing::list).
    pub async fn list(&self, provider: &str) -> Result<Vec<ListedModel>, Error> {
        self.listing(provider)?.list().await
    }

    /// What lists the models of `provider`. Opens no connection.
    ///
    /// # Errors
    /// [`NotFound`](FailureKind::NotFound) for an unknown provider, [`Credentials`](FailureKind::Credentials) when
    /// its key is missing.
    pub fn listing(&self, provider: &str) -> Result<HttpListing, Error> {
        let row: &Arc<Provider> =
            self.providers.iter().find(|row| row.is_called(provider)).ok_or_else(|| {
                unknown_provider(provider, self.providers.iter().map(|row| row.name.as_str()))
            })?;
        let key = self.keys.get(&row.name).cloned();
        if key.is_none() && !row.local && !self.transport.is_replay() {
            let variable = row.key_variables.first().map_or("an API key", |name| name.as_str());
            let message = format!("no key for {}: set {variable}", row.title);
            return Err(Error::new(FailureKind::Credentials, ModelId::new(row.name.clone(), ""), message));
        }
        Ok(HttpListing::new(row.clone(), key, self.transport.clone(), PATIENCE))
    }
}

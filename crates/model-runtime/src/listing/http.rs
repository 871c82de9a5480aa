use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use secrecy::SecretString;
use thermidor_types::{FailureKind, ModelId};

use super::{ListedModel, ListingForm, ModelListing, read, read_details};
use crate::{
    Error, Provider, Timeouts,
    http::{Ask, Bounds, Caller, Transport},
};

/// The longest list that is read, in bytes.
const LONGEST: usize = 32 << 20;
/// So many pages are asked for: a server that goes on for ever is not followed.
const MOST_PAGES: usize = 50;
/// Anthropic refuses requests that name no version.
const ANTHROPIC_VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The list of one provider, over HTTP. Made by [`ModelRuntime::listing`](crate::ModelRuntime::listing).
///
/// No retry: whoever wants the list asks again.
#[derive(Debug)]
pub struct HttpListing {
    caller: Caller,
    patience: Duration,
}

impl HttpListing {
    pub(crate) fn new(
        provider: Arc<Provider>,
        key: Option<SecretString>,
        transport: Arc<dyn Transport>,
        patience: Duration,
    ) -> Self {
        let model = ModelId::new(provider.name.clone(), "");
        Self { caller: Caller { model, provider, key, transport }, patience }
    }

    /// The answer's body.
    async fn send(&self, mut ask: Ask) -> Result<Bytes, Error> {
        if ListingForm::of(&self.caller.provider) == ListingForm::Anthropic {
            let (name, version) = ANTHROPIC_VERSION;
            ask.headers.push((name.to_owned(), version.to_owned()));
        }
        let times = Timeouts {
            first_event: self.patience,
            between_events: self.patience,
            total: self.patience,
            ..self.caller.transport.timeouts()
        };
        Ok(self.caller.send(ask, Bounds { times, longest: LONGEST }).await?.body)
    }

    /// More about a single model, where the server tells it; the entry as it is otherwise.
    async fn detailed(&self, form: ListingForm, model: ListedModel) -> Result<ListedModel, Error> {
        let Some(address) = form.details(&self.caller.provider.base_url) else { return Ok(model) };
        let body = serde_json::json!({ "model": model.id.as_str() }).to_string();
        match self.send(Ask::post(address, body)).await {
            Ok(bytes) => Ok(read_details(form, model.clone(), &bytes).unwrap_or(model)),
            // A model that was removed in between, or an older server: the list itself stands.
            Err(error) if error.kind() == FailureKind::NotFound => Ok(model),
            Err(error) => Err(error),
        }
    }

    /// All pages in one form.
    async fn pages(&self, form: ListingForm) -> Result<Vec<ListedModel>, Error> {
        let (mut models, mut next) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let address = form.address(&self.caller.provider.base_url, next.as_deref());
            let bytes = self.send(Ask::get(address.clone())).await?;
            let page = read(form, &bytes).ok_or_else(|| {
                self.caller.error(
                    FailureKind::Malformed,
                    format!("{address} answers with something that is no list of models"),
                )
            })?;
            for model in page.models {
                models.push(self.detailed(form, model).await?);
            }
            let again = page.next.is_none() || page.next == next;
            next = page.next;
            if again {
                break;
            }
        }
        Ok(models)
    }
}

#[async_trait]
impl ModelListing for HttpListing {
    async fn list(&self) -> Result<Vec<ListedModel>, Error> {
        let (form, usual) =
            (ListingForm::of(&self.caller.provider), ListingForm::of_dialect(self.caller.provider.dialect));
        match self.pages(form).await {
            // A proxy, or another server under the same name, has the list that goes with the wire format.
            Err(error) if form != usual && error.status() == Some(404) => self.pages(usual).await,
            listed => listed,
        }
    }
}

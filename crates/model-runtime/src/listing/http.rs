use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use reqwest::{RequestBuilder, Url, header::CONTENT_TYPE};
use secrecy::{ExposeSecret, SecretString};
use thermidor_types::{FailureKind, ModelId};

use super::{ListedModel, ListingForm, ModelListing, read, read_details};
use crate::{
    Error, Provider,
    dialect::read_fault,
    http::{Clients, key_header, redacted},
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
    provider: Arc<Provider>,
    key: Option<SecretString>,
    clients: Arc<Clients>,
    patience: Duration,
}

impl HttpListing {
    pub(crate) fn new(
        provider: Arc<Provider>,
        key: Option<SecretString>,
        clients: Arc<Clients>,
        patience: Duration,
    ) -> Self {
        Self { provider, key, clients, patience }
    }

    fn error(&self, kind: FailureKind, message: impl Into<String>) -> Error {
        let message = redacted(message.into(), self.key.as_ref());
        Error::new(kind, ModelId::new(self.provider.name.clone(), ""), message)
    }

    fn url(&self, address: &str) -> Result<Url, Error> {
        address.parse().map_err(|_| {
            self.error(FailureKind::Configuration, format!("{:?} is no address", self.provider.base_url))
        })
    }

    /// The answer's body, with the headers that every request needs.
    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Vec<u8>, Error> {
        let host = url.host_str().unwrap_or_default();
        let mut request = request.timeout(self.patience);
        for (name, value) in &self.provider.headers {
            request = request.header(name, value);
        }
        if ListingForm::of(&self.provider) == ListingForm::Anthropic {
            request = request.header(ANTHROPIC_VERSION.0, ANTHROPIC_VERSION.1);
        }
        if let Some(key) = &self.key {
            let (name, value) = key_header(&self.provider.auth, key.expose_secret()).ok_or_else(|| {
                self.error(FailureKind::Credentials, "the key holds characters that no header can")
            })?;
            request = request.header(name, value);
        }
        let broken = |error: reqwest::Error| {
            let (kind, what) = if error.is_timeout() {
                (FailureKind::Timeout, "did not answer in time")
            } else if error.is_connect() {
                (FailureKind::Network, "could not be reached")
            } else {
                (FailureKind::Network, "broke off")
            };
            self.error(kind, format!("{host} {what}")).with_source(error.without_url())
        };
        let mut response = request.send().await.map_err(broken)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(broken)? {
            body.extend_from_slice(&bytes);
            if body.len() > LONGEST {
                return Err(self.error(FailureKind::Malformed, format!("{host} sends a list without end")));
            }
        }
        if status.is_success() {
            return Ok(body);
        }
        let fault = read_fault(Some(status.as_u16()), &body);
        let error = self.error(fault.kind, fault.message).with_status(status.as_u16());
        Err(match fault.code {
            Some(code) => error.with_code(code),
            None => error,
        })
    }

    /// More about a single model, where the server tells it; the entry as it is otherwise.
    async fn detailed(&self, form: ListingForm, model: ListedModel) -> Result<ListedModel, Error> {
        let Some(address) = form.details(&self.provider.base_url) else { return Ok(model) };
        let url = self.url(&address)?;
        let client = self.clients.of(&url, &ModelId::new(self.provider.name.clone(), model.id.clone()))?;
        let body = serde_json::json!({ "model": model.id.as_str() }).to_string();
        let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        match self.send(&url, request).await {
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
            let url = self.url(&form.address(&self.provider.base_url, next.as_deref()))?;
            let client = self.clients.of(&url, &ModelId::new(self.provider.name.clone(), ""))?;
            let bytes = self.send(&url, client.get(url.clone())).await?;
            let page = read(form, &bytes).ok_or_else(|| {
                self.error(
                    FailureKind::Malformed,
                    format!("{url} answers with something that is no list of models"),
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
        let (form, usual) = (ListingForm::of(&self.provider), ListingForm::of_dialect(self.provider.dialect));
        match self.pages(form).await {
            // A proxy, or another server under the same name, has the list that goes with the wire format.
            Err(error) if form != usual && error.status() == Some(404) => self.pages(usual).await,
            listed => listed,
        }
    }
}

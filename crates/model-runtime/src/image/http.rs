use async_trait::async_trait;
use thermidor_types::ModelCard;

use super::{ImageModel, ImageRequest, Images, encode, read};
use crate::{Error, dialect::Target, http::Whole, whole::Calls};

/// One image model over HTTP, with retry.
#[derive(Debug)]
pub(crate) struct HttpImage(pub(crate) Calls);

#[async_trait]
impl ImageModel for HttpImage {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn generate(&self, request: ImageRequest) -> Result<Images, Error> {
        let Self(calls) = self;
        let provider = calls.provider()?;
        let target = Target { card: calls.card(), provider };
        let wire = encode(&request, target).map_err(|why| calls.refused(why))?;
        let made = calls.ask(&wire, |base| base, |whole: &Whole| read(provider, &whole.body)).await?;
        Ok(Images { usage: calls.priced(made.usage), ..made })
    }
}

use async_trait::async_trait;
use thermidor_types::ModelCard;

use super::{EmbeddingModel, EmbeddingRequest, Embeddings, encode, form::check, read};
use crate::{
    Error,
    dialect::{Target, Unencodable},
    http::Whole,
    whole::Calls,
};

/// One embedding model over HTTP, with retry.
#[derive(Debug)]
pub(crate) struct HttpEmbedding(pub(crate) Calls);

#[async_trait]
impl EmbeddingModel for HttpEmbedding {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn embed(&self, request: EmbeddingRequest) -> Result<Embeddings, Error> {
        let Self(calls) = self;
        let provider = calls.provider()?;
        let target = Target { card: calls.card(), provider };
        let form = provider.services.embedding;
        let form = form.ok_or_else(|| calls.refused(Unencodable::NoForm("embeddings")))?;
        let most = provider.services.embedding_batch.unwrap_or(form.most()).max(1);
        // The whole list is checked and written before any of it is sent.
        check(&request).map_err(|why| calls.refused(why))?;
        let parts = request.inputs.chunks(most).map(|inputs| {
            let part = EmbeddingRequest { inputs: inputs.to_vec(), ..request.clone() };
            let wire = encode(&part, target).map_err(|why| calls.refused(why))?;
            Ok((part, wire))
        });
        let mut all = Embeddings::default();
        for (part, wire) in parts.collect::<Result<Vec<_>, Error>>()? {
            let reading = |whole: &Whole| read(&part, provider, &whole.body);
            let found = calls.ask(&wire, |base| form.root(base), reading).await?;
            all.vectors.extend(found.vectors);
            all.usage += calls.priced(found.usage);
            all.model = all.model.or(found.model);
        }
        Ok(all)
    }
}

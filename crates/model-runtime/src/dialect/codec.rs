use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::ModelCard;

use super::{anthropic, google, mapper::Mapper, ollama, openai_chat, openai_responses};
use crate::{
    ChatRequest, Dialect, Provider, Quirks,
    schema::{self, Unfit},
};

/// Whom a request is written for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The model: its name, its abilities, its longest answer.
    pub card: &'a ModelCard,
    /// Where it is served, and how that place differs from its dialect.
    pub provider: &'a Provider,
}

impl Target<'_> {
    /// The provider's own path, or `usual`, which is the dialect's; `{model}` in it is the model's name.
    pub(crate) fn path(&self, usual: &str) -> String {
        self.provider.path.as_deref().unwrap_or(usual).replace("{model}", self.card.id.model())
    }
}

/// A request in a provider's own format, without address and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireRequest {
    /// What is appended to the provider's base address, query included.
    pub path: String,
    /// Headers of this dialect and this request, beside the key and the content type.
    pub headers: Vec<(String, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// A request that a dialect has no form for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unencodable {
    /// There is nothing to answer.
    #[error("the request has no message")]
    NoMessage,
    /// A medium's bytes are in a blob store that a codec cannot reach.
    #[error("the bytes of {0} must be put into the request before it is sent")]
    UnresolvedBlob(String),
    /// The tool that must be called is not among those on offer.
    #[error("the tool {0:?} is to be called but is not offered")]
    ToolNotOffered(String),
    /// The temperature is no number between 0 and 2.
    #[error("the temperature {0} is not between 0 and 2")]
    Temperature(String),
    /// Another figure is outside its range.
    #[error("{0}")]
    OutOfRange(String),
    /// The request asks for something that the wire format cannot say.
    #[error("this provider's wire format has no {0}")]
    NoForm(&'static str),
    /// The fields for this provider alone are no JSON object.
    #[error("the extra fields of the request are no JSON object")]
    Extra,
    /// The form the answer must have cannot be told to this provider.
    #[error("the form of the answer does not fit: {0}")]
    Schema(#[from] Unfit),
    /// A value has no JSON form.
    #[error("the request has no JSON form: {0}")]
    Json(String),
}

/// Writes `request` in the dialect of `target`, asking for a stream. Same request, same bytes.
///
/// Cost: linear in the request; texts are borrowed until the body is written.
///
/// # Errors
/// See [`Unencodable`].
pub fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let narrowed = schema::narrowed(request, target.provider.schema)?;
    let request = &*narrowed;
    let wire = match target.provider.dialect {
        Dialect::OpenaiChat => openai_chat::encode(request, target)?,
        Dialect::GoogleGenerate => google::encode(request, target)?,
        Dialect::OllamaChat => ollama::encode(request, target)?,
        Dialect::OpenaiResponses => openai_responses::encode(request, target)?,
        Dialect::AnthropicMessages => anthropic::encode(request, target)?,
    };
    let body = match &request.extra {
        Some(extra) => merged(&wire.body, extra.as_str())?,
        None => wire.body,
    };
    Ok(WireRequest { body, ..wire })
}

/// The decoding half of `dialect`.
pub(super) fn mapper(dialect: Dialect, quirks: &Quirks) -> Box<dyn Mapper> {
    match dialect {
        Dialect::OpenaiChat => Box::new(openai_chat::ChunkMapper::new(quirks)),
        Dialect::GoogleGenerate => Box::new(google::ChunkMapper::default()),
        Dialect::OllamaChat => Box::new(ollama::LineMapper),
        Dialect::OpenaiResponses => Box::new(openai_responses::EventMapper::new(quirks)),
        Dialect::AnthropicMessages => Box::new(anthropic::EventMapper::default()),
    }
}

/// `body` with the fields of `extra`: a field that is there already is replaced in its place. Everything else
/// keeps its bytes.
pub(crate) fn merged(body: &[u8], extra: &str) -> Result<Vec<u8>, Unencodable> {
    let json = |error: serde_json::Error| Unencodable::Json(error.to_string());
    let mut fields: IndexMap<&str, &RawValue> = serde_json::from_slice(body).map_err(json)?;
    let extra: IndexMap<&str, &RawValue> = serde_json::from_str(extra).map_err(|_| Unencodable::Extra)?;
    fields.extend(extra);
    serde_json::to_vec(&fields).map_err(json)
}

/// `body` as JSON.
pub(crate) fn written(body: &impl Serialize) -> Result<Vec<u8>, Unencodable> {
    serde_json::to_vec(body).map_err(|error| Unencodable::Json(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_fields_replace_and_follow_and_leave_the_rest_as_it_is() {
        let merged = |extra| merged(br#"{"b": 1.10,"a":{"z":1,"y":2}}"#, extra).map(String::from_utf8);
        let text = merged(r#"{"c":[1],"b":"x"}"#).expect("merges").expect("text");
        assert_eq!(text, r#"{"b":"x","a":{"z":1,"y":2},"c":[1]}"#);
        assert_eq!(merged("[1]"), Err(Unencodable::Extra));
    }
}

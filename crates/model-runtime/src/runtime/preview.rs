use std::fmt;

use thermidor_types::FailureKind;

use super::ModelRuntime;
use crate::{
    Auth, ChatRequest, Error,
    dialect::{self, Target},
};

/// What stands for the key.
const MASK: &str = "…";

/// A request as it would be sent, with the key masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The whole address.
    pub url: String,
    /// The headers that carry a meaning, in the order they are sent; the key is `…`.
    pub headers: Vec<(String, String)>,
    /// The body, JSON.
    pub body: String,
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "POST {}", self.url)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "\n{}", self.body)
    }
}

impl ModelRuntime {
    /// The request that the model called `name` would be sent, without sending it. No key is needed.
    ///
    /// For models that are reached over HTTP: what layers such as structured output make of a request is not
    /// shown.
    ///
    /// ```
    /// use thermidor_model_runtime::{ChatRequest, ModelRuntime};
    /// use thermidor_types::Message;
    ///
    /// let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
    /// let preview = ModelRuntime::builder().build()?.preview("deepseek", &request)?;
    /// assert_eq!(preview.url, "https://api.deepseek.com/v1/chat/completions");
    /// assert_eq!(preview.headers[1], ("authorization".to_owned(), "Bearer …".to_owned()));
    /// # Ok::<(), thermidor_model_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ModelRuntime::card`]; [`InvalidRequest`](FailureKind::InvalidRequest) when the provider's format has
    /// no form for the request.
    pub fn preview(&self, name: &str, request: &ChatRequest) -> Result<Preview, Error> {
        let id = self.id(name)?;
        let provider = self.provider_of(&id)?.serving(id.model());
        let (card, _) = self.card(name)?;
        let wire = dialect::encode(request, Target { card: &card, provider: &provider })
            .map_err(|error| Error::new(FailureKind::InvalidRequest, id, error.to_string()))?;
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if !provider.local {
            headers.push(match &provider.auth {
                Auth::Bearer => ("authorization".to_owned(), format!("Bearer {MASK}")),
                Auth::Header(name) => (name.to_string(), MASK.to_owned()),
            });
        }
        let url = provider.url(&wire.path);
        headers.extend(provider.headers.into_iter().chain(wire.headers));
        Ok(Preview { url, headers, body: String::from_utf8_lossy(&wire.body).into_owned() })
    }
}

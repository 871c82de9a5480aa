use serde::Serialize;
use thermidor_types::{Content, Json, Text};

use crate::{Error, ErrorKind};

/// What a tool answers: text and media in order. Anything that is text converts into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The parts in order.
    pub content: Vec<Content>,
}

impl ToolOutput {
    /// Answers with a value as compact JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Failed`] when the value has no JSON form.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        Json::of(value).map(Self::from).map_err(|error| {
            Error::new(ErrorKind::Failed, format!("the answer has no JSON form: {error}")).with_source(error)
        })
    }

    /// Adds a part at the end.
    #[must_use]
    pub fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }
}

impl From<Text> for ToolOutput {
    fn from(text: Text) -> Self {
        Self { content: vec![Content::Text(text)] }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Text::from(text).into()
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Text::from(text).into()
    }
}

impl From<Json> for ToolOutput {
    fn from(json: Json) -> Self {
        json.as_str().into()
    }
}

impl From<Vec<Content>> for ToolOutput {
    fn from(content: Vec<Content>) -> Self {
        Self { content }
    }
}

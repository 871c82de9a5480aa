//! The parts of a request's body that decide the answer, borrowed from its bytes.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) messages: Option<Vec<Message<'a>>>,
    #[serde(borrow, default)]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(default)]
    pub(super) stream: Option<bool>,
    #[serde(default)]
    pub(super) stream_options: Option<StreamOptions>,
    #[serde(borrow, default)]
    pub(super) tool_choice: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response_format: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) max_tokens: Option<u64>,
    #[serde(default)]
    pub(super) max_completion_tokens: Option<u64>,
}

impl Body<'_> {
    pub(super) fn messages(&self) -> &[Message<'_>] {
        self.messages.as_deref().unwrap_or_default()
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = Function<'_>> {
        self.tools.iter().flatten().map(|tool| {
            let (name, description, parameters) = match &tool.function {
                Some(inner) => (&inner.name, &inner.description, inner.parameters),
                None => (&tool.name, &tool.description, tool.parameters),
            };
            Function {
                name: name.as_deref().unwrap_or_default(),
                description: description.as_deref().unwrap_or_default(),
                parameters,
            }
        })
    }

    pub(super) fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true))
    }
}

#[derive(Deserialize)]
pub(super) struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<Call<'a>>>,
    #[serde(borrow, default)]
    pub(super) tool_call_id: Option<Cow<'a, str>>,
}

impl Message<'_> {
    pub(super) fn is(&self, role: &str) -> bool {
        self.role.as_deref() == Some(role)
    }

    /// Whether the content, as JSON, holds a plain word.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.content.is_some_and(|content| content.get().contains(word))
    }

    pub(super) fn calls(&self) -> &[Call<'_>] {
        self.tool_calls.as_deref().unwrap_or_default()
    }
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) function: Option<Called<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Called<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<Cow<'a, str>>,
}

/// A tool in its usual wrapping, or flat.
#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow, default)]
    function: Option<Described<'a>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
}

/// A tool on offer.
#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: Option<&'a RawValue>,
}

/// The parameters of a tool, in the order they are written in.
#[derive(Default, Deserialize)]
pub(super) struct Parameters<'a> {
    #[serde(borrow, default)]
    pub(super) properties: Option<IndexMap<Cow<'a, str>, &'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) required: Option<Vec<Cow<'a, str>>>,
}

/// The type a property asks for, as JSON; empty when it asks for none.
pub(super) fn property_type(property: &RawValue) -> &str {
    #[derive(Deserialize)]
    struct Property<'a> {
        #[serde(borrow, rename = "type", default)]
        kind: Option<&'a RawValue>,
    }
    serde_json::from_str::<Property<'_>>(property.get())
        .ok()
        .and_then(|property| property.kind)
        .map_or("", RawValue::get)
}

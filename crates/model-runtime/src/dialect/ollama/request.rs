//! The request body, field by field. Field order is byte order: it never changes between turns.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::Json;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) think: Option<Think>,
    #[serde(skip_serializing_if = "Options::is_default")]
    pub(super) options: Options<'a>,
    pub(super) stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Entry<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<&'a str>,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_name: &'a str,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<&'a str>,
    },
}

#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) function: Called<'a>,
}

#[derive(Serialize)]
pub(super) struct Called<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Cow<'a, RawValue>,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) r#type: &'static str,
    pub(super) function: Offered<'a>,
}

#[derive(Serialize)]
pub(super) struct Offered<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Json,
}

/// Whether to think or, for models that know steps, how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Think {
    Switch(bool),
    Step(&'static str),
}

#[derive(Default, PartialEq, Serialize)]
pub(super) struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_ctx: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_predict: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop: Vec<&'a str>,
}

impl Options<'_> {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

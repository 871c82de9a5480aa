//! The request body, field by field. Field order is byte order: it never changes between turns.

use std::borrow::Cow;

use serde::Serialize;
use thermidor_types::Json;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_cache_key: Option<&'a str>,
    pub(super) store: bool,
    pub(super) stream: bool,
}

/// One item of the history.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    Message(Message<'a>),
    Call(Called<'a>),
    Output(Answered<'a>),
    /// An item of the provider's own, byte for byte.
    Native(&'a Json),
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    r#type: &'static str,
    role: &'static str,
    content: Words<'a>,
}

impl<'a> Message<'a> {
    pub(super) const fn new(role: &'static str, content: Words<'a>) -> Self {
        Self { r#type: "message", role, content }
    }
}

#[derive(Serialize)]
pub(super) struct Called<'a> {
    r#type: &'static str,
    call_id: Cow<'a, str>,
    name: &'a str,
    arguments: Cow<'a, str>,
}

impl<'a> Called<'a> {
    pub(super) const fn new(call_id: Cow<'a, str>, name: &'a str, arguments: Cow<'a, str>) -> Self {
        Self { r#type: "function_call", call_id, name, arguments }
    }
}

#[derive(Serialize)]
pub(super) struct Answered<'a> {
    r#type: &'static str,
    call_id: Cow<'a, str>,
    output: Words<'a>,
}

impl<'a> Answered<'a> {
    pub(super) const fn new(call_id: Cow<'a, str>, output: Words<'a>) -> Self {
        Self { r#type: "function_call_output", call_id, output }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Words<'a> {
    Plain(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) enum Piece<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image { image_url: Cow<'a, str>, detail: &'static str },
    #[serde(rename = "input_audio")]
    Audio { input_audio: Audio<'a> },
    #[serde(rename = "input_file")]
    File {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a str>,
    },
}

#[derive(Serialize)]
pub(super) struct Audio<'a> {
    pub(super) data: &'a str,
    pub(super) format: &'a str,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) r#type: &'static str,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, name: &'a str },
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    pub(super) format: Format<'a>,
}

#[derive(Serialize)]
pub(super) struct Format<'a> {
    pub(super) r#type: &'static str,
    pub(super) name: &'a str,
    pub(super) schema: &'a Json,
    pub(super) strict: bool,
}

#[derive(Serialize)]
pub(super) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'static str>,
}

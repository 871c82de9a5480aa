//! The request body, field by field. Field order is byte order: it never changes between turns.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::Json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<Instruction<'a>>,
    pub(super) contents: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<[Toolbox<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Generation::is_default")]
    pub(super) generation_config: Generation<'a>,
}

#[derive(Serialize)]
pub(super) struct Instruction<'a> {
    pub(super) parts: Vec<Piece<'a>>,
}

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Piece<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Model,
}

/// One part. What a provider made itself goes back as it came.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Piece<'a> {
    Part(Box<Part<'a>>),
    Native(&'a Json),
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    pub(super) mime_type: &'a str,
    pub(super) data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    pub(super) mime_type: &'a str,
    pub(super) file_uri: &'a str,
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) args: Cow<'a, RawValue>,
}

#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Piece<'a>>,
}

/// What came of a call: the object it gave, or its words under the key that says how it went.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Response<'a> {
    Result(Cow<'a, str>),
    Error(Cow<'a, str>),
    #[serde(untagged)]
    Object(&'a RawValue),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Toolbox<'a> {
    pub(super) function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Declaration<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<&'a Json>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    pub(super) function_calling_config: Calling<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Calling<'a> {
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_json_schema: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_modalities: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<Thinking>,
}

impl Generation<'_> {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Thinking {
    #[serde(rename = "thinkingBudget", skip_serializing_if = "Option::is_none")]
    pub(super) budget: Option<u64>,
    #[serde(rename = "thinkingLevel", skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<&'static str>,
    #[serde(rename = "includeThoughts", skip_serializing_if = "std::ops::Not::not")]
    pub(super) include_thoughts: bool,
}

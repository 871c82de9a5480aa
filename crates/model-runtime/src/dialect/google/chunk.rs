//! One JSON object of an answer, borrowed from the bytes it came in. Every event has the shape of a whole answer.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow, default)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) model_version: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow, default)]
    pub(super) block_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) block_reason_message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) finish_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) grounding_metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) citation_metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thought: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thought_signature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(borrow, default)]
    pub(super) inline_data: Option<InlineData<'a>>,
    #[serde(borrow, default)]
    pub(super) file_data: Option<FileData<'a>>,
    #[serde(borrow, default)]
    pub(super) executable_code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) code_execution_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    #[serde(borrow, default)]
    pub(super) mime_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    #[serde(borrow, default)]
    pub(super) mime_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) file_uri: Option<&'a RawValue>,
}

//! The request body, field by field. Field order is byte order: it never changes between turns.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::Json;

use super::{sampling::Sampling, thinking::Thinking};

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Format<'a>>,
    #[serde(flatten)]
    pub(super) sampling: Sampling<'a>,
    #[serde(flatten)]
    pub(super) thinking: Thinking,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_cache_key: Option<&'a str>,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Entry<'a> {
    System {
        content: Words<'a>,
    },
    Developer {
        content: Words<'a>,
    },
    User {
        content: Words<'a>,
    },
    Assistant {
        content: Words<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a RawValue>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: Words<'a>,
    },
}

impl<'a> Entry<'a> {
    pub(super) fn content_mut(&mut self) -> &mut Words<'a> {
        match self {
            Self::System { content }
            | Self::Developer { content }
            | Self::User { content }
            | Self::Assistant { content, .. }
            | Self::Tool { content, .. } => content,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Words<'a> {
    Plain(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ImageUrl {
        image_url: Url<'a>,
    },
    VideoUrl {
        video_url: Url<'a>,
    },
    InputAudio {
        input_audio: Audio<'a>,
    },
    File {
        file: File<'a>,
    },
    DocumentUrl {
        document_url: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        document_name: Option<&'a str>,
    },
    Thinking {
        thinking: [Thought<'a>; 1],
    },
}

impl<'a> Piece<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    pub(super) fn thinking(text: Cow<'a, str>) -> Self {
        Self::Thinking { thinking: [Thought { r#type: "text", text }] }
    }
}

#[derive(Serialize)]
pub(super) struct Thought<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

/// A mark of the prompt cache: what comes before it is kept.
#[derive(Clone, Copy, Serialize)]
pub(super) struct CacheControl {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ttl: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct Url<'a> {
    pub(super) url: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct Audio<'a> {
    pub(super) data: &'a str,
    pub(super) format: &'a str,
}

#[derive(Serialize)]
pub(super) struct File<'a> {
    pub(super) filename: &'a str,
    pub(super) file_data: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) id: String,
    pub(super) r#type: &'static str,
    pub(super) function: CalledFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<ExtraContent<'a>>,
}

#[derive(Serialize)]
pub(super) struct CalledFunction<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct ExtraContent<'a> {
    pub(super) google: Signed<'a>,
}

#[derive(Serialize)]
pub(super) struct Signed<'a> {
    pub(super) thought_signature: &'a str,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) r#type: &'static str,
    pub(super) function: OfferedFunction<'a>,
}

#[derive(Serialize)]
pub(super) struct OfferedFunction<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Json,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, function: Name<'a> },
}

#[derive(Serialize)]
pub(super) struct Name<'a> {
    pub(super) name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Serialize)]
pub(super) struct NamedSchema<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Json,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) strict: bool,
}

//! One JSON object of an answer, borrowed from the bytes it came in.
//!
//! Fields whose form differs between servers are kept raw and read leniently: an odd field never costs the
//! words beside it.

use std::borrow::Cow;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::dialect::{
    calls,
    lenient::{arguments, string},
};

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    /// Some providers bill here.
    #[serde(borrow, default)]
    pub(super) cost: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) base_resp: Option<BaseResponse>,
    /// Sources, where Perplexity and xAI put them.
    #[serde(borrow, default)]
    pub(super) citations: Option<&'a RawValue>,
    /// Sources with titles, where Perplexity and Wenxin put them.
    #[serde(borrow, default)]
    pub(super) search_results: Option<&'a RawValue>,
    /// Sources, where Hunyuan puts them.
    #[serde(borrow, default)]
    pub(super) search_info: Option<&'a RawValue>,
    /// Sources, where Zhipu puts them.
    #[serde(borrow, default)]
    pub(super) web_search: Option<&'a RawValue>,
    /// Sources, where Venice puts them.
    #[serde(borrow, default)]
    pub(super) venice_parameters: Option<&'a RawValue>,
    /// Azure's first chunk says what its filter made of the prompt, and nothing else.
    #[serde(default)]
    pub(super) prompt_filter_results: Option<IgnoredAny>,
}

/// `MiniMax` reports failures here, in a 200.
#[derive(Deserialize)]
pub(super) struct BaseResponse {
    #[serde(default)]
    pub(super) status_code: i64,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// The whole answer at once, in a body that is no stream. Streams that repeat it are not read twice.
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    /// `OpenRouter` reports failures of the provider behind it here, in a 200.
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// `MiniMax` puts the sources of a search it ran on the last of these.
    #[serde(borrow, default)]
    pub(super) messages: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) images: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) audio: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) annotations: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

impl CallDelta<'_> {
    /// What it says, in the words of all dialects.
    pub(super) fn read(&self) -> calls::CallDelta<'_> {
        let function = self.function.as_ref();
        calls::CallDelta {
            index: self.index,
            id: string(self.id),
            name: function.and_then(|function| string(function.name)),
            arguments: arguments(function.and_then(|function| function.arguments)),
            signature: self.extra_content.and_then(thought_signature),
        }
    }
}

/// The signature of the thoughts before a call, where Google's models have it in this format.
fn thought_signature(extra: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Extra<'a> {
        #[serde(borrow, default)]
        google: Option<Google<'a>>,
    }
    #[derive(Deserialize)]
    struct Google<'a> {
        #[serde(borrow, default)]
        thought_signature: Option<&'a RawValue>,
    }
    string(serde_json::from_str::<Extra<'_>>(extra.get()).ok()?.google?.thought_signature)
}

#[derive(Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// One block of a content given as a list, or of `reasoning_details`.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
}

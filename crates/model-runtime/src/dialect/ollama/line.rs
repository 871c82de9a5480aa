//! One JSON object of an answer, borrowed from the bytes it came in.

use serde::Deserialize;
use serde_json::{Number, value::RawValue};

use crate::dialect::{
    calls,
    lenient::{arguments, string},
};

#[derive(Deserialize)]
pub(super) struct Line<'a> {
    #[serde(borrow, default)]
    pub(super) message: Option<Message<'a>>,
    #[serde(default)]
    pub(super) done: Option<bool>,
    #[serde(borrow, default)]
    pub(super) done_reason: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) prompt_eval_count: Option<Number>,
    #[serde(default)]
    pub(super) eval_count: Option<Number>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) images: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl Call<'_> {
    /// What it says, in the words of all dialects. Calls come whole, whatever index they name.
    pub(super) fn read(&self) -> calls::CallDelta<'_> {
        let function = self.function.as_ref();
        calls::CallDelta {
            index: None,
            id: string(self.id),
            name: function.and_then(|function| string(function.name)),
            arguments: arguments(function.and_then(|function| function.arguments)),
            signature: None,
        }
    }
}

//! Blocks of an answer between their start and their stop.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::value::RawValue;
use thermidor_types::{Citation, Json};

use super::{
    event::{Block, Delta},
    sources,
};
use crate::dialect::{
    answer::Answer,
    calls::{CallDelta, Form},
    lenient::{arguments, list, string},
    replay::object,
};

/// A block on its way.
#[derive(Debug)]
pub(super) enum Open {
    Text {
        /// Bytes of all words before it.
        start: usize,
        citations: Vec<Citation>,
    },
    Thinking,
    Call {
        /// Its place among the calls of the answer.
        number: i64,
        /// The arguments as the start gave them: they count when no more come.
        at_start: String,
    },
    /// A block to be kept as it is.
    Native {
        item: Box<RawValue>,
        /// The input of a server-side tool as far as it has come.
        input: String,
    },
    /// Told as unknown already.
    Unknown,
}

impl Open {
    /// Begins a block; `number` is the place of the next call.
    pub(super) fn start(raw: &RawValue, number: &mut i64, answer: &mut Answer) -> Self {
        let Ok(block) = serde_json::from_str::<Block<'_>>(raw.get()) else {
            answer.unknown("a content block that is no object", raw.get());
            return Self::Unknown;
        };
        let kind = string(block.r#type).unwrap_or_default();
        match &*kind {
            "text" => {
                let mut open = Self::Text { start: answer.text_length(), citations: Vec::new() };
                if let Some(text) = string(block.text) {
                    answer.text(&text);
                }
                for citation in list::<&RawValue>(block.citations).unwrap_or_default() {
                    open.cite(citation, answer);
                }
                open
            }
            "thinking" => {
                answer.close_part();
                if let Some(text) = string(block.thinking) {
                    answer.reasoning(&text);
                }
                if let Some(signature) = string(block.signature) {
                    answer.sign_reasoning(&signature);
                }
                Self::Thinking
            }
            "tool_use" => {
                let call = CallDelta {
                    index: Some(*number),
                    id: string(block.id),
                    name: string(block.name),
                    arguments: Cow::Borrowed(""),
                    signature: block
                        .caller
                        .map(RawValue::get)
                        .filter(|caller| is_program(caller))
                        .map(Cow::from),
                };
                answer.calls([call], Form::Fragments);
                let at_start = Some(arguments(block.input)).filter(|input| !is_empty_object(input));
                *number += 1;
                Self::Call { number: *number - 1, at_start: at_start.unwrap_or_default().into_owned() }
            }
            kind if is_native(kind) => Self::Native { item: raw.to_owned(), input: String::new() },
            kind => {
                answer.unknown(&format!("a content block of type {kind}"), raw.get());
                Self::Unknown
            }
        }
    }

    /// The block that a delta without a start belongs to.
    pub(super) fn implied_by(kind: &str, answer: &Answer) -> Option<Self> {
        match kind {
            "text_delta" | "citations_delta" => {
                Some(Self::Text { start: answer.text_length(), citations: Vec::new() })
            }
            "thinking_delta" | "signature_delta" => Some(Self::Thinking),
            _ => None,
        }
    }

    /// More of the block; false when it makes no sense in it.
    pub(super) fn more(&mut self, kind: &str, delta: &Delta<'_>, answer: &mut Answer) -> bool {
        match (self, kind) {
            (Self::Unknown, _) => {}
            (Self::Text { .. }, "text_delta") => {
                if let Some(text) = string(delta.text) {
                    answer.text(&text);
                }
            }
            (open @ Self::Text { .. }, "citations_delta") => match delta.citation {
                Some(citation) => open.cite(citation, answer),
                None => return false,
            },
            (Self::Thinking, "thinking_delta") => {
                if let Some(text) = string(delta.thinking) {
                    answer.reasoning(&text);
                }
            }
            (Self::Thinking, "signature_delta") => {
                if let Some(signature) = string(delta.signature) {
                    answer.sign_reasoning(&signature);
                }
            }
            (Self::Call { number, at_start }, "input_json_delta") => {
                let arguments = arguments(delta.partial_json);
                if !arguments.is_empty() {
                    at_start.clear();
                    let call = CallDelta { index: Some(*number), arguments, ..CallDelta::default() };
                    answer.calls([call], Form::Fragments);
                }
            }
            (Self::Native { input, .. }, "input_json_delta") => {
                input.push_str(&arguments(delta.partial_json));
            }
            _ => return false,
        }
        true
    }

    /// Ends the block.
    pub(super) fn stop(self, answer: &mut Answer) {
        match self {
            Self::Unknown => {}
            Self::Text { start, citations } => {
                let span = (answer.text_length() > start).then(|| start..answer.text_length());
                for citation in citations {
                    answer.citation(Citation { span: span.clone(), ..citation });
                }
            }
            Self::Thinking => answer.close_part(),
            Self::Call { number, at_start } => {
                if !at_start.is_empty() {
                    let arguments = Cow::Owned(at_start);
                    let call = CallDelta { index: Some(number), arguments, ..CallDelta::default() };
                    answer.calls([call], Form::Fragments);
                }
            }
            Self::Native { item, input } if input.trim().is_empty() => answer.native(Json::from(item)),
            Self::Native { item, input } => match with_input(&item, &input) {
                Some(item) => answer.native(item),
                None => answer.unknown("the input of a server-side tool that is no JSON object", &input),
            },
        }
    }

    fn cite(&mut self, raw: &RawValue, answer: &mut Answer) {
        match (self, sources::read(raw)) {
            (Self::Text { citations, .. }, Some(citation)) => citations.push(citation),
            _ => answer.unknown("a citation", raw.get()),
        }
    }
}

/// `item` with `input` in the place of its input, the rest as it is.
fn with_input(item: &RawValue, input: &str) -> Option<Json> {
    let mut fields: IndexMap<&str, &RawValue> = serde_json::from_str(item.get()).ok()?;
    fields.insert("input", object(input)?);
    Json::of(&fields).ok()
}

/// Blocks that mean something to the provider alone, which wants them back.
fn is_native(kind: &str) -> bool {
    matches!(kind, "redacted_thinking" | "server_tool_use" | "mcp_tool_use" | "container_upload")
        || kind.ends_with("_tool_result")
}

/// Whether a call was made by a program that the provider runs, which must be named again when it is sent back. A
/// model's own calls say `direct`, which is the default.
fn is_program(caller: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Caller<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
    }
    serde_json::from_str::<Caller<'_>>(caller).is_ok_and(|caller| caller.r#type != "direct")
}

fn is_empty_object(input: &str) -> bool {
    input.trim_matches(['{', '}', ' ', '\n', '\t', '\r']).is_empty()
}

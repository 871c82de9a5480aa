use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use thermidor_model_runtime::{ChatEvent, ChatModel, ChatRequest, Error, StreamEnd, StreamEnding};
use thermidor_types::{FailureKind, Measure, Usage};

/// What a client made of one answer, in a form in which clients of any make can be compared.
///
/// Nothing is in it that two correct clients may do differently: no ids of their own, no times, no number of
/// events. Absent fields have their default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Heard {
    /// All words, a refusal's among them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// All thoughts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tool calls, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<HeardCall>,
    /// Why the model stopped, in the provider's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// What the provider counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<HeardUsage>,
    /// That it failed, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<HeardError>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeardCall {
    /// The provider's id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, byte for byte.
    pub arguments: String,
}

/// What was counted, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeardUsage {
    /// The prompt.
    pub input: u64,
    /// What of it came from a cache.
    #[serde(skip_serializing_if = "zero")]
    pub cached: u64,
    /// The answer.
    pub output: u64,
    /// What of it was reasoning.
    #[serde(skip_serializing_if = "zero")]
    pub reasoning: u64,
}

/// A failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeardError {
    /// The HTTP status, when the request was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's code or, without one, its type; not told for a failure in the middle of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn zero(count: &u64) -> bool {
    *count == 0
}

impl Heard {
    /// Asks `model`, and listens to the end.
    pub async fn from(model: &dyn ChatModel, request: ChatRequest) -> Self {
        let mut answer = match model.stream(request).await {
            Ok(answer) => answer,
            Err(error) => return Self { error: Some(HeardError::of(&error)), ..Self::default() },
        };
        let mut heard = Self::default();
        while let Some(event) = answer.next().await {
            match event {
                ChatEvent::Text(text) => heard.text += &text,
                ChatEvent::Reasoning(text) => heard.reasoning += &text,
                ChatEvent::Call { .. } | ChatEvent::Media(_) => {} // in the message at the end
                ChatEvent::Ended(end) => heard.end(&end),
            }
        }
        heard
    }

    fn end(&mut self, end: &StreamEnd) {
        let calls = end.message.exchanges().map(|exchange| HeardCall {
            id: exchange.call.wire_id.as_deref().unwrap_or_default().to_owned(),
            name: exchange.call.name.to_string(),
            arguments: exchange.call.arguments.to_string(),
        });
        self.calls = calls.collect();
        self.finish = end.reason.as_ref().map(ToString::to_string);
        self.usage = HeardUsage::of(&end.message.usage);
        self.error = match &end.ending {
            StreamEnding::Finished | StreamEnding::Length => None,
            // The provider said it by its finish reason: the word is compared, not what we make of it.
            StreamEnding::Failed(failure)
                if failure.kind == FailureKind::ContentRefused && end.reason.is_some() =>
            {
                None
            }
            StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Some(HeardError::default()),
        };
    }
}

impl HeardError {
    fn of(error: &Error) -> Self {
        Self { status: error.status(), code: error.code().map(str::to_owned) }
    }
}

impl HeardUsage {
    /// `None` where the provider reported nothing.
    fn of(usage: &Usage) -> Option<Self> {
        let counts = Self {
            input: usage.input.0,
            cached: usage.cached_input.0,
            output: usage.output.0,
            reasoning: usage.reasoning.0,
        };
        (usage.measure == Measure::Reported).then_some(counts)
    }
}

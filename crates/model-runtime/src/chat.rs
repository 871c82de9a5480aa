use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{AssistantMessage, Failure, Json, Message, ModelCard, Text, Tokens, ToolSchema};

use crate::Error;

/// A language model that chats.
///
/// The only thing an own model has to implement. Everything that stands around a model (timeouts, retry,
/// metering) is a decorator of this trait.
#[async_trait]
pub trait ChatModel: Send + Sync + 'static {
    /// What is known of the model: its id, window and price.
    fn card(&self) -> &ModelCard;

    /// Starts an answer. Dropping the stream stops the request.
    ///
    /// The stream yields any number of deltas and then exactly one [`ChatEvent::Ended`].
    ///
    /// # Errors
    /// When no answer began: the request was refused, or nobody could be reached. After the first event a
    /// failure is an ending ([`StreamEnding::Failed`], [`StreamEnding::CutOff`]), never an error.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error>;
}

/// Deltas, then one ending.
pub type ChatStream = BoxStream<'static, ChatEvent>;

/// One request to a model, in no provider's format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The prompt. Every exchange in it is complete, or is answered by the encoder as interrupted.
    pub messages: Vec<Message>,
    /// The tools on offer, by their wire names.
    pub tools: Vec<ToolSchema>,
    /// Whether tools may, must or must not be called.
    pub tool_choice: ToolChoice,
    /// The longest answer wanted, in tokens.
    pub max_output: Option<Tokens>,
    /// Sampling temperature, 0 to 2; the provider's default when unset.
    pub temperature: Option<f32>,
    /// The answer's form, where free text is not wanted.
    pub response_schema: Option<ResponseSchema>,
    /// Ids of the calls in the answer are this, a dot and the call's place: unique in the run if this is.
    pub call_prefix: SmolStr,
    /// Handed to providers that take one, so that a repeated request is recognised.
    pub idempotency_key: Option<Text>,
}

/// Whether tools may, must or must not be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// At least one call.
    Required,
    /// No call.
    None,
    /// This tool, by its wire name.
    Named(SmolStr),
}

/// The form an answer must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseSchema {
    /// A short name, letters, digits, `_` and `-`.
    pub name: SmolStr,
    /// A JSON Schema.
    pub schema: Json,
}

/// One event of an answer on its way.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// More words.
    Text(Text),
    /// More thoughts.
    Reasoning(Text),
    /// More of a tool call: its place among the answer's calls, its wire name, a fragment of its arguments.
    Call {
        /// The call's place in the answer, from 0.
        index: usize,
        /// The tool's wire name.
        name: SmolStr,
        /// The next fragment of the arguments, possibly empty.
        fragment: Text,
    },
    /// The last event.
    Ended(Box<StreamEnd>),
}

/// The whole answer and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamEnd {
    /// The assembled answer: parts, usage, model, ending. Calls carry wire names and open exchanges.
    pub message: AssistantMessage,
    /// How it ended.
    pub ending: StreamEnding,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnding {
    /// The model was done, and the provider said so.
    Finished,
    /// The length allowed was reached.
    Length,
    /// The stream broke off after some of the answer had come.
    CutOff(Failure),
    /// The provider reported a failure inside the stream.
    Failed(Failure),
}

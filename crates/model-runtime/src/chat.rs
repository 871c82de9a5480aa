use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{AssistantMessage, Failure, Json, Media, Message, ModelCard, Text, Tokens, ToolSchema};

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
    /// Nucleus sampling: the share of probability drawn from, 0 to 1; the provider's default when unset.
    pub top_p: Option<f32>,
    /// How much words that came before are disliked, -2 to 2; the provider's default when unset.
    pub frequency_penalty: Option<f32>,
    /// How much subjects that came before are disliked, -2 to 2; the provider's default when unset.
    pub presence_penalty: Option<f32>,
    /// The seed of sampling, where the provider takes one.
    pub seed: Option<u64>,
    /// Words that end the answer; they are not part of it.
    pub stop: Vec<Text>,
    /// How much the model thinks before it answers; its own default when unset.
    pub reasoning: Option<ReasoningEffort>,
    /// Whether one answer may hold several tool calls; the provider's default when unset.
    pub parallel_calls: Option<bool>,
    /// Asks for arguments that fit the tools' schemas to the letter, where the provider can promise it.
    pub strict_tools: bool,
    /// The answer's form, where free text is not wanted.
    pub response_schema: Option<ResponseSchema>,
    /// What is kept in the provider's prompt cache.
    pub cache: PromptCache,
    /// Fields for this provider alone: a JSON object, merged into the body last. Ours it overrides.
    pub extra: Option<Json>,
    /// Ids of the calls in the answer are this, a dot and the call's place: unique in the run if this is.
    pub call_prefix: SmolStr,
    /// Handed to providers that take one, so that a repeated request is recognised.
    pub idempotency_key: Option<Text>,
    /// Which try this is, from 1; 0 while nobody counts. [`Retry`](crate::Retry) counts, for whoever observes calls.
    pub attempt: u32,
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

/// How much a model thinks before it answers. Providers that know other steps get the nearest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// Not at all, where that can be asked for.
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
    /// As much as possible.
    Max,
    /// At most so many tokens.
    Budget(Tokens),
}

/// What of a prompt is kept in the provider's prompt cache, for providers that want to be told.
///
/// Providers that cache by themselves need none of it; the key helps some of them to find the place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCache {
    /// Where the cached prefixes end.
    pub marks: CacheMarks,
    /// How long they are kept.
    pub lifetime: CacheLifetime,
    /// What requests with the same prefix have in common: a conversation, an agent.
    pub key: Option<Text>,
}

/// Where cached prefixes of a prompt end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMarks {
    /// After the tools, after the system messages and after the last message: right for a conversation that
    /// grows at its end.
    #[default]
    Automatic,
    /// After the messages at these places of [`ChatRequest::messages`], and after the tools.
    After(Vec<usize>),
    /// Nowhere.
    Off,
}

/// How long a cached prefix is kept after its last use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheLifetime {
    /// Some minutes.
    #[default]
    Minutes,
    /// An hour, at a higher price for writing.
    Hour,
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
    /// An image or a sound, whole.
    Media(Media),
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
    /// Why the model stopped, in the provider's own word.
    pub reason: Option<SmolStr>,
    /// Whether the model declined, and the provider said so: the message's words are its refusal.
    pub refused: bool,
    /// What came and nobody understood. None of it is in the message.
    pub unknown: Vec<UnknownShape>,
}

impl StreamEnd {
    /// An end of which no more is known.
    pub fn new(message: AssistantMessage, ending: StreamEnding) -> Self {
        Self { message, ending, reason: None, refused: false, unknown: Vec::new() }
    }
}

/// Something in an answer that has no place in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownShape {
    /// What it is, as far as that can be told: `an event named rate_limits`.
    pub what: SmolStr,
    /// How often it came.
    pub count: u64,
    /// The first one, shortened to 2 KiB.
    pub sample: Text,
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

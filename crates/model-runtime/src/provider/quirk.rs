use serde::{Deserialize, Serialize};

use crate::dialect::Bill;

/// One way in which a provider differs from the dialect it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quirk {
    // The request: lengths and streaming.
    /// The length limit is called `max_completion_tokens`.
    MaxCompletionTokens,
    /// The length limit is called `max_new_tokens`.
    MaxNewTokens,
    /// Prompt and length limit together must fit the window: the limit is cut to what is left.
    FitMaxTokens,
    /// `stream_options` is refused; usage comes unasked or not at all.
    NoStreamOptions,
    /// A request with tools is refused when it asks for a stream.
    NoStreamWithTools,

    // The request: sampling.
    /// Models that reason refuse `temperature`, `top_p` and both penalties.
    NoTemperatureWhenReasoning,
    /// `temperature`, `top_p` and both penalties are fixed: none of them is sent.
    FixedSampling,
    /// Temperatures above 1 are refused.
    TemperatureToOne,
    /// A temperature of 2 is refused, less is not.
    TemperatureBelowTwo,
    /// A temperature of 0 is refused: 0.01 stands for it.
    TemperatureAboveZero,
    /// A temperature of 0 is refused: it is left out.
    NoZeroTemperature,
    /// Only one of `temperature` and `top_p` may be sent: the temperature.
    #[serde(rename = "temperature_or_top_p")]
    TemperatureOrTopP,
    /// `top_p` must lie strictly between 0 and 1.
    TopPInside,
    /// Both penalties are refused.
    NoPenalties,
    /// Only one of the two penalties may be sent.
    OnePenalty,
    /// The seed is called `random_seed`.
    RandomSeed,

    // The request: reasoning. Without one of these flags no wish about reasoning is sent.
    /// `reasoning_effort` says how much to think.
    ReasoningEffort,
    /// `reasoning` is an object of `effort`, `max_tokens` or `enabled`.
    ReasoningObject,
    /// `enable_thinking` switches, `thinking_budget` limits.
    ThinkingSwitch,
    /// `thinking` is an object whose `type` is `enabled` or `disabled`.
    ThinkingType,
    /// `chat_template_kwargs.thinking` switches.
    ThinkingTemplate,
    /// Models of this generation decide themselves how long they think: `adaptive`, with an effort.
    AdaptiveThinking,
    /// Models of this generation know steps of thinking, not budgets.
    ThinkingLevel,
    /// A budget in tokens says how much to think; 0 is not at all.
    ThinkingBudget,
    /// A budget of thinking that is not 0 is 512 tokens at the least.
    #[serde(rename = "thinking_from_512")]
    ThinkingFrom512,
    /// Thinking cannot be switched off.
    ThinkingAlways,
    /// A readable summary of the reasoning comes only when it is asked for.
    ReasoningSummary,

    // The request: messages.
    /// There is no place for the operator's messages: they are sent as the user's.
    NoSystemRole,
    /// Items of reasoning are taken back although they hold neither an encrypted nor a plain text.
    PlainReasoningItems,
    /// The operator's messages to models that reason have the role `developer`.
    DeveloperRole,
    /// Reasoning is sent back as `reasoning_content` of the assistant's message.
    ReasoningContentReplay,
    /// An assistant's turn without a thinking block is refused while thinking is on: a blank one is put there.
    ThinkingInEveryTurn,
    /// An assistant's message needs words: a blank stands for none.
    BlankAssistantText,
    /// The result of a tool may hold images; elsewhere they follow in a message of their own.
    MediaInToolResults,
    /// Addresses of media are refused: their bytes must be in the request.
    InlineMedia,
    /// Files are sent as `document_url`.
    DocumentUrl,
    /// Videos are sent as `video_url`.
    VideoUrl,
    /// Marks of the prompt cache are sent as `cache_control` of content blocks.
    CacheControl,
    /// The prompt cache takes a key: `prompt_cache_key`.
    PromptCacheKey,
    /// A tool call carries a signature of the thoughts before it, which is wanted back.
    ThoughtSignatures,

    // The request: tools and forms.
    /// Several calls in one answer come only when `parallel_tool_calls` asks for them.
    AsksForParallelCalls,
    /// No answer by schema, only `json_object`: the schema is told to the model in words.
    JsonObjectOnly,

    // The answer.
    /// Reasoning comes as `<think>…</think>` at the head of the text.
    ThinkTags,
    /// `usage.cost` is what was billed, in US dollars.
    BilledCost,
    /// `usage.cost_in_usd_ticks` is what was billed, in 10⁻¹⁰ US dollars.
    BilledTicks,
    /// `usage.cost.total_cost` is what was billed, in US dollars.
    BilledTotal,
    /// `cost.usd`, beside `usage`, is what was billed, in US dollars.
    BilledBeside,

    // The request: further ones.
    /// `reasoning_details` of an answer are kept whole and sent back to the model that made them.
    ReasoningDetails,
    /// Thoughts are sent back as a block of type `thinking` of the assistant's content.
    ThinkingBlocks,
    /// `reasoning_effort` may be `none`.
    EffortNone,
    /// `reasoning_effort` may be `minimal`.
    EffortMinimal,
    /// `reasoning_effort` may be `xhigh`.
    EffortXhigh,
    /// A call is demanded by the word `any`.
    RequiredIsAny,
}

/// The quirks of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quirks(Vec<Quirk>);

impl Quirks {
    /// These quirks.
    pub fn of(quirks: impl IntoIterator<Item = Quirk>) -> Self {
        Self(quirks.into_iter().collect())
    }

    /// Whether `quirk` is among them.
    pub fn has(&self, quirk: Quirk) -> bool {
        self.0.contains(&quirk)
    }

    /// These and the others.
    #[must_use]
    pub fn with(mut self, others: &Self) -> Self {
        self.0.extend(others.iter().filter(|quirk| !self.0.contains(quirk)).collect::<Vec<_>>());
        self
    }

    /// Whether the provider says itself what an answer cost.
    pub fn bills(&self) -> bool {
        Bill::of(self).is_some()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Quirk> + '_ {
        self.0.iter().copied()
    }
}

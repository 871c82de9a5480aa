use serde::{Deserialize, Serialize};

/// One way in which a provider differs from the dialect it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quirk {
    /// The length limit is called `max_completion_tokens`.
    MaxCompletionTokens,
    /// `stream_options` is refused; usage comes unasked or not at all.
    NoStreamOptions,
    /// Reasoning is sent back as `reasoning_content` of the assistant's message.
    ReasoningContentReplay,
    /// Models that reason refuse a temperature.
    NoTemperatureWhenReasoning,
    /// Temperatures above 1 are refused.
    TemperatureToOne,
    /// No answer by schema, only `json_object`: the schema is told to the model in words.
    JsonObjectOnly,
    /// An assistant's message needs words: a blank stands for none.
    BlankAssistantText,
    /// Reasoning comes as `<think>…</think>` at the head of the text.
    ThinkTags,
    /// `usage.cost` is what was billed, in US dollars.
    BilledCost,
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

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Quirk> + '_ {
        self.0.iter().copied()
    }
}

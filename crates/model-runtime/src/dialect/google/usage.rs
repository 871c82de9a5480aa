use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Measure, Tokens, Usage};

use crate::dialect::lenient::count;

/// The figures so far. Each event repeats them; a figure that it leaves out stays what it was.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Figures {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<Number>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<Number>,
    #[serde(rename = "toolUsePromptTokenCount")]
    tool_prompt: Option<Number>,
    #[serde(rename = "candidatesTokenCount")]
    candidates: Option<Number>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<Number>,
}

impl Figures {
    /// Takes the figures of one event; `Ok(false)` for `null`.
    pub(super) fn take(&mut self, raw: &RawValue) -> Result<bool, serde_json::Error> {
        let Some(news) = serde_json::from_str::<Option<Self>>(raw.get())? else { return Ok(false) };
        *self = Self {
            prompt: news.prompt.or(self.prompt.take()),
            cached: news.cached.or(self.cached.take()),
            tool_prompt: news.tool_prompt.or(self.tool_prompt.take()),
            candidates: news.candidates.or(self.candidates.take()),
            thoughts: news.thoughts.or(self.thoughts.take()),
        };
        Ok(true)
    }

    /// In the words of all dialects: what tools of the provider read counts as input, thoughts as output.
    pub(super) fn usage(&self) -> Usage {
        let input = count(self.prompt.as_ref()) + count(self.tool_prompt.as_ref());
        let reasoning = count(self.thoughts.as_ref());
        Usage {
            input,
            cached_input: count(self.cached.as_ref()).min(input),
            cache_write: Tokens(0),
            cache_write_hour: Tokens(0),
            output: count(self.candidates.as_ref()) + reasoning,
            reasoning,
            cost: None,
            measure: Measure::Reported,
        }
    }
}

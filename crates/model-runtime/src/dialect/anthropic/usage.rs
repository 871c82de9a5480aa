use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Measure, Tokens, Usage};

use crate::dialect::lenient::count;

/// The figures so far. Every report counts from the beginning of the answer: a later figure takes the place of an
/// earlier one and is never added to it. A report without a figure, or with a zero, leaves it as it is.
#[derive(Debug, Default)]
pub(super) struct Figures {
    fresh: Tokens,
    written: Tokens,
    written_for_an_hour: Tokens,
    read: Tokens,
    output: Tokens,
    reasoning: Tokens,
}

#[derive(Deserialize)]
struct Reported {
    #[serde(default)]
    input_tokens: Option<Number>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Number>,
    #[serde(default)]
    cache_read_input_tokens: Option<Number>,
    #[serde(default)]
    cache_creation: Option<Lifetimes>,
    #[serde(default)]
    output_tokens: Option<Number>,
    #[serde(default)]
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Lifetimes {
    #[serde(default)]
    ephemeral_1h_input_tokens: Option<Number>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    thinking_tokens: Option<Number>,
}

impl Figures {
    /// Takes a `usage` object and gives the figures as they are now; `Ok(None)` for `null`.
    pub(super) fn take(&mut self, raw: &RawValue) -> Result<Option<Usage>, serde_json::Error> {
        let Some(reported) = serde_json::from_str::<Option<Reported>>(raw.get())? else { return Ok(None) };
        let lifetimes = reported.cache_creation.and_then(|lifetimes| lifetimes.ephemeral_1h_input_tokens);
        let thinking = reported.output_tokens_details.and_then(|details| details.thinking_tokens);
        for (figure, number) in [
            (&mut self.fresh, &reported.input_tokens),
            (&mut self.written, &reported.cache_creation_input_tokens),
            (&mut self.written_for_an_hour, &lifetimes),
            (&mut self.read, &reported.cache_read_input_tokens),
            (&mut self.output, &reported.output_tokens),
            (&mut self.reasoning, &thinking),
        ] {
            let number = count(number.as_ref());
            if number.0 > 0 {
                *figure = number;
            }
        }
        Ok(Some(Usage {
            input: self.fresh + self.written + self.read,
            cached_input: self.read,
            cache_write: self.written,
            cache_write_hour: self.written_for_an_hour.min(self.written),
            output: self.output,
            reasoning: self.reasoning.min(self.output),
            measure: Measure::Reported,
            ..Usage::default()
        }))
    }
}

use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Currency, Measure, Money, Tokens, Usage};

use crate::dialect::lenient::count;

#[derive(Default, Deserialize)]
struct Reported<'a> {
    #[serde(default)]
    prompt_tokens: Option<Number>,
    #[serde(default)]
    completion_tokens: Option<Number>,
    #[serde(default)]
    total_tokens: Option<Number>,
    #[serde(default)]
    prompt_cache_hit_tokens: Option<Number>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Number>,
    #[serde(default)]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(default)]
    completion_tokens_details: Option<OutputDetails>,
    /// A number here, a breakdown there.
    #[serde(borrow, default)]
    cost: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Option<Number>,
    #[serde(default)]
    cache_write_tokens: Option<Number>,
}

#[derive(Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Option<Number>,
}

/// What the price in `usage.cost` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Cost {
    /// Not known, so not believed.
    #[default]
    Ignored,
    /// Billed US dollars.
    Dollars,
}

/// The figures of a `usage` object; `Ok(None)` for `null`.
pub(super) fn read(raw: &RawValue, cost: Cost) -> Result<Option<Usage>, serde_json::Error> {
    let Some(reported) = serde_json::from_str::<Option<Reported<'_>>>(raw.get())? else { return Ok(None) };
    let input_details = reported.prompt_tokens_details.unwrap_or_default();
    let reasoning = count(reported.completion_tokens_details.unwrap_or_default().reasoning_tokens.as_ref());
    let input = count(reported.prompt_tokens.as_ref());
    let mut output = count(reported.completion_tokens.as_ref());
    // Some providers count reasoning beside the completion, not in it; the total tells.
    if reasoning.0 > 0 && count(reported.total_tokens.as_ref()) == input + output + reasoning {
        output += reasoning;
    }
    let cached = input_details.cached_tokens.or(reported.prompt_cache_hit_tokens);
    let written = input_details.cache_write_tokens.or(reported.cache_creation_input_tokens);
    Ok(Some(Usage {
        input,
        cached_input: count(cached.as_ref()).min(input),
        cache_write: count(written.as_ref()).min(input),
        cache_write_hour: Tokens(0),
        output,
        reasoning: reasoning.min(output),
        cost: (cost == Cost::Dollars).then(|| dollars(reported.cost)).flatten(),
        measure: Measure::Reported,
    }))
}

fn dollars(cost: Option<&RawValue>) -> Option<Money> {
    let amount =
        serde_json::from_str::<f64>(cost?.get()).ok().filter(|amount| (0.0..1e9).contains(amount))?;
    #[expect(clippy::cast_possible_truncation, reason = "below 10^15, which fits")]
    let micros = (amount * 1e6).ceil() as i64;
    Some(Money::from_micros(micros, Currency::USD))
}

use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Measure, Usage};

use crate::dialect::{billed::Bill, lenient::count};

#[derive(Default, Deserialize)]
struct Reported {
    #[serde(default)]
    prompt_tokens: Option<Number>,
    #[serde(default)]
    completion_tokens: Option<Number>,
    #[serde(default)]
    total_tokens: Option<Number>,
    #[serde(default)]
    prompt_cache_hit_tokens: Option<Number>,
    #[serde(default)]
    cache_read_input_tokens: Option<Number>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Number>,
    #[serde(default)]
    cache_creation: Option<Written>,
    #[serde(default)]
    reasoning_tokens: Option<Number>,
    #[serde(default)]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(default)]
    completion_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
struct Written {
    #[serde(default)]
    ephemeral_1h_input_tokens: Option<Number>,
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

/// The figures of a `usage` object; `Ok(None)` for `null`.
pub(super) fn read(raw: &RawValue, bill: Option<Bill>) -> Result<Option<Usage>, serde_json::Error> {
    let Some(reported) = serde_json::from_str::<Option<Reported>>(raw.get())? else { return Ok(None) };
    let input_details = reported.prompt_tokens_details.unwrap_or_default();
    let output_details = reported.completion_tokens_details.unwrap_or_default();
    let reasoning = count(output_details.reasoning_tokens.or(reported.reasoning_tokens).as_ref());
    let input = count(reported.prompt_tokens.as_ref());
    let mut output = count(reported.completion_tokens.as_ref());
    // Some providers count reasoning beside the completion, not in it; the total tells.
    if reasoning.0 > 0 && count(reported.total_tokens.as_ref()) == input + output + reasoning {
        output += reasoning;
    }
    // The same figure under several names; where two are there, one may be an idle zero.
    let most = |figures: &[&Option<Number>]| figures.iter().map(|figure| count(figure.as_ref())).max();
    let cached =
        [&input_details.cached_tokens, &reported.prompt_cache_hit_tokens, &reported.cache_read_input_tokens];
    let written = [&input_details.cache_write_tokens, &reported.cache_creation_input_tokens];
    let cache_write = most(&written).unwrap_or_default().min(input);
    let hour = reported.cache_creation.unwrap_or_default().ephemeral_1h_input_tokens;
    Ok(Some(Usage {
        input,
        cached_input: most(&cached).unwrap_or_default().min(input),
        cache_write,
        cache_write_hour: count(hour.as_ref()).min(cache_write),
        output,
        reasoning: reasoning.min(output),
        cost: bill.and_then(|bill| bill.in_usage(raw)),
        measure: Measure::Reported,
    }))
}

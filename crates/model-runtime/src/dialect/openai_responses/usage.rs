use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Measure, Tokens, Usage};

use crate::dialect::{billed::Bill, lenient::count};

#[derive(Default, Deserialize)]
struct Reported {
    #[serde(default)]
    input_tokens: Option<Number>,
    #[serde(default)]
    output_tokens: Option<Number>,
    #[serde(default)]
    total_tokens: Option<Number>,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
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
    let details = reported.input_tokens_details.unwrap_or_default();
    let reasoning = count(reported.output_tokens_details.unwrap_or_default().reasoning_tokens.as_ref());
    let input = count(reported.input_tokens.as_ref());
    let mut output = count(reported.output_tokens.as_ref());
    // Some providers count reasoning beside the output, not in it; the total tells.
    if reasoning.0 > 0 && count(reported.total_tokens.as_ref()) == input + output + reasoning {
        output += reasoning;
    }
    Ok(Some(Usage {
        input,
        cached_input: count(details.cached_tokens.as_ref()).min(input),
        cache_write: count(details.cache_write_tokens.as_ref()).min(input),
        cache_write_hour: Tokens(0),
        output,
        reasoning: reasoning.min(output),
        cost: bill.and_then(|bill| bill.in_usage(raw)),
        measure: Measure::Reported,
    }))
}

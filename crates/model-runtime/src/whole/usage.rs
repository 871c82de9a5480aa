use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Measure, Usage};

use crate::{
    Quirks,
    dialect::{Bill, count},
};

#[derive(Default, Deserialize)]
struct Reported {
    #[serde(default, rename = "input_tokens", alias = "prompt_tokens")]
    input: Option<Number>,
    #[serde(default, rename = "output_tokens", alias = "completion_tokens")]
    output: Option<Number>,
    #[serde(default, rename = "total_tokens")]
    total: Option<Number>,
}

/// The figures of a `usage` object, whichever of its spellings it has, and the bill of a provider with these quirks.
/// Nothing where nothing is told; an odd object tells nothing.
pub(crate) fn usage(raw: Option<&RawValue>, quirks: &Quirks) -> Usage {
    let Some(raw) = raw else { return Usage::default() };
    let cost = Bill::of(quirks).and_then(|bill| bill.in_usage(raw));
    let reported: Reported = serde_json::from_str(raw.get()).unwrap_or_default();
    let told = |figure: &Option<Number>| figure.as_ref().map(|figure| count(Some(figure)));
    let (input, output) = (told(&reported.input), told(&reported.output));
    let input = input.or_else(|| {
        let total = told(&reported.total)?;
        Some(total.saturating_sub(output.unwrap_or_default()))
    });
    let measure = if input.or(output).is_some() { Measure::Reported } else { Measure::Estimated };
    Usage {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
        cost,
        measure,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quirk;

    #[test]
    fn figures_have_several_names() {
        let read = |json: &str| {
            let raw: &RawValue = serde_json::from_str(json).expect("JSON");
            let usage = usage(Some(raw), &Quirks::of([Quirk::BilledCost]));
            let cost = usage.cost.map(|cost| cost.micros());
            (usage.input.0, usage.output.0, cost, usage.measure == Measure::Reported)
        };
        assert_eq!(read(r#"{"prompt_tokens":31,"total_tokens":31}"#), (31, 0, None, true));
        assert_eq!(read(r#"{"input_tokens":54,"output_tokens":16,"total_tokens":70}"#), (54, 16, None, true));
        assert_eq!(read(r#"{"total_tokens":7}"#), (7, 0, None, true));
        assert_eq!(read(r#"{"cost":0.0006,"seconds":6}"#), (0, 0, Some(600), false));
        assert_eq!(read(r#"{"prompt_tokens":"many"}"#), (0, 0, None, false));
        assert_eq!(read("null"), (0, 0, None, false));
    }
}

//! What a provider says an answer cost.

use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Currency, Money};

use crate::{Quirk, Quirks};

/// Where in an answer the bill stands, and in which unit.
///
/// | form | field | unit | who |
/// | --- | --- | --- | --- |
/// | dollars | `usage.cost` | US dollars | `OpenRouter` |
/// | ticks | `usage.cost_in_usd_ticks` | 10⁻¹⁰ US dollars | xAI |
/// | total | `usage.cost.total_cost` | US dollars, fees for searches included | Perplexity |
/// | beside | `cost.usd`, beside `usage` | US dollars | Venice |
///
/// Only what a provider is known to mean is believed: a quirk of its row says which form it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bill {
    Dollars,
    Ticks,
    Total,
    Beside,
}

/// Ticks of xAI in a millionth of a dollar.
const TICKS: u64 = 10_000;

#[derive(Deserialize)]
struct Figures<'a> {
    #[serde(borrow, default)]
    cost: Option<&'a RawValue>,
    #[serde(default)]
    cost_in_usd_ticks: Option<Number>,
}

#[derive(Deserialize)]
struct Breakdown {
    #[serde(default)]
    total_cost: Option<Number>,
    #[serde(default)]
    usd: Option<Number>,
}

impl Bill {
    /// The form in which a provider with these quirks bills, if it does.
    pub(crate) fn of(quirks: &Quirks) -> Option<Self> {
        quirks.iter().find_map(|quirk| match quirk {
            Quirk::BilledCost => Some(Self::Dollars),
            Quirk::BilledTicks => Some(Self::Ticks),
            Quirk::BilledTotal => Some(Self::Total),
            Quirk::BilledBeside => Some(Self::Beside),
            _ => None,
        })
    }

    /// The bill in a `usage` object, whichever dialect it belongs to. Rounded up to the next millionth.
    pub(crate) fn in_usage(self, usage: &RawValue) -> Option<Money> {
        let figures: Figures<'_> = serde_json::from_str(usage.get()).ok()?;
        match self {
            Self::Dollars => dollars(&serde_json::from_str(figures.cost?.get()).ok()?),
            Self::Ticks => {
                let micros = figures.cost_in_usd_ticks?.as_u64()?.div_ceil(TICKS);
                Some(Money::from_micros(i64::try_from(micros).ok()?, Currency::USD))
            }
            Self::Total => dollars(&serde_json::from_str::<Breakdown>(figures.cost?.get()).ok()?.total_cost?),
            Self::Beside => None,
        }
    }

    /// The bill in the field `cost` beside `usage`, for the form that has one.
    pub(crate) fn beside_usage(self, cost: &RawValue) -> Option<Money> {
        match self {
            Self::Beside => dollars(&serde_json::from_str::<Breakdown>(cost.get()).ok()?.usd?),
            Self::Dollars | Self::Ticks | Self::Total => None,
        }
    }
}

/// US dollars, rounded up to the next millionth. What binary fractions add to a decimal figure is not rounded up:
/// `0.00074` is 740 millionths, whatever its product with a million is.
fn dollars(amount: &Number) -> Option<Money> {
    let micros = amount.as_f64().filter(|amount| (0.0..1e9).contains(amount))? * 1e6;
    let whole = micros.round();
    let micros = if (micros - whole).abs() <= whole * 1e-12 + 1e-9 { whole } else { micros.ceil() };
    #[expect(clippy::cast_possible_truncation, reason = "below 10^15, which fits")]
    let micros = micros as i64;
    Some(Money::from_micros(micros, Currency::USD))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).expect("JSON")
    }

    /// Would fail if a bill were read in another unit, or one provider's form in another's.
    #[test]
    fn each_form_is_read_in_its_unit() {
        let forms = [Bill::Dollars, Bill::Ticks, Bill::Total];
        let check = |usage: &str, expected: [Option<i64>; 3]| {
            let read = forms.map(|bill| bill.in_usage(raw(usage)).map(|money| money.micros()));
            assert_eq!(read, expected, "{usage}");
        };
        check(r#"{"cost":0.0000375}"#, [Some(38), None, None]);
        check(r#"{"cost":0.00074}"#, [Some(740), None, None]);
        check(r#"{"cost":5.7e-6}"#, [Some(6), None, None]);
        check(r#"{"cost":0}"#, [Some(0), None, None]);
        check(r#"{"cost_in_usd_ticks":6881000}"#, [None, Some(689), None]);
        check(r#"{"cost_in_usd_ticks":700000000}"#, [None, Some(70_000), None]);
        check(r#"{"cost":{"input_tokens_cost":0.00001,"total_cost":0.00504}}"#, [None, None, Some(5_040)]);
        for odd in [
            r#"{"cost":-1}"#,
            r#"{"cost":"0.1"}"#,
            r#"{"cost":1e300}"#,
            r#"{"cost":null}"#,
            r#"{"cost":{}}"#,
            r#"{"cost_in_usd_ticks":-5}"#,
            r#"{"cost_in_usd_ticks":0.5}"#,
            "{}",
            "null",
            "[]",
        ] {
            check(odd, [None; 3]);
        }
        assert_eq!(Bill::Beside.in_usage(raw(r#"{"cost":1}"#)), None);
    }

    #[test]
    fn a_bill_beside_the_usage_is_in_dollars() {
        let read = |cost: &str| Bill::Beside.beside_usage(raw(cost)).map(|money| money.to_string());
        assert_eq!(read(r#"{"diem":0,"usd":0.0001046875}"#).as_deref(), Some("0.000105 USD"));
        assert_eq!(read("0.5"), None);
        assert_eq!(Bill::Dollars.beside_usage(raw(r#"{"usd":1}"#)), None);
    }
}

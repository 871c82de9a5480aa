use serde_json::Value;

/// One millionth of a millionth: a price per token becomes micro-units per million tokens.
const PER_TOKEN: f64 = 1e12;
/// A price per million tokens becomes micro-units per million tokens.
const PER_MILLION: f64 = 1e6;

/// A price of one token, as a number or as text. Negative means unknown.
pub(super) fn per_token(value: &Value) -> Option<i64> {
    rate(value, PER_TOKEN)
}

/// A price of a million tokens.
pub(super) fn per_million(value: &Value) -> Option<i64> {
    rate(value, PER_MILLION)
}

/// A price of one request.
pub(super) fn per_request(value: &Value) -> Option<i64> {
    rate(value, PER_MILLION).filter(|fee| *fee > 0)
}

/// Rounded to the next micro-unit. What is no price at all (negative, endless) is unknown; what is a price in the
/// wrong unit is found when the card is checked.
fn rate(value: &Value, unit: f64) -> Option<i64> {
    let amount = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let micros = amount.filter(|amount| (0.0..1e6).contains(amount))? * unit;
    #[expect(clippy::cast_possible_truncation, reason = "below 10^18, which fits")]
    let micros = micros.round() as i64;
    Some(micros)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prices_come_in_two_units() {
        assert_eq!(per_token(&json!("0.0000025")), Some(2_500_000));
        assert_eq!(per_token(&json!("0.00000005")), Some(50_000));
        assert_eq!(per_token(&json!(0.000_000_15)), Some(150_000));
        assert_eq!(per_token(&json!("0")), Some(0));
        assert_eq!(per_million(&json!(0.09375)), Some(93_750));
        assert_eq!(per_request(&json!("0.005")), Some(5_000));
        for unknown in [json!("-1"), json!(-1), json!("free"), json!(null), json!("NaN"), json!("inf")] {
            assert_eq!(per_token(&unknown), None, "{unknown}");
        }
    }
}

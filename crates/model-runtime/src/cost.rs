use thermidor_types::{Money, Price, Tokens, Usage};

/// The rates that one request is billed at, in micro-units per million tokens.
#[derive(Clone, Copy, Debug)]
struct Rates {
    input: i64,
    cached: i64,
    written: i64,
    written_hour: i64,
    output: i64,
}

/// What `usage` costs at `price`, rounded up to the next millionth: limits never see too little.
///
/// The request is billed whole at the rates of the last tier that its input, cached tokens included, reaches.
/// Where a rate is not known, the nearest one stands for it: `input` for cached and written tokens, the rate of
/// a written token for one that is kept an hour. Output includes reasoning. It never overflows: what no
/// [`Money`] can hold is the most it can.
///
/// ```
/// use thermidor_model_runtime::cost;
/// use thermidor_types::{Currency, Price, Tokens, Usage};
///
/// let price = Price { cached_input: Some(200_000), ..Price::new(Currency::USD, 2_000_000, 8_000_000) };
/// let usage = Usage { input: Tokens(1_000), cached_input: Tokens(500), output: Tokens(100), ..Usage::default() };
/// assert_eq!(cost(&usage, &price).to_string(), "0.0019 USD");
/// ```
pub fn cost(usage: &Usage, price: &Price) -> Money {
    money(micros(usage, price, 100), price)
}

/// What `usage` costs in a batch; `None` where the price list offers none. Otherwise as [`cost`].
///
/// ```
/// use thermidor_model_runtime::batch_cost;
/// use thermidor_types::{Currency, Price, Tokens, Usage};
///
/// let price = Price { batch_percent: Some(50), ..Price::new(Currency::USD, 2_000_000, 8_000_000) };
/// let usage = Usage { input: Tokens(1_000), output: Tokens(100), ..Usage::default() };
/// assert_eq!(batch_cost(&usage, &price).map(|cost| cost.to_string()).as_deref(), Some("0.0014 USD"));
/// ```
pub fn batch_cost(usage: &Usage, price: &Price) -> Option<Money> {
    let percent = price.batch_percent?;
    Some(money(micros(usage, price, percent), price))
}

fn money(micros: i128, price: &Price) -> Money {
    Money::from_micros(i64::try_from(micros).unwrap_or(i64::MAX), price.currency)
}

/// `percent` of the list price in millionths, rounded up once. Every product of two figures of 64 bits fits 128, and
/// so does the sum of five of them times 100.
fn micros(usage: &Usage, price: &Price, percent: u8) -> i128 {
    let rates = rates(usage.input, price);
    let times = |tokens: Tokens, rate: i64| {
        // No request is larger than this; it keeps the sum within its bounds.
        i128::from(tokens.0.min(1 << 48)) * i128::from(rate.max(0))
    };
    let plain = usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_write);
    let hour = Tokens(usage.cache_write_hour.0.min(usage.cache_write.0));
    let minutes = usage.cache_write.saturating_sub(hour);
    let sum = times(plain, rates.input)
        + times(usage.cached_input, rates.cached)
        + times(minutes, rates.written)
        + times(hour, rates.written_hour)
        + times(usage.output, rates.output);
    let request = i128::from(price.request.unwrap_or(0).max(0)) * 1_000_000;
    ((sum + request) * i128::from(percent) + 99_999_999) / 100_000_000
}

fn rates(input: Tokens, price: &Price) -> Rates {
    let tier = price.tiers.iter().rfind(|tier| input > tier.above);
    let (input, cached, written, hour, output) = match tier {
        Some(tier) => (tier.input, tier.cached_input, tier.cache_write, tier.cache_write_hour, tier.output),
        None => (price.input, price.cached_input, price.cache_write, price.cache_write_hour, price.output),
    };
    let written = written.unwrap_or(input);
    Rates { input, cached: cached.unwrap_or(input), written, written_hour: hour.unwrap_or(written), output }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use thermidor_types::{Currency, PriceTier};

    use super::*;
    use crate::bundled_cards;

    fn price() -> Price {
        Price {
            cached_input: Some(200_000),
            cache_write: Some(2_500_000),
            cache_write_hour: Some(4_000_000),
            tiers: vec![
                PriceTier {
                    above: Tokens(32_000),
                    input: 3_000_000,
                    cached_input: None,
                    cache_write: None,
                    cache_write_hour: None,
                    output: 9_000_000,
                },
                PriceTier {
                    above: Tokens(200_000),
                    input: 4_000_000,
                    cached_input: Some(400_000),
                    cache_write: Some(5_000_000),
                    cache_write_hour: None,
                    output: 16_000_000,
                },
            ],
            batch_percent: Some(50),
            ..Price::new(Currency::USD, 2_000_000, 8_000_000)
        }
    }

    fn usage(input: u64, cached: u64, written: u64, hour: u64, output: u64) -> Usage {
        Usage {
            input: Tokens(input),
            cached_input: Tokens(cached),
            cache_write: Tokens(written),
            cache_write_hour: Tokens(hour),
            output: Tokens(output),
            ..Usage::default()
        }
    }

    #[test]
    fn every_part_has_its_rate_and_a_request_one_tier() {
        let check =
            |usage: Usage, micros: i64| assert_eq!(cost(&usage, &price()).micros(), micros, "{usage:?}");
        check(usage(0, 0, 0, 0, 0), 0);
        check(usage(1, 1, 0, 0, 0), 1); // a fifth of a millionth
        check(usage(1_000, 0, 0, 0, 1_000), 10_000);
        check(usage(1_000, 400, 200, 50, 100), 800 + 80 + 375 + 200 + 800);
        check(usage(32_000, 0, 0, 0, 0), 64_000);
        check(usage(32_001, 0, 0, 0, 0), 96_003);
        check(usage(40_000, 20_000, 0, 0, 1_000), 120_000 + 9_000); // no cached rate: the one of input
        check(usage(200_001, 100_001, 50_000, 50_000, 0), 200_000 + 40_001 + 250_000);
        // More cached than there was: nothing is counted below zero.
        check(usage(100, 200, 0, 0, 0), 40);
        assert_eq!(batch_cost(&usage(1_000, 0, 0, 0, 1_000), &price()).expect("offered").micros(), 5_000);
        assert_eq!(batch_cost(&usage(1, 0, 0, 0, 0), &Price::new(Currency::USD, 1, 1)), None);
        let search = Price { request: Some(5_000), ..Price::new(Currency::USD, 1_000_000, 1_000_000) };
        assert_eq!(cost(&usage(14, 0, 0, 0, 28), &search).to_string(), "0.005042 USD");
    }

    fn any_usage() -> impl Strategy<Value = Usage> {
        let any = prop_oneof![0..2_000_u64, 0..3_000_000_u64, any::<u64>()];
        (any.clone(), any.clone(), any.clone(), any.clone(), any)
            .prop_map(|(a, b, c, d, e)| usage(a, b, c, d, e))
    }

    proptest! {
        /// Would fail if any usage at any price were free of charge below zero, or panicked.
        #[test]
        fn a_cost_is_never_negative_and_never_overflows(
            usage in any_usage(), input in any::<i64>(), output in any::<i64>(), cached in any::<Option<i64>>(),
        ) {
            let odd = Price { cached_input: cached, batch_percent: Some(255), request: Some(i64::MAX), ..Price::new(Currency::USD, input, output) };
            prop_assert!(cost(&usage, &odd).micros() >= 0);
            prop_assert!(batch_cost(&usage, &odd).is_some_and(|cost| cost.micros() >= 0));
        }

        /// Would fail if more tokens of any bundled model ever cost less.
        #[test]
        fn more_tokens_never_cost_less(
            card in 0..bundled_cards().len(), input in 0..2_000_000_u64, output in 0..200_000_u64,
            more_in in 0..500_000_u64, more_out in 0..50_000_u64,
        ) {
            let price = bundled_cards()[card].price.clone().expect("priced");
            let (small, large) = (usage(input, 0, 0, 0, output), usage(input + more_in, 0, 0, 0, output + more_out));
            prop_assert!(cost(&small, &price).micros() <= cost(&large, &price).micros());
        }

        /// Would fail if a cache hit were dearer than the tokens it saves.
        #[test]
        fn cached_tokens_never_cost_more(card in 0..bundled_cards().len(), input in 0..2_000_000_u64, share in 0..=100_u64) {
            let price = bundled_cards()[card].price.clone().expect("priced");
            let hit = usage(input, input / 100 * share, 0, 0, 500);
            prop_assert!(cost(&hit, &price).micros() <= cost(&usage(input, 0, 0, 0, 500), &price).micros());
        }
    }
}

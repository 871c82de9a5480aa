use std::fmt;

use thermidor_types::{ModelCard, ModelId, Price, Tokens};

/// The highest rate believed, in micro-units per million tokens: 1,000 units of the currency.
const HIGHEST_RATE: i64 = 1_000_000_000;
/// The smallest window and the smallest tier believed, in tokens: less is a count of thousands or millions.
const FEWEST: Tokens = Tokens(1_000);
/// The largest window believed, in tokens.
const MOST: Tokens = Tokens(100_000_000);
/// The currencies in which providers bill; the bound on rates is meant for them.
const CURRENCIES: [&str; 6] = ["USD", "CNY", "EUR", "GBP", "CHF", "SGD"];

/// What is wrong with a model card, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model {card}: {field}: {problem}")]
pub struct CardFault {
    /// Whose card.
    pub card: ModelId,
    /// The field, as it is written in a file: `price.tiers[0].above`.
    pub field: String,
    /// What is wrong with its value, and what is expected instead.
    pub problem: String,
}

/// Checks the units of a card: figures that cannot be meant are refused before anybody is billed by them.
///
/// The bundled cards pass it, and so does every card given to
/// [`ModelRuntimeBuilder::card`](crate::ModelRuntimeBuilder::card).
///
/// ```
/// use thermidor_model_runtime::check_card;
/// use thermidor_types::{Currency, ModelCard, ModelId, Price, Tokens};
///
/// let mut card = ModelCard::unknown(ModelId::new("lab", "m"), Tokens(32_768));
/// card.price = Some(Price { cached_input: Some(9), ..Price::new(Currency::USD, 2, 8) });
/// let fault = check_card(&card).expect_err("a cached token costs more than a fresh one");
/// assert_eq!(fault.to_string(), "model lab/m: price.cached_input: 9 is more than the 2 of input");
/// ```
///
/// # Errors
/// The first fault: a window or a tier below 1,000 tokens (a count of thousands or millions), an answer longer
/// than the window, a currency nobody bills in, a negative rate or one above 1,000 currency units per million
/// tokens, rates in an order that no price list has (cached above input, input above output, an hour of cache
/// below minutes), tiers that do not rise, a batch that costs more than 100 percent.
pub fn check_card(card: &ModelCard) -> Result<(), CardFault> {
    let check = Check { card };
    if !(FEWEST..=MOST).contains(&card.context_window) {
        let problem = format!("{} is no window: write tokens, such as 128000", card.context_window);
        return check.fault("context_window", problem);
    }
    if let Some(most) = card.max_output.filter(|most| *most > card.context_window || most.0 == 0) {
        let problem = format!("{most} does not fit the window of {} tokens", card.context_window);
        return check.fault("max_output", problem);
    }
    card.price.as_ref().map_or(Ok(()), |price| check.price(price))
}

struct Check<'a> {
    card: &'a ModelCard,
}

/// The rates of a price or of one of its tiers.
struct Rates {
    input: i64,
    cached: Option<i64>,
    written: Option<i64>,
    hour: Option<i64>,
    output: i64,
}

impl Check<'_> {
    fn fault(&self, field: impl fmt::Display, problem: impl Into<String>) -> Result<(), CardFault> {
        Err(CardFault { card: self.card.id.clone(), field: field.to_string(), problem: problem.into() })
    }

    fn price(&self, price: &Price) -> Result<(), CardFault> {
        if !CURRENCIES.contains(&price.currency.code()) {
            let problem = format!("{} is none of {}", price.currency.code(), CURRENCIES.join(", "));
            return self.fault("price.currency", problem);
        }
        let base = Rates {
            input: price.input,
            cached: price.cached_input,
            written: price.cache_write,
            hour: price.cache_write_hour,
            output: price.output,
        };
        self.rates("price", &base)?;
        self.rate("price.request", price.request)?;
        let mut below = Tokens(0);
        for (place, tier) in price.tiers.iter().enumerate() {
            let at = format!("price.tiers[{place}]");
            if tier.above < FEWEST {
                let problem = format!("{} is no size: write tokens, such as 200000", tier.above);
                return self.fault(format_args!("{at}.above"), problem);
            }
            if tier.above <= below {
                let problem = format!("{} is not above the tier before it, {below}", tier.above);
                return self.fault(format_args!("{at}.above"), problem);
            }
            if tier.above >= self.card.context_window {
                let problem =
                    format!("{} is not below the window of {} tokens", tier.above, self.card.context_window);
                return self.fault(format_args!("{at}.above"), problem);
            }
            below = tier.above;
            let rates = Rates {
                input: tier.input,
                cached: tier.cached_input,
                written: tier.cache_write,
                hour: tier.cache_write_hour,
                output: tier.output,
            };
            self.rates(&at, &rates)?;
        }
        match price.batch_percent {
            Some(percent) if !(1..=100).contains(&percent) => {
                self.fault("price.batch_percent", format!("{percent} is not between 1 and 100"))
            }
            _ => Ok(()),
        }
    }

    fn rates(&self, at: &str, rates: &Rates) -> Result<(), CardFault> {
        let &Rates { input, cached, written, hour, output } = rates;
        for (name, rate) in [
            ("input", Some(input)),
            ("cached_input", cached),
            ("cache_write", written),
            ("cache_write_hour", hour),
            ("output", Some(output)),
        ] {
            self.rate(&format!("{at}.{name}"), rate)?;
        }
        if let Some(cached) = cached.filter(|cached| *cached > input) {
            let problem = format!("{cached} is more than the {input} of input");
            return self.fault(format_args!("{at}.cached_input"), problem);
        }
        if let (Some(hour), Some(written)) = (hour, written)
            && hour < written
        {
            let problem = format!("{hour} is less than the {written} of cache_write");
            return self.fault(format_args!("{at}.cache_write_hour"), problem);
        }
        if input > output {
            return self
                .fault(format_args!("{at}.output"), format!("{output} is less than the {input} of input"));
        }
        Ok(())
    }

    fn rate(&self, field: &str, rate: Option<i64>) -> Result<(), CardFault> {
        match rate {
            Some(rate) if !(0..=HIGHEST_RATE).contains(&rate) => self.fault(
                field,
                format!("{rate} is not between 0 and {HIGHEST_RATE}: write micro-units per million tokens, 2500000 for 2.50"),
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn faults_name_the_card_and_the_field() {
        let check = |rest: &str, expected: Expect| {
            let card: ModelCard = toml::from_str(&format!("id = \"lab/m\"\n{rest}")).expect("a card");
            expected
                .assert_eq(&check_card(&card).map_or_else(|fault| fault.to_string(), |()| "sound".into()));
        };
        let price = |rest: &str| {
            format!(
                "context_window = 200000\nprice = {{ currency = \"USD\", input = 2000000, output = 8000000{rest} }}"
            )
        };
        check(&price(""), expect!["sound"]);
        check(
            "context_window = 128",
            expect!["model lab/m: context_window: 128 is no window: write tokens, such as 128000"],
        );
        check(
            "context_window = 8192\nmax_output = 16384",
            expect!["model lab/m: max_output: 16384 does not fit the window of 8192 tokens"],
        );
        check(
            &price(", cached_input = 2000001"),
            expect!["model lab/m: price.cached_input: 2000001 is more than the 2000000 of input"],
        );
        check(
            &price(", cache_write = 3, cache_write_hour = 2"),
            expect!["model lab/m: price.cache_write_hour: 2 is less than the 3 of cache_write"],
        );
        check(
            &price(", tiers = [{ above = 200, input = 4, output = 5 }]"),
            expect!["model lab/m: price.tiers[0].above: 200 is no size: write tokens, such as 200000"],
        );
        check(
            &price(
                ", tiers = [{ above = 9000, input = 4, output = 5 }, { above = 9000, input = 4, output = 5 }]",
            ),
            expect!["model lab/m: price.tiers[1].above: 9000 is not above the tier before it, 9000"],
        );
        check(
            &price(", tiers = [{ above = 200000, input = 4, output = 5 }]"),
            expect!["model lab/m: price.tiers[0].above: 200000 is not below the window of 200000 tokens"],
        );
        check(
            &price(", batch_percent = 0"),
            expect!["model lab/m: price.batch_percent: 0 is not between 1 and 100"],
        );
        check(
            "context_window = 9000\nprice = { currency = \"XBT\", input = 1, output = 2 }",
            expect!["model lab/m: price.currency: XBT is none of USD, CNY, EUR, GBP, CHF, SGD"],
        );
        check(
            "context_window = 9000\nprice = { currency = \"USD\", input = 2000000000000, output = 2000000000000 }",
            expect![
                "model lab/m: price.input: 2000000000000 is not between 0 and 1000000000: write micro-units per million tokens, 2500000 for 2.50"
            ],
        );
        check(
            "context_window = 9000\nprice = { currency = \"USD\", input = 8, output = 2 }",
            expect!["model lab/m: price.output: 2 is less than the 8 of input"],
        );
    }

    /// Would fail if a size in millions could get into a card: sizes and rates are whole numbers by their type.
    #[test]
    fn fractions_are_no_tokens_and_no_rates() {
        for bad in [
            "context_window = 0.2",
            "context_window = 9000\nprice = { currency = \"USD\", input = 2.5, output = 10 }",
        ] {
            assert!(toml::from_str::<ModelCard>(&format!("id = \"lab/m\"\n{bad}")).is_err(), "{bad}");
        }
    }
}

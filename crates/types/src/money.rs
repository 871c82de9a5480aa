use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A three-letter ISO 4217 code, upper case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// United States dollar.
    pub const USD: Self = Self(*b"USD");
    /// Chinese yuan.
    pub const CNY: Self = Self(*b"CNY");
    /// Euro.
    pub const EUR: Self = Self(*b"EUR");

    /// The code as text.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self::USD
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The text is no amount or no currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not {1}")]
pub struct ParseMoneyError(String, &'static str);

impl FromStr for Currency {
    type Err = ParseMoneyError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(ParseMoneyError(text.into(), "a currency: three capital letters such as USD")),
        }
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An exact amount: whole millionths of a currency unit. 2.50 USD is `Money::from_micros(2_500_000, USD)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    micros: i64,
    currency: Currency,
}

impl Money {
    /// An amount of millionths of `currency`.
    pub const fn from_micros(micros: i64, currency: Currency) -> Self {
        Self { micros, currency }
    }

    /// Millionths of the currency unit.
    pub const fn micros(&self) -> i64 {
        self.micros
    }

    /// The currency.
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// The sum, or `None` when the currencies differ.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        (self.currency == other.currency)
            .then(|| Self::from_micros(self.micros.saturating_add(other.micros), self.currency))
    }

    /// Reads a decimal number of currency units exactly, for instance `0.25`.
    ///
    /// # Errors
    /// When it is no decimal number or has more than six decimals.
    pub fn parse_units(text: &str, currency: Currency) -> Result<Self, ParseMoneyError> {
        let bad = || ParseMoneyError(text.into(), "an amount with at most six decimals");
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty())
            || !plain(whole)
            || !plain(fraction)
            || fraction.len() > 6
        {
            return Err(bad());
        }
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
        let fraction: i64 = format!("{fraction:0<6}").parse().map_err(|_| bad())?;
        let micros =
            whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(fraction)).ok_or_else(bad)?;
        Ok(Self::from_micros(sign * micros, currency))
    }
}

impl fmt::Display for Money {
    /// At least two decimals, no more than are needed: `0.25 USD`, `0.000125 USD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, rest) = (self.micros.unsigned_abs() / 1_000_000, self.micros.unsigned_abs() % 1_000_000);
        let mut decimals = format!("{rest:06}");
        while decimals.len() > 2 && decimals.ends_with('0') {
            decimals.pop();
        }
        let sign = if self.micros < 0 { "-" } else { "" };
        write!(f, "{sign}{units}.{decimals} {}", self.currency.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        let check = |text: &str, shown: &str| {
            assert_eq!(Money::parse_units(text, Currency::USD).expect(text).to_string(), shown);
        };
        check("2.5", "2.50 USD");
        check("0.000125", "0.000125 USD");
        check("-3", "-3.00 USD");
        check(".1", "0.10 USD");
        for bad in ["", "-", "1e3", "0.0000001", "1,5", "99999999999999999"] {
            assert!(Money::parse_units(bad, Currency::USD).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn currencies_do_not_mix() {
        let dollar = Money::from_micros(1, Currency::USD);
        assert_eq!(dollar.checked_add(Money::from_micros(1, Currency::CNY)), None);
        assert_eq!(dollar.checked_add(dollar), Some(Money::from_micros(2, Currency::USD)));
    }
}

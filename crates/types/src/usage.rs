use std::{
    fmt,
    ops::{Add, AddAssign},
};

use serde::{Deserialize, Serialize};

use crate::Money;

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// The difference, zero at the least.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(tokens: I) -> Self {
        tokens.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How a token figure was obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// The provider said so.
    Reported,
    /// Counted here with the model's own vocabulary.
    Counted,
    /// Counted here with another vocabulary, or guessed from the length.
    #[default]
    Estimated,
}

/// What one or several model calls consumed.
///
/// `input` includes the cached part, `output` includes the reasoning part: the sum of both is what a
/// context window and a token limit see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input: Tokens,
    /// The part of `input` read from the provider's prompt cache.
    #[serde(default, skip_serializing_if = "zero")]
    pub cached_input: Tokens,
    /// The part of `input` written to the provider's prompt cache.
    #[serde(default, skip_serializing_if = "zero")]
    pub cache_write: Tokens,
    /// The part of `cache_write` that is kept for an hour instead of minutes.
    #[serde(default, skip_serializing_if = "zero")]
    pub cache_write_hour: Tokens,
    /// Tokens of the answer, reasoning included.
    pub output: Tokens,
    /// The part of `output` spent on reasoning.
    #[serde(default, skip_serializing_if = "zero")]
    pub reasoning: Tokens,
    /// What it cost, when the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Where the figures come from; of a sum, the weakest of its parts.
    #[serde(default)]
    pub measure: Measure,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn zero(tokens: &Tokens) -> bool {
    tokens.0 == 0
}

impl Usage {
    /// Input and output together.
    pub fn total(&self) -> Tokens {
        self.input + self.output
    }
}

impl Add for Usage {
    type Output = Self;
    /// Adds field by field. Costs in different currencies cannot be added: the first one is kept.
    fn add(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a.checked_add(b).unwrap_or(a)),
            (one, other) => one.or(other),
        };
        let measure = if self == Self::default() {
            other.measure
        } else if other == Self::default() || self.measure == other.measure {
            self.measure
        } else if self.measure == Measure::Estimated || other.measure == Measure::Estimated {
            Measure::Estimated
        } else {
            Measure::Counted
        };
        Self {
            input: self.input + other.input,
            cached_input: self.cached_input + other.cached_input,
            cache_write: self.cache_write + other.cache_write,
            cache_write_hour: self.cache_write_hour + other.cache_write_hour,
            output: self.output + other.output,
            reasoning: self.reasoning + other.reasoning,
            cost,
            measure,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

use std::{
    fmt,
    ops::{Add, AddAssign},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use thermidor_types::{Money, Tokens};

/// What a run and everything below it may consume. `None` lifts a limit on purpose; the default bounds all.
///
/// Checked before each start: what is spent, what is reserved by work in flight, and what the new work
/// reserves may together not exceed it. When it would, the run whose limit it is gets [`Signal::Limit`]
/// once and may then start [`Limits::reserve`] more effects for its last answer.
///
/// [`Signal::Limit`]: crate::Signal::Limit
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Effects started.
    pub steps: Option<u64>,
    /// Child runs opened.
    pub turns: Option<u64>,
    /// Tokens, input and output together.
    pub tokens: Option<Tokens>,
    /// Money. Costs in another currency are not counted against it.
    pub money: Option<Money>,
    /// Time during which the tree was driven (time spent parked does not count), in milliseconds.
    pub millis: Option<u64>,
    /// Child runs below child runs.
    pub depth: Option<u32>,
    /// Work in flight at once in this one run.
    pub fan_out: Option<u32>,
    /// Starts of one effect, the first included: bounds how often a crash is answered by another try.
    pub attempts: Option<u32>,
    /// Effects that may still be started after a limit was crossed.
    pub reserve: u32,
}

impl Limits {
    /// Nothing bounded but what an ancestor bounds: for child runs.
    pub const INHERITED: Self = Self {
        steps: None,
        turns: None,
        tokens: None,
        money: None,
        millis: None,
        depth: None,
        fan_out: None,
        attempts: None,
        reserve: 1,
    };

    /// The time limit.
    pub fn time(&self) -> Option<Duration> {
        self.millis.map(Duration::from_millis)
    }
}

impl Default for Limits {
    /// 1,000 steps, 100 turns, 2,000,000 tokens, no money limit (prices are not always known: tokens bound
    /// it), one hour, 8 levels, 64 in flight, 5 attempts, 1 step in reserve.
    fn default() -> Self {
        Self {
            steps: Some(1_000),
            turns: Some(100),
            tokens: Some(Tokens(2_000_000)),
            money: None,
            millis: Some(3_600_000),
            depth: Some(8),
            fan_out: Some(64),
            attempts: Some(5),
            reserve: 1,
        }
    }
}

/// Which limit was crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// [`Limits::steps`]
    Steps,
    /// [`Limits::turns`]
    Turns,
    /// [`Limits::tokens`]
    Tokens,
    /// [`Limits::money`]
    Money,
    /// [`Limits::millis`]
    Time,
    /// [`Limits::depth`]
    Depth,
    /// [`Limits::fan_out`]
    FanOut,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
            Self::Depth => "depth",
            Self::FanOut => "work in flight",
        })
    }
}

/// What was consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Effects started.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: u64,
    /// Child runs opened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub turns: u64,
    /// Tokens, input and output together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tokens: Tokens,
    /// Money, in the currency that came first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub money: Option<Money>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Adds up to the largest number there is: a damaged record is no reason to panic.
impl Add for Spent {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let money = match (self.money, other.money) {
            (Some(a), Some(b)) => Some(a.checked_add(b).unwrap_or(a)),
            (one, other) => one.or(other),
        };
        Self {
            steps: self.steps.saturating_add(other.steps),
            turns: self.turns.saturating_add(other.turns),
            tokens: self.tokens + other.tokens,
            money,
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Limits {
    /// The first limit that `spent` would exceed.
    pub(crate) fn exceeded_by(&self, spent: &Spent) -> Option<LimitKind> {
        if self.steps.is_some_and(|limit| spent.steps > limit) {
            return Some(LimitKind::Steps);
        }
        if self.turns.is_some_and(|limit| spent.turns > limit) {
            return Some(LimitKind::Turns);
        }
        if self.tokens.is_some_and(|limit| spent.tokens > limit) {
            return Some(LimitKind::Tokens);
        }
        let over = |limit: Money, money: Money| {
            limit.currency() == money.currency() && money.micros() > limit.micros()
        };
        if let (Some(limit), Some(money)) = (self.money, spent.money)
            && over(limit, money)
        {
            return Some(LimitKind::Money);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant 10. Would fail if a limit were open unless somebody sets it. Money has none: prices are not
    /// always known, and tokens bound it.
    #[test]
    fn the_default_bounds_everything_but_money() {
        let Limits { steps, turns, tokens, money, millis, depth, fan_out, attempts, reserve } =
            Limits::default();
        assert!(steps.is_some() && turns.is_some() && tokens.is_some() && millis.is_some());
        assert!(depth.is_some() && fan_out.is_some() && attempts.is_some());
        assert_eq!((money, reserve), (None, 1));
    }

    #[test]
    fn the_limit_that_is_exceeded_is_told() {
        let usd = |micros| Money::from_micros(micros, thermidor_types::Currency::USD);
        let limits = Limits { money: Some(usd(5)), ..Limits::default() };
        let check = |spent: Spent, expected| assert_eq!(limits.exceeded_by(&spent), expected, "{spent:?}");
        check(Spent { steps: 1_000, turns: 100, tokens: Tokens(2_000_000), money: Some(usd(5)) }, None);
        check(Spent { steps: u64::MAX, ..Spent::default() }, Some(LimitKind::Steps));
        check(Spent { turns: 101, ..Spent::default() }, Some(LimitKind::Turns));
        check(Spent { tokens: Tokens(2_000_001), ..Spent::default() }, Some(LimitKind::Tokens));
        check(Spent { money: Some(usd(6)), ..Spent::default() }, Some(LimitKind::Money));
        let yuan = Money::from_micros(9, thermidor_types::Currency::CNY);
        check(Spent { money: Some(yuan), ..Spent::default() }, None);
        let most = Spent { steps: u64::MAX, ..Spent::default() };
        assert_eq!((most + Spent { steps: 1, ..Spent::default() }).steps, u64::MAX);
    }
}

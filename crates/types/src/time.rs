use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A moment in time, in whole milliseconds since the Unix epoch (UTC).
///
/// Serialised as that number. Shown as RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment that many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The moment `duration` after this one, saturating.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => fmt::Display::fmt(&moment, f),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// The text is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no RFC 3339 time such as 2026-03-05T00:00:00Z")]
pub struct ParseTimestampError(String);

impl FromStr for Timestamp {
    type Err = ParseTimestampError;
    /// Reads RFC 3339; what is finer than a millisecond is cut off.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let moment = text.parse::<jiff::Timestamp>().map_err(|_| ParseTimestampError(text.into()))?;
        Ok(Self(moment.as_millisecond()))
    }
}

/// Where the time comes from. The only clock a crate may read is the one it was handed.
pub trait Clock: Send + Sync + 'static {
    /// The current moment.
    fn now(&self) -> Timestamp;
}

impl<F: Fn() -> Timestamp + Send + Sync + 'static> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}

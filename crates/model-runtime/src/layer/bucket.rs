use std::time::Duration;

use tokio::time::Instant;

/// A token bucket: what is taken grows back evenly, to a full minute's worth. Pure: the moment is handed in.
///
/// Its level may fall below nothing: a request larger than the bucket takes all of itself, and what an answer
/// consumed beyond the estimate is taken afterwards. Later requests wait until that has grown back.
#[derive(Debug)]
pub(super) struct Bucket {
    per_minute: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket. At least one per minute.
    pub(super) fn new(per_minute: u64, now: Instant) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 tokens a minute")]
        let per_minute = per_minute.max(1) as f64;
        Self { per_minute, level: per_minute, at: now }
    }

    /// How long until `amount` can be taken. What is larger than the bucket waits until it is full, not for ever.
    pub(super) fn wait(&mut self, amount: f64, now: Instant) -> Duration {
        self.grow(now);
        let missing = amount.min(self.per_minute) - self.level;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        // Timers are exact to the millisecond: a little too late is right, a little too early is another round.
        let seconds = (missing / self.per_minute * 60.0).min(86_400.0);
        Duration::from_secs_f64(seconds) + Duration::from_millis(1)
    }

    /// Takes `amount`, or puts it back where it is negative.
    pub(super) fn take(&mut self, amount: f64, now: Instant) {
        self.grow(now);
        self.level = (self.level - amount).min(self.per_minute);
    }

    fn grow(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed / 60.0 * self.per_minute).min(self.per_minute);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bucket of 60 a minute: amounts asked for at seconds, and the seconds to wait; what fits is taken.
    fn check(steps: &[(u64, f64, u64)]) {
        let start = Instant::now();
        let mut bucket = Bucket::new(60, start);
        for (place, (second, amount, expected)) in steps.iter().enumerate() {
            let now = start + Duration::from_secs(*second);
            let wait = bucket.wait(*amount, now);
            assert_eq!(wait.as_secs(), *expected, "step {place}");
            if wait.is_zero() {
                bucket.take(*amount, now);
            }
        }
    }

    #[test]
    fn levels_fall_and_grow_back() {
        check(&[(0, 60.0, 0), (0, 1.0, 1), (10, 10.0, 0), (10, 30.0, 30), (40, 30.0, 0)]);
        // It never holds more than a minute's worth.
        check(&[(600, 60.0, 0), (600, 1.0, 1)]);
        // Larger than the bucket: through when it is full, and paid for afterwards.
        check(&[(0, 10.0, 0), (0, 150.0, 10), (10, 150.0, 0), (10, 1.0, 91), (101, 1.0, 0)]);
        // A correction upwards delays, one downwards frees.
        check(&[(0, 0.0, 0), (0, 60.0, 0), (0, -30.0, 0), (0, 30.0, 0), (0, 1.0, 1)]);
        // Time that goes backwards changes nothing.
        check(&[(60, 60.0, 0), (30, 1.0, 1), (61, 1.0, 0)]);
    }
}

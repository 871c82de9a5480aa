use std::time::Duration;

/// How long a call may be silent. Each time ends the call with a
/// [`Timeout`](thermidor_types::FailureKind::Timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// From the request to the first event of the answer. A local model reads a long prompt for minutes.
    pub first_event: Duration,
    /// Between two events. Keep-alive comments are no events.
    pub between_events: Duration,
    /// From the request to the end of the answer.
    pub total: Duration,
}

impl Timeouts {
    /// None longer than a year: that is for ever, and a clock has no place for every [`Duration`].
    pub(crate) fn bounded(self) -> Self {
        let bounded = |time: Duration| time.min(Duration::from_hours(24 * 365));
        Self {
            connect: bounded(self.connect),
            first_event: bounded(self.first_event),
            between_events: bounded(self.between_events),
            total: bounded(self.total),
        }
    }
}

impl Default for Timeouts {
    /// 10 seconds, 5 minutes, 2 minutes, 1 hour.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_event: Duration::from_mins(5),
            between_events: Duration::from_mins(2),
            total: Duration::from_hours(1),
        }
    }
}

use std::time::Duration;

use thermidor_types::FailureKind;
use tokio::time::Instant;

/// When a channel is taken to be down, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Failures in a row until the breaker opens; at least one.
    pub failures: u32,
    /// How long it stays open; doubled each time that the channel is found down again.
    pub open_for: Duration,
    /// The longest it stays open.
    pub longest_open: Duration,
}

impl Default for BreakerPolicy {
    /// Five failures in a row; ten seconds, five minutes at most.
    fn default() -> Self {
        Self { failures: 5, open_for: Duration::from_secs(10), longest_open: Duration::from_mins(5) }
    }
}

/// What a breaker does with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// It lets them through.
    Closed,
    /// It refuses them.
    Open,
    /// It lets one through, to see how the channel is, and refuses the others.
    HalfOpen,
}

/// What a call said of the channel's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// Somebody answered, be it with a refusal.
    Well,
    /// It is overloaded, broken, out of reach, silent or talks nonsense.
    Sick,
    /// The call said nothing of it.
    Unknown,
}

impl Health {
    /// What a failure of a request that was sent says.
    pub(crate) const fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Overloaded
            | FailureKind::Server
            | FailureKind::Network
            | FailureKind::Timeout
            | FailureKind::Malformed => Self::Sick,
            FailureKind::InvalidRequest
            | FailureKind::Credentials
            | FailureKind::Quota
            | FailureKind::RateLimited
            | FailureKind::NotFound
            | FailureKind::ContextTooLong
            | FailureKind::ContentRefused => Self::Well,
            FailureKind::Cancelled
            | FailureKind::Configuration
            | FailureKind::Unfit
            | FailureKind::Internal => Self::Unknown,
        }
    }
}

/// Leave to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// One call among others, let through in this era.
    Plain(u64),
    /// The one call of a half-open breaker.
    Probe(u64),
}

/// The states of a breaker. Pure: the moment is handed in.
#[derive(Debug)]
pub(crate) struct Circuit {
    policy: BreakerPolicy,
    state: State,
    /// Counts changes of state: what a call says of an earlier era is old news.
    era: u64,
}

#[derive(Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, span: Duration },
    HalfOpen { span: Duration },
}

/// Nobody waits longer; a clock has no place for every [`Duration`].
pub(super) const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// The wait named to calls beside a probe, whose end nobody knows.
const BESIDE_A_PROBE: Duration = Duration::from_secs(1);

impl Circuit {
    pub(crate) fn new(policy: BreakerPolicy) -> Self {
        let longest_open = policy.longest_open.min(FOR_EVER);
        Self {
            policy: BreakerPolicy { longest_open, ..policy },
            state: State::Closed { failures: 0 },
            era: 0,
        }
    }

    pub(crate) fn state(&self) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Lets a call through, or says how long to wait.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<Pass, Duration> {
        match self.state {
            State::Closed { .. } => Ok(Pass::Plain(self.era)),
            State::Open { until, .. } if now < until => Err(until - now),
            State::Open { span, .. } => {
                self.change(State::HalfOpen { span });
                Ok(Pass::Probe(self.era))
            }
            State::HalfOpen { .. } => Err(BESIDE_A_PROBE),
        }
    }

    /// Takes in what a call said. Each pass is settled once.
    pub(crate) fn settle(&mut self, pass: Pass, health: Health, now: Instant) {
        let (Pass::Plain(era) | Pass::Probe(era)) = pass;
        if era != self.era {
            return;
        }
        match (&mut self.state, health) {
            (State::Closed { failures }, Health::Well) => *failures = 0,
            (State::Closed { failures }, Health::Sick) => {
                *failures = failures.saturating_add(1);
                if *failures >= self.policy.failures {
                    let span = self.policy.open_for.min(self.policy.longest_open);
                    self.change(State::Open { until: now + span, span });
                }
            }
            (State::HalfOpen { .. }, Health::Well) => self.change(State::Closed { failures: 0 }),
            (&mut State::HalfOpen { span }, Health::Sick) => {
                let span = span.saturating_mul(2).min(self.policy.longest_open);
                self.change(State::Open { until: now + span, span });
            }
            // The next call is a probe again.
            (&mut State::HalfOpen { span }, Health::Unknown) => self.change(State::Open { until: now, span }),
            (State::Closed { .. }, Health::Unknown) | (State::Open { .. }, _) => {}
        }
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.era += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BreakerState::{Closed, HalfOpen, Open},
        Health::{Sick, Unknown, Well},
        *,
    };

    /// One thing that happens to a breaker of two failures and ten seconds, twenty-five at most.
    enum Step {
        /// A call asks at this second: let through as number so many, or told to wait so many seconds.
        Ask(u64, Result<usize, u64>),
        /// That call says this at this second; the breaker is then in this state.
        Say(u64, usize, Health, BreakerState),
    }
    use Step::{Ask, Say};

    fn check(name: &str, steps: &[Step]) {
        let policy = BreakerPolicy {
            failures: 2,
            open_for: Duration::from_secs(10),
            longest_open: Duration::from_secs(25),
        };
        let start = Instant::now();
        let at = |second: u64| start + Duration::from_secs(second);
        let (mut circuit, mut passes) = (Circuit::new(policy), Vec::new());
        for (place, step) in steps.iter().enumerate() {
            match *step {
                Ask(second, expected) => {
                    let answer = circuit.admit(at(second)).map_err(|wait| wait.as_secs()).map(|pass| {
                        passes.push(pass);
                        passes.len() - 1
                    });
                    assert_eq!(answer, expected, "{name}, step {place}");
                }
                Say(second, call, health, state) => {
                    circuit.settle(passes[call], health, at(second));
                    assert_eq!(circuit.state(), state, "{name}, step {place}");
                }
            }
        }
    }

    /// A wrong transition means a sick channel that is hammered, or a healthy one that is shunned.
    #[test]
    fn all_transitions() {
        check(
            "failures in a row open it",
            &[Ask(0, Ok(0)), Say(0, 0, Sick, Closed), Ask(1, Ok(1)), Say(1, 1, Sick, Open), Ask(5, Err(6))],
        );
        check(
            "a success between failures forgets them",
            &[
                Ask(0, Ok(0)),
                Ask(0, Ok(1)),
                Ask(0, Ok(2)),
                Say(0, 0, Sick, Closed),
                Say(0, 1, Well, Closed),
                Say(0, 2, Sick, Closed),
            ],
        );
        check(
            "what says nothing counts for nothing",
            &[
                Ask(0, Ok(0)),
                Ask(0, Ok(1)),
                Ask(0, Ok(2)),
                Say(0, 0, Sick, Closed),
                Say(0, 1, Unknown, Closed),
                Say(0, 2, Sick, Open),
            ],
        );
        let open =
            || [Ask(0, Ok(0)), Ask(0, Ok(1)), Ask(0, Ok(2)), Say(0, 0, Sick, Closed), Say(0, 1, Sick, Open)];
        let then = |steps: Vec<Step>| open().into_iter().chain(steps).collect::<Vec<_>>();
        check(
            "one probe in half-open, then closed",
            &then(vec![
                Ask(9, Err(1)),
                Ask(10, Ok(3)),
                Ask(10, Err(1)),
                Say(11, 3, Well, Closed),
                Ask(11, Ok(4)),
            ]),
        );
        check(
            "a failed probe opens it for twice as long, to a bound",
            &then(vec![
                Ask(10, Ok(3)),
                Say(10, 3, Sick, Open),
                Ask(29, Err(1)),
                Ask(30, Ok(4)),
                Say(30, 4, Sick, Open),
                Ask(54, Err(1)),
                Ask(55, Ok(5)),
                Say(55, 5, Sick, Open),
                Ask(79, Err(1)),
            ]),
        );
        check(
            "a probe that says nothing leaves its turn to the next",
            &then(vec![Ask(10, Ok(3)), Say(12, 3, Unknown, Open), Ask(12, Ok(4)), Say(12, 4, Well, Closed)]),
        );
        check(
            "old news changes nothing",
            &then(vec![
                Say(1, 2, Well, Open),
                Ask(10, Ok(3)),
                Say(10, 2, Well, HalfOpen),
                Say(10, 2, Sick, HalfOpen),
                Say(10, 3, Well, Closed),
                Say(10, 2, Sick, Closed),
                Say(10, 2, Sick, Closed),
                Ask(10, Ok(4)),
            ]),
        );
        check(
            "after it closed it counts from nothing",
            &then(vec![Ask(10, Ok(3)), Say(10, 3, Well, Closed), Ask(10, Ok(4)), Say(10, 4, Sick, Closed)]),
        );
    }

    /// Would fail if a wrong key opened the breaker, or a dead server did not.
    #[test]
    fn only_some_failures_speak_of_health() {
        for kind in [
            FailureKind::Overloaded,
            FailureKind::Server,
            FailureKind::Network,
            FailureKind::Timeout,
            FailureKind::Malformed,
        ] {
            assert_eq!(Health::of(kind), Sick, "{kind}");
        }
        for kind in [
            FailureKind::Credentials,
            FailureKind::RateLimited,
            FailureKind::InvalidRequest,
            FailureKind::ContentRefused,
        ] {
            assert_eq!(Health::of(kind), Well, "{kind}");
        }
        assert_eq!(Health::of(FailureKind::Cancelled), Unknown);
    }
}

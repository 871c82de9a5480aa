//! Work grows with the input, and not faster.

use std::time::Duration;

use crate::input::hash;

/// One input in so many is timed: the others are for finding new ways.
const TIMED: u64 = 64;
/// Copies in the small and in the large input.
const COPIES: [usize; 2] = [8, 64];
/// The large input may take so many times longer per byte than the small one: caches and noise, not squares.
const SLACK: u32 = 4;
/// Times below this say nothing.
const NOISE: Duration = Duration::from_millis(20);
/// How often a bad measurement is taken again before it is believed.
const TRIES: usize = 5;

/// Times `work` over copies of `bytes`.
pub(crate) fn check(bytes: &[u8], work: impl Fn(&[u8])) {
    if bytes.is_empty() || !hash(bytes).is_multiple_of(TIMED) {
        return;
    }
    let [small, large] = COPIES.map(|copies| bytes.repeat(copies));
    let factor = u32::try_from(COPIES[1] / COPIES[0]).unwrap_or(u32::MAX) * SLACK;
    let (mut least, mut most) = (Duration::MAX, Duration::MAX);
    for _ in 0..TRIES {
        least = least.min(time(&small, &work));
        most = most.min(time(&large, &work));
        if most <= least * factor + NOISE {
            return;
        }
    }
    panic!("{} bytes take {least:?}, {} bytes take {most:?}: not linear", small.len(), large.len());
}

/// The CPU that `work` takes: the machine may be busy with something else.
fn time(bytes: &[u8], work: impl Fn(&[u8])) -> Duration {
    let start = now();
    work(bytes);
    now().saturating_sub(start)
}

/// The CPU that this thread used so far.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // The clock counts up from zero: neither part is negative.
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

/// The time since the first call, where no clock of the thread is at hand.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

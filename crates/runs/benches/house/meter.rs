use std::{fs, time::Duration};

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use crate::Error;

/// A stopwatch for the wall and for the CPU of all threads of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    cpu: Duration,
    wall: Instant,
}

/// What something took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu(), wall: Instant::now() }
    }

    pub(crate) fn read(&self) -> Cost {
        Cost { cpu: cpu().saturating_sub(self.cpu), wall: self.wall.elapsed() }
    }

    pub(crate) fn until(&self, later: &Self) -> Cost {
        Cost { cpu: later.cpu.saturating_sub(self.cpu), wall: later.wall.duration_since(self.wall) }
    }
}

/// The CPU that this process used so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The clock counts up from zero: neither part is negative.
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The memory of this process that is in RAM now, in KB.
pub(crate) fn resident() -> Result<f64, Error> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

//! Processes that end in time, and with the task that started them.

use std::{
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_owned();
        command.spawn().map(Self).with_context(|| format!("failed to start {}", program.display()))
    }

    /// What was set up as a pipe.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.0.try_wait()?)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it takes longer than `patience`. It is killed then.
    pub(crate) fn finish(mut self, patience: Duration) -> Result<ExitStatus> {
        let mut end = None;
        wait_until(patience, || {
            end = self.ended()?;
            Ok(end.is_some())
        })?;
        end.context("it was awaited")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks again and again. Returns how long it took.
///
/// # Errors
/// When `reached` fails, or is still false after `patience`.
#[expect(clippy::disallowed_methods, reason = "a deadline for processes outside: there is nothing to replay")]
pub(crate) fn wait_until(patience: Duration, mut reached: impl FnMut() -> Result<bool>) -> Result<Duration> {
    let start = Instant::now();
    while !reached()? {
        if start.elapsed() > patience {
            bail!("not done after {} s", patience.as_secs());
        }
        thread::sleep(PAUSE);
    }
    Ok(start.elapsed())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Would fail if a process that hangs were waited for, or outlived its handle.
    #[test]
    fn what_hangs_is_killed() {
        let mut sleeping = Process::start(Command::new("sleep").arg("600")).expect("started");
        assert!(sleeping.ended().expect("asked").is_none());
        let error = sleeping.finish(Duration::ZERO).expect_err("still there");
        assert_eq!(error.to_string(), "not done after 0 s");
        let status =
            Process::start(&mut Command::new("false")).expect("started").finish(Duration::from_mins(1));
        assert_eq!(status.expect("ended").code(), Some(1));
    }
}

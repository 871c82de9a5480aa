//! What every display can do, and the one that says nothing.

use std::io;

use thermidor_runs::RunEvent;

/// Shows a run's events.
pub(crate) trait Display {
    /// Shows one event.
    ///
    /// # Errors
    /// When nobody reads standard output any more.
    fn event(&mut self, event: &RunEvent) -> io::Result<()>;

    /// Takes in what happened before, without showing it again.
    fn recall(&mut self, _: &[RunEvent]) {}

    /// Time has passed.
    fn tick(&mut self) {}

    /// Says something beside the events.
    fn note(&mut self, text: &str);

    /// Takes down what changes, so that others can write.
    fn close(&mut self) {}
}

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Errors only.
    Quiet,
    /// A turn's end in a line or two.
    Usual,
    /// Whole texts and tool calls.
    Full,
}

/// Says nothing.
#[derive(Debug)]
pub(crate) struct Silent;

impl Display for Silent {
    fn event(&mut self, _: &RunEvent) -> io::Result<()> {
        Ok(())
    }

    fn note(&mut self, _: &str) {}
}

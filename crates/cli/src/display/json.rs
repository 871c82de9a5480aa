//! One line of JSON for each event.

use std::io;

use thermidor_runs::RunEvent;

use super::{Detail, Display};
use crate::screen::Screen;

/// Prints every event on standard output as one line of JSON; notes go to standard error.
#[derive(Debug)]
pub(crate) struct Json {
    screen: Screen,
    detail: Detail,
}

impl Json {
    pub(crate) fn new(screen: Screen, detail: Detail) -> Self {
        Self { screen, detail }
    }
}

/// An event as one line of JSON, with its line end.
///
/// # Errors
/// Never for events that were made here.
pub(crate) fn line(event: &RunEvent) -> io::Result<String> {
    Ok(serde_json::to_string(event)? + "\n")
}

impl Display for Json {
    fn event(&mut self, event: &RunEvent) -> io::Result<()> {
        self.screen.print(&line(event)?)
    }

    fn note(&mut self, text: &str) {
        if self.detail != Detail::Quiet {
            self.screen.note(text);
        }
    }
}

//! One line for each thing that happens, without cursor control.

use std::io;

use thermidor_runs::{RunEvent, RunEventKind};
use thermidor_step_engine::EndStatus;

use super::{Detail, Display, Progress};
use crate::{screen::Screen, words};

/// Prints plain lines on standard error.
#[derive(Debug)]
pub(crate) struct Plain {
    screen: Screen,
    progress: Progress,
    detail: Detail,
}

impl Plain {
    pub(crate) fn new(screen: Screen, total: Option<usize>, detail: Detail) -> Self {
        Self { screen, progress: Progress::new(total), detail }
    }
}

/// The line of an event that begins or troubles a turn; what ends one needs more and stands elsewhere.
pub(super) fn line(screen: Screen, progress: &Progress, event: &RunEvent, detail: Detail) -> Option<String> {
    let paint = screen.paint;
    let of = |turn: u32, member| match progress.turn(turn, member) {
        Some(known) => known.heading.to_string(),
        None => format!("{turn} {member}"),
    };
    let list = |faults: &[thermidor_types::Text]| {
        let one =
            |fault: &thermidor_types::Text| words::one_line(fault).trim_end_matches(['.', '。']).to_owned();
        faults.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    match &event.kind {
        RunEventKind::AnswerUnfit { turn, member, faults } => {
            let what = format!("! {}: the answer does not fit: {}", of(*turn, member), list(faults));
            Some(paint.yellow(&what))
        }
        RunEventKind::AnswerRepaired { turn, member, better: false, .. } => {
            Some(paint.yellow(&format!(
                "! {}: the repair is no better; the first answer is kept",
                of(*turn, member)
            )))
        }
        RunEventKind::ModelFailed { turn, member, failure, .. } => {
            let what = format!("✗ {}: {}", of(*turn, member), words::one_line(&failure.to_string()));
            Some(paint.red(&what))
        }
        RunEventKind::LimitReached { limit } => {
            Some(paint.yellow(&format!("! the limit of {limit} is reached")))
        }
        RunEventKind::Question { text, .. } => Some(paint.yellow(&format!("? {}", words::one_line(text)))),
        RunEventKind::ToolCalled { turn, member, tool, arguments, .. } if detail == Detail::Full => {
            Some(paint.dim(&format!("  {}: {tool} {}", of(*turn, member), words::one_line(arguments))))
        }
        RunEventKind::ToolFinished { turn, member, outcome, text, .. } if detail == Detail::Full => {
            let how = format!("{outcome:?}").to_lowercase();
            Some(paint.dim(&format!("  {}: {how}: {}", of(*turn, member), words::one_line(text))))
        }
        _ => None,
    }
}

/// The mark before a turn that ended this way.
pub(super) fn mark(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Done => "✓",
        EndStatus::Failed => "✗",
        EndStatus::Stopped => "■",
        EndStatus::Limit => "!",
    }
}

impl Display for Plain {
    fn event(&mut self, event: &RunEvent) -> io::Result<()> {
        if let Some(line) = line(self.screen, &self.progress, event, self.detail) {
            self.screen.note(&line);
        }
        let ended = self.progress.apply(event);
        if let RunEventKind::TurnStarted { turn, member, .. } = &event.kind
            && let Some(known) = self.progress.turn(*turn, member)
        {
            self.screen.note(&format!("▸ {} …", known.heading));
        }
        if let Some(ended) = ended {
            let line = format!("{} {}: {}", mark(ended.status), ended.heading, ended.figures());
            self.screen.note(&if ended.status == EndStatus::Done {
                self.screen.paint.green(&line)
            } else {
                line
            });
            if self.detail == Detail::Full && !ended.text.is_empty() {
                self.screen.note(&format!("\n{}\n", words::harmless(&ended.text)));
            }
        }
        Ok(())
    }

    fn recall(&mut self, events: &[RunEvent]) {
        for event in events {
            self.progress.apply(event);
        }
        for (_, turn) in self.progress.active() {
            self.screen.note(&format!("▸ {} goes on …", turn.heading));
        }
    }

    fn note(&mut self, text: &str) {
        self.screen.note(text);
    }
}

//! On a terminal: a line for each member at work, and what is finished scrolling up above.

use std::{collections::BTreeMap, fmt::Write as _, io, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use thermidor_runs::RunEvent;
use thermidor_step_engine::EndStatus;
use thermidor_types::Tokens;
use tokio::time::Instant;

use super::{
    Detail, Display, Progress, plain,
    progress::{Finished, Turn, TurnKey},
};
use crate::{screen::Screen, words};

/// The lines of a finished turn's text that are shown unless all of them are asked for.
const EXCERPT: usize = 4;

/// Draws live lines on standard error.
#[derive(Debug)]
pub(crate) struct Live {
    screen: Screen,
    progress: Progress,
    detail: Detail,
    lines: MultiProgress,
    bars: BTreeMap<TurnKey, (ProgressBar, Instant)>,
}

impl Live {
    pub(crate) fn new(screen: Screen, total: Option<usize>, detail: Detail) -> Self {
        let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(12));
        Self { screen, progress: Progress::new(total), detail, lines, bars: BTreeMap::new() }
    }

    fn say(&self, text: &str) {
        // A terminal that cannot be written to: nobody can be told.
        let _ = self.lines.println(text);
    }

    /// Gives every turn at work a line, takes away those of ended ones, and brings all up to date.
    fn redraw(&mut self) {
        let progress = &self.progress;
        self.bars.retain(|key, (bar, _)| {
            let active = progress.turn(key.0, &key.1).is_some();
            if !active {
                bar.finish_and_clear();
            }
            active
        });
        let width = usize::from(console::Term::stderr().size().1);
        for (key, turn) in progress.active() {
            let (bar, began) = self.bars.entry(key.clone()).or_insert_with(|| {
                let bar = self.lines.add(ProgressBar::new_spinner().with_style(style()));
                (bar, Instant::now())
            });
            bar.set_message(message(turn, began.elapsed(), width));
            bar.tick();
        }
    }

    fn block(&self, ended: &Finished) -> String {
        let paint = self.screen.paint;
        let heading = format!("{} {}", plain::mark(ended.status), ended.heading);
        let heading = match ended.status {
            EndStatus::Done => paint.bold(&heading),
            EndStatus::Failed => paint.red(&heading),
            EndStatus::Stopped | EndStatus::Limit => paint.yellow(&heading),
        };
        let mut block = format!("{heading}  {}", paint.dim(&ended.figures()));
        let text = words::harmless(ended.text.trim());
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if self.detail == Detail::Full {
            return format!("{block}\n{text}\n");
        }
        let width = usize::from(console::Term::stderr().size().1).saturating_sub(4).max(20);
        for line in lines.iter().take(EXCERPT) {
            let line = console::truncate_str(line, width, "…");
            let _ = write!(block, "\n  {}", paint.dim(&line));
        }
        if lines.len() > EXCERPT {
            let more = words::count((lines.len() - EXCERPT) as u64, "more line");
            let _ = write!(block, "\n  {}", paint.dim(&format!("… {more}")));
        }
        block + "\n"
    }
}

fn style() -> ProgressStyle {
    // The template is checked by the test below; without it a bar still shows its message.
    ProgressStyle::with_template("{spinner} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// `2/5 Plan · Project manager  writing  3.2 s  ~120 tokens  …the last words`, as wide as the line is.
fn message(turn: &Turn, elapsed: Duration, width: usize) -> String {
    let spent = turn.usage.total();
    let tokens = match (spent.0, turn.streamed) {
        (0, 0) => String::new(),
        (spent, streamed) => format!("  ~{} tokens", words::tokens(Tokens(spent + streamed))),
    };
    let cost = turn.usage.cost.map(|cost| format!("  {cost}")).unwrap_or_default();
    let head = format!("{}  {}  {}{tokens}{cost}", turn.heading, turn.phase, words::time(elapsed));
    // Two for the spinner, three before the words, one that stays free.
    let room = width.saturating_sub(console::measure_text_width(&head) + 6);
    let tail = words::one_line(&turn.tail);
    let mut shown = 0;
    let from = tail.char_indices().rev().take_while(|(_, c)| {
        shown += console::measure_text_width(c.encode_utf8(&mut [0; 4]));
        shown <= room
    });
    match from.last() {
        Some((from, _)) => format!("{head}  …{}", tail[from..].trim_start()),
        None => head,
    }
}

impl Display for Live {
    fn event(&mut self, event: &RunEvent) -> io::Result<()> {
        if let Some(line) = plain::line(self.screen, &self.progress, event, self.detail) {
            self.say(&line);
        }
        let started = self.bars.len() < self.progress.active().count();
        if let Some(ended) = self.progress.apply(event) {
            self.redraw();
            self.say(&self.block(&ended));
        } else if started {
            self.redraw();
        }
        Ok(())
    }

    fn recall(&mut self, events: &[RunEvent]) {
        for event in events {
            self.progress.apply(event);
        }
        self.redraw();
    }

    fn tick(&mut self) {
        self.redraw();
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }

    fn close(&mut self) {
        for (bar, _) in self.bars.values() {
            bar.finish_and_clear();
        }
        self.bars.clear();
    }
}

#[cfg(test)]
mod tests {
    use thermidor_types::{Timestamp, Usage};

    use super::*;
    use crate::display::progress::Heading;

    #[test]
    fn the_template_is_one() {
        assert!(ProgressStyle::with_template("{spinner} {wide_msg}").is_ok());
    }

    /// Would fail if the line showed old words instead of the last ones, or were wider than the terminal.
    #[test]
    fn a_live_line_ends_with_the_last_words_that_fit() {
        let heading =
            Heading { number: 2, total: Some(5), title: "计划".into(), name: "项目经理".into() };
        let mut turn = Turn {
            heading,
            began: Timestamp::default(),
            phase: "writing".into(),
            usage: Usage::default(),
            attempt: 0,
            tail: "先做最小的\n能用的版本".into(),
            streamed: 12,
        };
        let line = message(&turn, Duration::from_secs(3), 64);
        assert_eq!(line, "2/5 计划 · 项目经理  writing  3.0 s  ~12 tokens  …能用的版本");
        assert!(console::measure_text_width(&line) + 3 <= 64);
        assert_eq!(
            message(&turn, Duration::from_secs(3), 10),
            "2/5 计划 · 项目经理  writing  3.0 s  ~12 tokens"
        );
        turn.tail.clear();
        assert!(!message(&turn, Duration::from_secs(3), 200).contains('…'));
    }
}

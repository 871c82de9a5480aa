//! What is known of the turns at work, folded from events. Pure.

use std::{collections::BTreeMap, time::Duration};

use thermidor_agent_runtime::count_words;
use thermidor_runs::{RunEvent, RunEventKind};
use thermidor_step_engine::EndStatus;
use thermidor_types::{MemberId, Text, Timestamp, Tokens, Usage};

use crate::words;

/// A turn is known by its number and its member: groups inside groups count their turns anew.
pub(crate) type TurnKey = (u32, MemberId);

/// The turns of a run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The number of stages, where it is known beforehand.
    total: Option<usize>,
    turns: BTreeMap<TurnKey, Turn>,
    /// Turns that ended undone: their stages are begun again in turns of their own.
    undone: u32,
    last: Timestamp,
}

/// A turn at work.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) heading: Heading,
    pub(crate) began: Timestamp,
    /// What it is at: `reading`, `writing`, `calling calculator`.
    pub(crate) phase: String,
    /// What ended calls of it consumed.
    pub(crate) usage: Usage,
    /// The attempt that the streamed words belong to.
    pub(crate) attempt: u32,
    /// The end of what was streamed.
    pub(crate) tail: String,
    /// Tokens streamed, guessed from the length.
    pub(crate) streamed: u64,
}

/// Which turn of how many, what for, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) number: u32,
    pub(crate) total: Option<usize>,
    pub(crate) title: Text,
    pub(crate) name: Text,
}

impl std::fmt::Display for Heading {
    /// `2/5 Plan · Project manager`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = self.total.map(|total| format!("/{total}")).unwrap_or_default();
        let Self { number, title, name, .. } = self;
        let title = words::one_line(title);
        if title.is_empty() {
            return write!(f, "{number}{of} {}", words::one_line(name));
        }
        write!(f, "{number}{of} {title} · {}", words::one_line(name))
    }
}

/// A turn that just ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) heading: Heading,
    pub(crate) status: EndStatus,
    pub(crate) took: Duration,
    pub(crate) usage: Usage,
    pub(crate) text: Text,
}

impl Finished {
    /// `297 words, 1,234 + 456 tokens, 1.2 s`; of a turn in which nothing was said, `nothing said, 1.2 s`.
    pub(crate) fn figures(&self) -> String {
        if self.text.is_empty() && self.usage.total() == Tokens(0) {
            return format!("nothing said, {}", words::time(self.took));
        }
        let said = words::count(count_words(&self.text) as u64, "word");
        format!("{said}, {}, {}", words::usage(&self.usage), words::time(self.took))
    }
}

impl Progress {
    pub(crate) fn new(total: Option<usize>) -> Self {
        Self { total, ..Self::default() }
    }

    /// The turns at work, in their order.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&TurnKey, &Turn)> {
        self.turns.iter()
    }

    /// A turn at work.
    pub(crate) fn turn(&self, turn: u32, member: &MemberId) -> Option<&Turn> {
        self.turns.get(&(turn, member.clone()))
    }

    /// Takes an event in. Returns the turn that it ended, if it ended one.
    pub(crate) fn apply(&mut self, event: &RunEvent) -> Option<Finished> {
        let before = std::mem::replace(&mut self.last, event.at);
        match &event.kind {
            // Nobody worked while the run lay still.
            RunEventKind::RunResumed { .. } => {
                let pause = event.at.since(before);
                self.turns.values_mut().for_each(|turn| turn.began = turn.began.after(pause));
            }
            RunEventKind::TurnStarted { turn, member, name, title, .. } => {
                // Of so many stages, this is which: a stage that is begun again is no further one.
                let number = if self.total.is_some() { turn.saturating_sub(self.undone) } else { *turn };
                let total =
                    self.total.filter(|total| usize::try_from(number).is_ok_and(|number| number <= *total));
                let heading = Heading { number, total, title: title.clone(), name: name.clone() };
                let known = Turn {
                    heading,
                    began: event.at,
                    phase: "reading".to_owned(),
                    usage: Usage::default(),
                    attempt: 0,
                    tail: String::new(),
                    streamed: 0,
                };
                self.turns.insert((*turn, member.clone()), known);
            }
            RunEventKind::Delta { turn, member, channel, attempt, text } => {
                let known = self.turns.get_mut(&(*turn, member.clone()))?;
                known.stream(channel, *attempt, text);
            }
            RunEventKind::Said { turn, member, usage, .. } => {
                let known = self.turns.get_mut(&(*turn, member.clone()))?;
                known.usage += *usage;
                known.streamed = 0;
            }
            RunEventKind::ToolCalled { turn, member, tool, .. } => {
                self.turns.get_mut(&(*turn, member.clone()))?.phase = format!("calling {tool}");
            }
            RunEventKind::ToolFinished { turn, member, .. } => {
                "reading".clone_into(&mut self.turns.get_mut(&(*turn, member.clone()))?.phase);
            }
            RunEventKind::RepairAsked { turn, member, .. } => {
                let known = self.turns.get_mut(&(*turn, member.clone()))?;
                "repairing".clone_into(&mut known.phase);
                known.tail.clear();
            }
            RunEventKind::TurnEnded { turn, member, status, text, usage, .. } => {
                let known = self.turns.remove(&(*turn, member.clone()))?;
                self.undone += u32::from(*status != EndStatus::Done);
                return Some(Finished {
                    heading: known.heading,
                    status: *status,
                    took: event.at.since(known.began),
                    usage: *usage,
                    text: text.clone(),
                });
            }
            _ => {}
        }
        None
    }
}

impl Turn {
    fn stream(&mut self, channel: &str, attempt: u32, text: &str) {
        if attempt > self.attempt {
            self.tail.clear();
            (self.attempt, self.streamed) = (attempt, 0);
        }
        if attempt < self.attempt {
            return;
        }
        let phase = match channel {
            "reasoning" => "thinking",
            "call" => "choosing a tool",
            _ => "writing",
        };
        if self.phase != "repairing" {
            phase.clone_into(&mut self.phase);
        }
        let (ascii, other) = text.chars().fold((0_u64, 0_u64), |(ascii, other), c| {
            if c.is_ascii() { (ascii + 1, other) } else { (ascii, other + 1) }
        });
        self.streamed += ascii.div_ceil(4) + other;
        if channel == "call" {
            return;
        }
        self.tail.push_str(text);
        // A line of a terminal shows less than this.
        if let Some((cut, _)) = self.tail.char_indices().rev().nth(400) {
            self.tail.drain(..cut);
        }
    }
}

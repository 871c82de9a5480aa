use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Measure, Text, Tokens};

use crate::{Slot, shorten::grouped};

/// What a prompt is made of and why: one line for every block, message and tool.
///
/// `total` is the sum of all `tokens_after`, and the count of the request that is sent
/// ([`request_tokens`](crate::request_tokens) with the same counter). It is small enough for a journal:
/// neighbouring messages with the same fate share a line once there are many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The model's context window.
    pub window: Tokens,
    /// What was kept free for the answer.
    pub room: Tokens,
    /// What the request may take: the window less the room, less a margin where counts are estimates.
    pub budget: Tokens,
    /// What it takes.
    pub total: Tokens,
    /// What sort of figures these are.
    pub measure: Measure,
    /// In the order of the prompt; what was dropped stands where it would have been.
    pub lines: Vec<ReportLine>,
    /// What somebody should look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// One part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLine {
    /// What it is.
    pub source: Source,
    /// What it took at first. An estimate for messages that were dropped before they were counted.
    pub tokens_before: Tokens,
    /// What it takes in the prompt, the frame of the message it opens included.
    pub tokens_after: Tokens,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Verdict::is_kept")]
    pub verdict: Verdict,
    /// Why, or what was changed; empty when nothing happened to it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub reason: SmolStr,
}

/// Where a part of a prompt comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A provider's contribution.
    Contribution {
        /// The block's name.
        tag: SmolStr,
        /// Attributes that tell blocks of one name apart: `stage="plan"`.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        label: SmolStr,
        /// The provider's name.
        provider: SmolStr,
        /// Where it stands.
        slot: Slot,
    },
    /// Messages of the history.
    History {
        /// The first one, counted from 0.
        index: usize,
        /// How many.
        count: usize,
    },
    /// A tool.
    Tool {
        /// Its name on the wire.
        name: SmolStr,
    },
}

/// What became of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// It is in the prompt as a whole.
    #[default]
    Kept,
    /// Part of it is in the prompt.
    Shortened,
    /// It is not in the prompt.
    Dropped,
}

impl Verdict {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn is_kept(&self) -> bool {
        *self == Self::Kept
    }
}

/// Something somebody should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The step it comes from.
    pub step: SmolStr,
    /// One sentence.
    pub text: Text,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.text)
    }
}

impl Report {
    /// A table for people, the same as `Display` gives.
    pub fn render(&self) -> String {
        self.to_string()
    }

    /// The lines of what is not in the prompt as a whole.
    pub fn cuts(&self) -> impl Iterator<Item = &ReportLine> {
        self.lines.iter().filter(|line| line.verdict != Verdict::Kept)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contribution { tag, label, .. } if label.is_empty() => f.write_str(tag),
            Self::Contribution { tag, label, .. } => write!(f, "{tag} {label}"),
            Self::History { index, count: 1 } => write!(f, "message {}", index + 1),
            Self::History { index, count } => write!(f, "messages {}–{}", index + 1, index + count),
            Self::Tool { name } => write!(f, "tool {name}"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = |tokens: Tokens| grouped(usize::try_from(tokens.0).unwrap_or(usize::MAX));
        let rows: Vec<[String; 4]> = self
            .lines
            .iter()
            .map(|line| {
                let place = match &line.source {
                    Source::Contribution { slot, .. } => slot.words(),
                    Source::History { .. } => "history",
                    Source::Tool { .. } => "tools",
                };
                let mut tokens = figure(line.tokens_after);
                let mut fate = line.reason.to_string();
                if line.verdict != Verdict::Kept {
                    let verdict = if line.verdict == Verdict::Shortened { "shortened" } else { "dropped" };
                    tokens = format!("{} → {tokens}", figure(line.tokens_before));
                    fate = if fate.is_empty() { verdict.to_owned() } else { format!("{verdict}: {fate}") };
                }
                [line.source.to_string(), place.to_owned(), tokens, fate]
            })
            .collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second, third) = (width(0), width(1), width(2));
        for [source, place, tokens, fate] in &rows {
            let mut line = String::new();
            write!(line, "{source:first$}  {place:second$}  {tokens:>third$}  {fate}")?;
            writeln!(f, "{}", line.trim_end())?;
        }
        let about = if self.measure == Measure::Estimated { "about " } else { "" };
        write!(
            f,
            "{about}{} of {} tokens (window {}, {} kept for the answer)",
            figure(self.total),
            figure(self.budget),
            figure(self.window),
            figure(self.room)
        )?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\nwarning: {warning}"))
    }
}

impl Slot {
    fn words(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::BeforeFirstUser => "before first user",
            Self::LastUser => "last user",
            Self::Tail => "tail",
        }
    }
}

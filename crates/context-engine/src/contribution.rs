use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Text, Tokens};

use crate::Block;

/// Where in the prompt a contribution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Slot {
    /// In the one system message at the beginning.
    System,
    /// In a user message before the first one of the history: background that does not change.
    BeforeFirstUser,
    /// Beside the last thing the user said, after their own words; a message of its own if they said nothing.
    LastUser,
    /// At the very end, after everything that has happened in the turn.
    Tail,
}

/// How long a contribution's bytes stay the same. Inside a slot the steadiest come first, so that a
/// provider's prompt cache can reuse as long a beginning as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stability {
    /// The same in every run.
    Frozen,
    /// The same in every turn of a run.
    Run,
    /// Different in every turn.
    Turn,
}

/// What the budget may do to a contribution when the prompt does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Keep {
    /// Nothing.
    Whole,
    /// Shorten it in the middle, with a mark that says how much is missing.
    Shorten,
    /// Shorten it, and leave it out when even that is not enough.
    Optional,
}

/// One block that a provider offers to the prompt, as data until the final rendering.
///
/// Inside a slot contributions are ordered by stability, then by priority (higher first), then by the
/// order in which their providers were registered.
///
/// ```
/// use thermidor_context_engine::Contribution;
/// let weather = Contribution::last_user("weather", "Rain until noon.").priority(30);
/// assert_eq!(weather.render(), "<weather>\nRain until noon.\n</weather>");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Where it stands.
    pub slot: Slot,
    /// The name of its block and of its line in the report.
    pub tag: SmolStr,
    /// Attributes of the block's opening tag, in order.
    pub attributes: Vec<(SmolStr, Text)>,
    /// The words, treated as data: nothing in them can close the block.
    pub text: Text,
    /// Whether the block has tags around it; without them the text stands as it is, for operator text only.
    pub frame: Frame,
    /// What is shortened last: 0 to 255, 50 by default.
    pub priority: u8,
    /// How long its bytes stay the same.
    pub stability: Stability,
    /// The most tokens it may ever take; it is shortened to that also when there is room.
    pub max_tokens: Option<Tokens>,
    /// What the budget may do to it.
    pub keep: Keep,
    /// What the report should warn of.
    pub warnings: Vec<Text>,
}

/// Whether a contribution has tags around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Frame {
    /// `<tag>…</tag>`.
    Tags,
    /// Only the text.
    Bare,
}

impl Contribution {
    /// A contribution to the system message: kept whole, stable for the run.
    pub fn system(tag: impl Into<SmolStr>, text: impl Into<Text>) -> Self {
        Self { keep: Keep::Whole, ..Self::new(Slot::System, tag, text, Stability::Run) }
    }

    /// Background before the first user message: may be shortened, stable for the run.
    pub fn before_first_user(tag: impl Into<SmolStr>, text: impl Into<Text>) -> Self {
        Self::new(Slot::BeforeFirstUser, tag, text, Stability::Run)
    }

    /// Something beside the last user message: may be shortened, different in every turn.
    pub fn last_user(tag: impl Into<SmolStr>, text: impl Into<Text>) -> Self {
        Self::new(Slot::LastUser, tag, text, Stability::Turn)
    }

    /// Something at the very end: may be shortened, different in every turn.
    pub fn tail(tag: impl Into<SmolStr>, text: impl Into<Text>) -> Self {
        Self::new(Slot::Tail, tag, text, Stability::Turn)
    }

    fn new(slot: Slot, tag: impl Into<SmolStr>, text: impl Into<Text>, stability: Stability) -> Self {
        Self {
            slot,
            tag: tag.into(),
            attributes: Vec::new(),
            text: text.into(),
            frame: Frame::Tags,
            priority: 50,
            stability,
            max_tokens: None,
            keep: Keep::Shorten,
            warnings: Vec::new(),
        }
    }

    /// Adds an attribute to the opening tag.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<SmolStr>, value: impl Into<Text>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }

    /// Leaves the tags away. For the operator's own text only: data without tags can pass for anything.
    #[must_use]
    pub fn bare(self) -> Self {
        Self { frame: Frame::Bare, ..self }
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Sets the stability.
    #[must_use]
    pub fn stability(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }

    /// Sets what the budget may do.
    #[must_use]
    pub fn keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Bounds its tokens.
    #[must_use]
    pub fn max_tokens(self, tokens: Tokens) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Adds something the report should warn of.
    #[must_use]
    pub fn warning(mut self, text: impl Into<Text>) -> Self {
        self.warnings.push(text.into());
        self
    }

    /// The block as it stands in the prompt.
    pub fn render(&self) -> String {
        self.render_with(&self.text)
    }

    pub(crate) fn render_with(&self, text: &str) -> String {
        match self.frame {
            Frame::Bare => text.to_owned(),
            Frame::Tags => {
                let block = Block::new(self.tag.clone());
                self.attributes
                    .iter()
                    .fold(block, |block, (name, value)| block.attribute(name, value))
                    .render(text)
            }
        }
    }
}

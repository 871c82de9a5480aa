use std::{cell::OnceCell, sync::Arc};

use smol_str::SmolStr;
use thermidor_types::{Message, Role, Text, Tokens};

use crate::{Contribution, Slot, Source, TokenCounter, weigh};

/// One message of the history or one contribution: what can be in a prompt or not, as a whole.
///
/// An assistant message holds its tool calls with their results, so taking a unit out orphans nothing.
#[derive(Clone, Debug)]
pub struct Unit {
    pub(crate) body: Body,
    pub(crate) pinned: bool,
    /// Whether it is part of the message before it, when that has the same role.
    pub(crate) joined: bool,
    pub(crate) position: usize,
    /// Its weight before the first change.
    pub(crate) before: Option<Tokens>,
    pub(crate) reason: SmolStr,
    pub(crate) shortened: bool,
    weight: OnceCell<Tokens>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Message { message: Arc<Message>, index: usize },
    Block { contribution: Arc<Contribution>, provider: SmolStr, text: Text },
}

impl Unit {
    pub(crate) fn message_at(index: usize, message: Arc<Message>) -> Self {
        Self::new(Body::Message { message, index })
    }

    pub(crate) fn contributed(provider: SmolStr, contribution: Contribution) -> Self {
        let text = contribution.render().into();
        Self::new(Body::Block { contribution: Arc::new(contribution), provider, text })
    }

    fn new(body: Body) -> Self {
        Self {
            body,
            pinned: false,
            joined: false,
            position: 0,
            before: None,
            reason: SmolStr::default(),
            shortened: false,
            weight: OnceCell::new(),
        }
    }

    /// The message, if this unit is one of the history.
    pub fn message(&self) -> Option<&Message> {
        match &self.body {
            Body::Message { message, .. } => Some(message),
            Body::Block { .. } => None,
        }
    }

    /// The contribution, if this unit is one.
    pub fn contribution(&self) -> Option<&Contribution> {
        match &self.body {
            Body::Message { .. } => None,
            Body::Block { contribution, .. } => Some(contribution),
        }
    }

    /// Where it came from.
    pub fn source(&self) -> Source {
        match &self.body {
            Body::Message { index, .. } => Source::History { index: *index, count: 1 },
            Body::Block { contribution, provider, .. } => Source::Contribution {
                tag: contribution.tag.clone(),
                label: contribution
                    .attributes
                    .first()
                    .map(|(name, value)| smol_str::format_smolstr!("{name}=\"{value}\""))
                    .unwrap_or_default(),
                provider: provider.clone(),
                slot: contribution.slot,
            },
        }
    }

    /// The role it has in the prompt.
    pub fn role(&self) -> Role {
        match &self.body {
            Body::Message { message, .. } => message.role(),
            Body::Block { contribution, .. } if contribution.slot == Slot::System => Role::System,
            Body::Block { .. } => Role::User,
        }
    }

    /// Whether it may be neither removed nor shortened.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// What it takes, without the frame of its message.
    pub(crate) fn tokens(&self, counter: &dyn TokenCounter) -> Tokens {
        *self.weight.get_or_init(|| match &self.body {
            Body::Message { message, .. } => weigh::message_tokens(message, counter),
            Body::Block { text, .. } => counter.count(text),
        })
    }

    /// What it takes, if that is known.
    pub(crate) fn counted(&self) -> Option<Tokens> {
        self.weight.get().copied()
    }

    /// Puts another message in its place. The weight it had first must be known before.
    pub(crate) fn put(&mut self, changed: Message) {
        if let Body::Message { message, .. } = &mut self.body {
            *message = Arc::new(changed);
            self.weight = OnceCell::new();
        }
    }

    /// Puts another rendered text in its place.
    pub(crate) fn put_text(&mut self, changed: String) {
        if let Body::Block { text, .. } = &mut self.body {
            *text = changed.into();
            self.weight = OnceCell::new();
        }
    }

    /// The most tokens it can have: the bytes of its text, and flat costs.
    pub(crate) fn bound(&self) -> Tokens {
        match &self.body {
            Body::Message { message, .. } => weigh::message_tokens(message, &Bytes),
            Body::Block { text, .. } => Bytes.count(text),
        }
    }
}

/// Counts bytes: no byte-level vocabulary has more tokens than that.
pub(crate) struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Tokens {
        Tokens(text.len() as u64)
    }

    fn measure(&self) -> thermidor_types::Measure {
        thermidor_types::Measure::Estimated
    }
}

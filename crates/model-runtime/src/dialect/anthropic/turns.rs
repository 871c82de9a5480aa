//! Writes the history as turns of user and assistant.

use thermidor_types::{
    AssistantMessage, Content, Exchange, Message, ModelCard, Part, Reasoning, ToolOutcome,
};

use super::{
    blocks::{Unanswered, kind},
    cache::End,
    media,
    request::{Block, Role, Source, Turn},
};
use crate::{
    Quirk, Quirks,
    dialect::{
        Unencodable,
        replay::{INTERRUPTED, is_own, object, sendable_arguments},
    },
};

/// The history on its way into turns.
pub(super) struct Turns<'a> {
    card: &'a ModelCard,
    quirks: &'a Quirks,
    fill: Fill,
    calls: usize,
    /// The operator's words before the first turn.
    pub(super) system: Vec<Block<'a>>,
    pub(super) list: Vec<Turn<'a>>,
    /// Where each message is.
    pub(super) ends: Vec<Option<End>>,
}

/// What is done with an assistant's turn without thoughts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Nothing,
    /// A blank thinking block is put there.
    BlankThought,
}

impl<'a> Turns<'a> {
    pub(super) fn new(card: &'a ModelCard, quirks: &'a Quirks, fill: Fill) -> Self {
        Self { card, quirks, fill, calls: 0, system: Vec::new(), list: Vec::new(), ends: Vec::new() }
    }

    /// Adds all messages.
    ///
    /// # Errors
    /// [`Unencodable::UnresolvedBlob`].
    pub(super) fn extend(&mut self, messages: &'a [Message]) -> Result<(), Unencodable> {
        let last = messages.len().saturating_sub(1);
        for (place, message) in messages.iter().enumerate() {
            let before = (self.system.len(), self.last_block());
            match message {
                Message::System(message) if self.list.is_empty() => {
                    if !message.text.trim().is_empty() {
                        self.system.push(Block::text(message.text.as_str()));
                    }
                }
                Message::System(message) => self.words(Role::User, &message.text),
                Message::User(message) => {
                    for content in &message.content {
                        let block = self.content(content)?;
                        self.add(Role::User, block);
                    }
                }
                Message::Assistant(message) => self.assistant(message, place == last)?,
            }
            let after = self.last_block();
            self.ends.push(match after {
                Some((turn, block)) if after != before.1 => Some(End::Turn(turn, block)),
                _ if self.system.len() > before.0 => Some(End::System(before.0)),
                _ => None,
            });
        }
        self.trim_end();
        Ok(())
    }

    /// Whether a file at the provider is named.
    pub(super) fn names_files(&self) -> bool {
        self.list.iter().flat_map(|turn| &turn.content).any(names_file)
    }

    fn last_block(&self) -> Option<(usize, usize)> {
        let turn = self.list.len().checked_sub(1)?;
        Some((turn, self.list[turn].content.len() - 1))
    }

    /// Adds a block to the turn on its way if it is of `role`, else to a new one: turns take turns.
    fn add(&mut self, role: Role, block: Block<'a>) {
        if let Block::Text { text, .. } = &block
            && text.trim().is_empty()
        {
            return; // refused by the API
        }
        match self.list.last_mut() {
            Some(turn) if turn.role == role => turn.content.push(block),
            _ => self.list.push(Turn { role, content: vec![block] }),
        }
    }

    fn words(&mut self, role: Role, text: &'a str) {
        self.add(role, Block::text(text));
    }

    fn content(&self, content: &'a Content) -> Result<Block<'a>, Unencodable> {
        match content {
            Content::Text(text) => Ok(Block::text(text.as_str())),
            Content::Media(media) => media::block(media, self.card, self.quirks),
        }
    }

    /// One answer, and the results of its calls in a user's turn right after it.
    ///
    /// What this model made goes back in its own order, signed thoughts and the provider's own blocks unchanged.
    /// Of another model's turn thoughts and such blocks are left out, and calls follow the words.
    fn assistant(&mut self, message: &'a AssistantMessage, is_last: bool) -> Result<(), Unencodable> {
        let model = &self.card.id;
        let unanswered = Unanswered::of(message, model);
        let own = is_own(message.model.as_ref(), model);
        let (mut blocks, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for part in &message.parts {
            match part {
                Part::Text(text) => blocks.push(Block::text(text.as_str())),
                Part::Reasoning(reasoning) => blocks.extend(self.thought(reasoning)),
                Part::Native(native) => {
                    if native.model == *model && (is_last || !unanswered.has(&native.item)) {
                        blocks.push(Block::Native(&native.item));
                    }
                }
                Part::Media(media) => {
                    blocks.push(Block::text(format!("[{}]", crate::dialect::replay::label(media))));
                }
                Part::Exchange(exchange) => {
                    self.calls += 1;
                    let id = format!("call{:05}", self.calls);
                    results.push(self.result(&id, exchange)?);
                    let call = call(id, exchange, own)?;
                    if own { &mut blocks } else { &mut calls }.push(call);
                }
            }
        }
        blocks.append(&mut calls);
        // The API refuses an answer that ends in thoughts: that one broke off before it said more.
        let thoughts = |block: &Block<'_>| match block {
            Block::Thinking { .. } => true,
            Block::Native(item) => kind(item).as_deref() == Some("redacted_thinking"),
            _ => false,
        };
        blocks.retain(|block| !matches!(block, Block::Text { text, .. } if text.trim().is_empty()));
        while blocks.pop_if(|block| thoughts(block)).is_some() {}
        if blocks.is_empty() {
            return Ok(()); // nothing but thoughts, or nothing at all
        }
        if self.fill == Fill::BlankThought
            && !blocks.iter().any(|block| matches!(block, Block::Thinking { .. }))
        {
            self.add(Role::Assistant, Block::Thinking { thinking: " ", signature: "" });
        }
        for block in blocks {
            self.add(Role::Assistant, block);
        }
        for result in results {
            self.add(Role::User, result);
        }
        Ok(())
    }

    /// Thoughts go back to the model that had them, if they are signed or nobody asks for a signature.
    fn thought(&self, reasoning: &'a Reasoning) -> Option<Block<'a>> {
        let signature = reasoning.signature.as_deref();
        let unsigned = self.quirks.has(Quirk::ThinkingInEveryTurn) && !reasoning.text.is_empty();
        let wanted = is_own(reasoning.model.as_ref(), &self.card.id) && (signature.is_some() || unsigned);
        wanted
            .then(|| Block::Thinking { thinking: &reasoning.text, signature: signature.unwrap_or_default() })
    }

    fn result(&self, id: &str, exchange: &'a Exchange) -> Result<Block<'a>, Unencodable> {
        let mut content = Vec::new();
        let mut is_error = true;
        match &exchange.result {
            None => content.push(Block::text(INTERRUPTED)),
            Some(result) => {
                is_error = result.outcome != ToolOutcome::Success;
                for part in &result.content {
                    content.push(self.content(part)?);
                }
                content.retain(|block| !matches!(block, Block::Text { text, .. } if text.trim().is_empty()));
            }
        }
        Ok(Block::ToolResult { tool_use_id: id.to_owned(), content, is_error, cache_control: None })
    }

    /// An answer to be continued must not end in white space.
    fn trim_end(&mut self) {
        if let Some(turn) = self.list.last_mut()
            && turn.role == Role::Assistant
            && let Some(Block::Text { text, .. }) = turn.content.last_mut()
        {
            let end = text.trim_end().len();
            match text {
                std::borrow::Cow::Borrowed(text) => *text = &text[..end],
                std::borrow::Cow::Owned(text) => text.truncate(end),
            }
        }
    }
}

fn call(id: String, exchange: &Exchange, own: bool) -> Result<Block<'_>, Unencodable> {
    Ok(Block::ToolUse {
        id,
        name: &exchange.call.name,
        input: sendable_arguments(&exchange.call.arguments)?,
        caller: exchange.call.signature.as_deref().filter(|_| own).and_then(object),
        cache_control: None,
    })
}

fn names_file(block: &Block<'_>) -> bool {
    match block {
        Block::Image { source, .. } | Block::Document { source, .. } => matches!(source, Source::File { .. }),
        Block::ToolResult { content, .. } => content.iter().any(names_file),
        Block::Text { .. } | Block::Thinking { .. } | Block::ToolUse { .. } | Block::Native(_) => false,
    }
}

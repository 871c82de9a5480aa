//! The messages of a request, one entry each on the wire, and one more for each result of a tool.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::{
    AssistantMessage, Content, Exchange, Message, ModelCard, ModelId, NativeItem, Part, Reasoning, ToolResult,
};

use super::{
    media::Shown,
    request::{CacheControl, Call, CalledFunction, Entry, ExtraContent, Piece, Signed, Words},
};
use crate::{
    CacheLifetime, CacheMarks, PromptCache, Quirk, Quirks,
    dialect::{
        Unencodable,
        replay::{INTERRUPTED, is_own, joined, label, not_shown, object},
    },
};

/// So many marks of the prompt cache are taken; the last ones hold the most.
const MOST_MARKS: usize = 4;

/// Writes messages one after the other.
pub(super) struct Entries<'a> {
    card: &'a ModelCard,
    quirks: &'a Quirks,
    list: Vec<Entry<'a>>,
    calls: usize,
    /// Media that the message they belong to cannot hold: they lead the next message of a person.
    waiting: Vec<Piece<'a>>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(card: &'a ModelCard, quirks: &'a Quirks) -> Self {
        Self { card, quirks, list: Vec::new(), calls: 0, waiting: Vec::new() }
    }

    /// All of `messages`, with the marks of the prompt cache where the provider takes them.
    pub(super) fn all(
        mut self,
        messages: &'a [Message],
        cache: &PromptCache,
    ) -> Result<Vec<Entry<'a>>, Unencodable> {
        self.list.reserve(messages.len() + 4);
        let mut ends = Vec::with_capacity(messages.len());
        for message in messages {
            self.push(message)?;
            ends.push(self.list.len());
        }
        self.flush();
        if self.list.is_empty() {
            return Err(Unencodable::NoMessage);
        }
        if self.quirks.has(Quirk::CacheControl) {
            self.mark(cache, &ends);
        }
        Ok(self.list)
    }

    fn shown(&self) -> Shown<'a> {
        Shown { card: self.card, quirks: self.quirks }
    }

    fn push(&mut self, message: &'a Message) -> Result<(), Unencodable> {
        match message {
            Message::System(message) => {
                self.flush();
                let content = Words::Plain(Cow::Borrowed(&message.text));
                let developer = self.card.abilities.reasoning && self.quirks.has(Quirk::DeveloperRole);
                self.list.push(if developer {
                    Entry::Developer { content }
                } else {
                    Entry::System { content }
                });
            }
            Message::User(message) => {
                let mut content = self.words(&message.content)?;
                if !self.waiting.is_empty() {
                    let mut pieces = std::mem::take(&mut self.waiting);
                    match content {
                        Words::Plain(text) if text.is_empty() => {}
                        Words::Plain(text) => pieces.push(Piece::text(text)),
                        Words::Parts(parts) => pieces.extend(parts),
                    }
                    content = Words::Parts(pieces);
                }
                self.list.push(Entry::User { content });
            }
            Message::Assistant(message) => {
                self.flush();
                self.assistant(message)?;
            }
        }
        Ok(())
    }

    /// Gives media that wait a message of their own: nobody else speaks next.
    fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let content = Words::Parts(std::mem::take(&mut self.waiting));
            self.list.push(Entry::User { content });
        }
    }

    /// Many servers know plain strings only: parts are used where something but text is to be said.
    fn words(&self, content: &'a [Content]) -> Result<Words<'a>, Unencodable> {
        let shown = self.shown();
        let has_media = content.iter().any(|content| match content {
            Content::Text(_) => false,
            Content::Media(media) => shown.reads(media),
        });
        if has_media {
            // Some servers refuse a piece of text without any.
            let said =
                content.iter().filter(|content| !matches!(content, Content::Text(text) if text.is_empty()));
            let pieces = said.map(|content| match content {
                Content::Text(text) => Ok(Piece::text(text.as_str())),
                Content::Media(media) => shown.piece(media),
            });
            return pieces.collect::<Result<_, _>>().map(Words::Parts);
        }
        Ok(Words::Plain(joined(content.iter().map(|content| match content {
            Content::Text(text) => Cow::Borrowed(text.as_str()),
            Content::Media(media) => Cow::Owned(not_shown(media)),
        }))))
    }

    fn assistant(&mut self, message: &'a AssistantMessage) -> Result<(), Unencodable> {
        let exchanges: Vec<&'a Exchange> = message.exchanges().collect();
        let thoughts = self.thoughts(message);
        let reasoning_details = self.details(message);
        let text = self.own_words(message)?;
        let silent = thoughts.as_deref().is_none_or(str::is_empty) && reasoning_details.is_empty();
        if text.is_empty() && exchanges.is_empty() && silent {
            return Ok(()); // an answer of nothing: no provider takes one
        }
        let text =
            if text.is_empty() && self.quirks.has(Quirk::BlankAssistantText) { " ".into() } else { text };
        let (content, reasoning_content) = match thoughts {
            Some(thoughts) if self.quirks.has(Quirk::ThinkingBlocks) => {
                let blocks = [Piece::thinking(thoughts), Piece::text(text)];
                let blocks = blocks.into_iter().filter(|block| match block {
                    Piece::Text { text, .. } => !text.is_empty(),
                    _ => true,
                });
                (Words::Parts(blocks.collect()), None)
            }
            thoughts => (Words::Plain(text), thoughts),
        };
        let first = self.calls + 1;
        self.calls += exchanges.len();
        let id = |place: usize| format!("call{:05}", first + place);
        let signed =
            self.quirks.has(Quirk::ThoughtSignatures) && is_own(message.model.as_ref(), &self.card.id);
        let tool_calls = exchanges.iter().enumerate().map(|(place, exchange)| Call {
            id: id(place),
            r#type: "function",
            function: CalledFunction {
                name: &exchange.call.name,
                arguments: sendable_arguments(&exchange.call.arguments),
            },
            extra_content: exchange
                .call
                .signature
                .as_deref()
                .filter(|_| signed)
                .map(|thought_signature| ExtraContent { google: Signed { thought_signature } }),
        });
        let tool_calls = tool_calls.collect();
        self.list.push(Entry::Assistant { content, reasoning_content, reasoning_details, tool_calls });
        for (place, exchange) in exchanges.iter().enumerate() {
            let content = match &exchange.result {
                Some(result) => self.result(result, &id(place))?,
                None => Words::Plain(Cow::Borrowed(INTERRUPTED)),
            };
            self.list.push(Entry::Tool { tool_call_id: id(place), content });
        }
        Ok(())
    }

    /// A result in words. Media go into it where the provider takes them there; else a note says that they
    /// follow, and the next message of a person begins with them.
    fn result(&mut self, result: &'a ToolResult, id: &str) -> Result<Words<'a>, Unencodable> {
        if self.quirks.has(Quirk::MediaInToolResults) {
            return self.words(&result.content);
        }
        let shown = self.shown();
        let mut lines = Vec::with_capacity(result.content.len());
        for content in &result.content {
            lines.push(match content {
                Content::Text(text) => Cow::Borrowed(text.as_str()),
                Content::Media(media) if shown.reads(media) => {
                    let name = label(media);
                    self.waiting.push(Piece::text(format!("[{name}, from the result of {id}]")));
                    self.waiting.push(shown.piece(media)?);
                    Cow::Owned(format!("[{name} follows below]"))
                }
                Content::Media(media) => Cow::Owned(not_shown(media)),
            });
        }
        Ok(Words::Plain(joined(lines)))
    }

    /// The answer's text. This dialect has no media in what an assistant said: a picture that the model can see
    /// leads the next message of a person, of anything else there is a note.
    fn own_words(&mut self, message: &'a AssistantMessage) -> Result<Cow<'a, str>, Unencodable> {
        let shown = self.shown();
        let mut lines = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) if !text.is_empty() => lines.push(Cow::Borrowed(text.as_str())),
                Part::Media(media) if shown.reads(media) => {
                    let name = label(media);
                    self.waiting.push(Piece::text(format!("[{name}, made by the assistant]")));
                    self.waiting.push(shown.piece(media)?);
                    lines.push(Cow::Owned(format!("[{name} follows below]")));
                }
                Part::Media(media) => lines.push(Cow::Owned(format!("[{}]", label(media)))),
                Part::Text(_) | Part::Reasoning(_) | Part::Exchange(_) | Part::Native(_) => {}
            }
        }
        Ok(joined(lines))
    }

    /// The thoughts to send back, for providers that want them as plain text.
    ///
    /// They go to any model of the provider that made them, not only to the same one: they are readable words
    /// without a signature, nothing ties them to a model, and the fast and the thorough model of such a
    /// provider are often one. A model that reasons wants the field in each of its turns, be it empty.
    fn thoughts(&self, message: &'a AssistantMessage) -> Option<Cow<'a, str>> {
        let every_turn = self.quirks.has(Quirk::ReasoningContentReplay);
        if !every_turn && !self.quirks.has(Quirk::ThinkingBlocks) {
            return None;
        }
        let mut texts = message.parts.iter().filter_map(|part| match part {
            Part::Reasoning(Reasoning { text, model, .. })
                if !text.is_empty() && self.knows(model.as_ref()) =>
            {
                Some(text.as_str())
            }
            _ => None,
        });
        let Some(first) = texts.next() else {
            return (every_turn && self.card.abilities.reasoning).then_some(Cow::Borrowed(""));
        };
        let mut all = Cow::Borrowed(first);
        texts.for_each(|text| all.to_mut().push_str(text));
        Some(all)
    }

    /// Details of reasoning as they came, opaque: for the model that made them and for no other.
    fn details(&self, message: &'a AssistantMessage) -> Vec<&'a RawValue> {
        if !self.quirks.has(Quirk::ReasoningDetails) {
            return Vec::new();
        }
        let items = message.parts.iter().filter_map(|part| match part {
            Part::Native(NativeItem { model, item }) if is_own(Some(model), &self.card.id) => {
                serde_json::from_str::<Details<'_>>(item.as_str()).ok()
            }
            _ => None,
        });
        items.flat_map(|details| details.reasoning_details).collect()
    }

    /// Whether it is a model of this provider, as far as is known.
    fn knows(&self, model: Option<&ModelId>) -> bool {
        model.is_none_or(|model| model.provider() == self.card.id.provider())
    }

    /// Marks where cached prefixes end. The order of a prompt is tools, system messages, the rest: a mark in
    /// the last system message holds the tools, too.
    fn mark(&mut self, cache: &PromptCache, ends: &[usize]) {
        let ttl = match cache.lifetime {
            CacheLifetime::Minutes => None,
            CacheLifetime::Hour => Some("1h"),
        };
        let mark = CacheControl { r#type: "ephemeral", ttl };
        let mut places: Vec<usize> = match &cache.marks {
            CacheMarks::Off => return,
            CacheMarks::Automatic => {
                let operator =
                    |entry: &&Entry<'_>| matches!(entry, Entry::System { .. } | Entry::Developer { .. });
                vec![self.list.iter().take_while(operator).count(), self.list.len()]
            }
            CacheMarks::After(places) => {
                places.iter().filter_map(|place| ends.get(*place).copied()).collect()
            }
        };
        places.sort_unstable();
        places.dedup();
        places.retain(|end| *end > 0);
        for end in places.iter().rev().take(MOST_MARKS) {
            let content = self.list[end - 1].content_mut();
            if let Words::Plain(text) = content {
                if text.is_empty() {
                    continue; // an empty text cannot be marked
                }
                *content = Words::Parts(vec![Piece::text(std::mem::take(text))]);
            }
            let Words::Parts(pieces) = content else { continue };
            let texts = pieces.iter_mut().rev().find_map(|piece| match piece {
                Piece::Text { cache_control, .. } => Some(cache_control),
                _ => None,
            });
            if let Some(cache_control) = texts {
                *cache_control = Some(mark);
            }
        }
    }
}

/// The native item of this dialect.
#[derive(Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    reasoning_details: Vec<&'a RawValue>,
}

/// The arguments as they are if they are a JSON object; else an object that holds them.
fn sendable_arguments(arguments: &str) -> Cow<'_, str> {
    if arguments.trim().is_empty() {
        Cow::Borrowed("{}")
    } else if object(arguments).is_some() {
        Cow::Borrowed(arguments)
    } else {
        Cow::Owned(serde_json::json!({ "unparsed_arguments": arguments }).to_string())
    }
}

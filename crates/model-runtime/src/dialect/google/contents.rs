use std::borrow::Cow;

use thermidor_types::{
    AssistantMessage, Content, Exchange, Media, MediaSource, Message, ModelCard, Part as Said, Reasoning,
    ToolOutcome,
};

use super::request::{
    FileData, FunctionCall, FunctionResponse, InlineData, Part, Piece, Response, Role, Turn,
};
use crate::{
    Quirk, Quirks,
    dialect::{
        Unencodable,
        replay::{
            INTERRUPTED, is_own, is_readable, label, not_shown, object, result_words, sendable_arguments,
        },
    },
};

/// Stands for the signature of a call that another model made, where a call must have one.
const FILLER: &str = "skip_thought_signature_validator";

/// The conversation as turns of two roles.
///
/// Neighbours of one role are one turn; only the results of calls stay by themselves, as the service counts
/// them against the calls of the turn before.
pub(super) struct Contents<'a> {
    card: &'a ModelCard,
    quirks: &'a Quirks,
    turns: Vec<Turn<'a>>,
    /// Whether the last turn may grow.
    open: bool,
}

impl<'a> Contents<'a> {
    pub(super) fn new(card: &'a ModelCard, quirks: &'a Quirks) -> Self {
        Self { card, quirks, turns: Vec::new(), open: false }
    }

    pub(super) fn into_turns(self) -> Vec<Turn<'a>> {
        self.turns
    }

    pub(super) fn push(&mut self, message: &'a Message) -> Result<(), Unencodable> {
        match message {
            Message::System(message) => {
                let parts = if message.text.is_empty() { vec![] } else { vec![words(message.text.as_str())] };
                self.turn(Role::User, parts);
            }
            Message::User(message) => {
                let said = message.content.iter().filter(|content| !is_empty(content));
                let parts = said.map(|content| self.content(content));
                let parts = parts.collect::<Result<_, _>>()?;
                self.turn(Role::User, parts);
            }
            Message::Assistant(message) => self.assistant(message)?,
        }
        Ok(())
    }

    /// Adds parts to the turn on its way, or begins one: a turn without parts is refused.
    fn turn(&mut self, role: Role, parts: Vec<Piece<'a>>) {
        if parts.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(last) if self.open && last.role == role => last.parts.extend(parts),
            _ => self.turns.push(Turn { role, parts }),
        }
        self.open = true;
    }

    /// Whether the model gets the medium as it is: some generations fetch no addresses.
    fn reads(&self, media: &Media) -> bool {
        let remote = matches!(&media.source, MediaSource::Url(url) if !url.starts_with("data:"));
        is_readable(self.card, &media.media_type) && !(remote && self.quirks.has(Quirk::InlineMedia))
    }

    fn content(&self, content: &'a Content) -> Result<Piece<'a>, Unencodable> {
        match content {
            Content::Text(text) => Ok(words(text.as_str())),
            Content::Media(media) if self.reads(media) => {
                medium(media).map(|part| Piece::Part(Box::new(part)))
            }
            Content::Media(media) => Ok(words(not_shown(media))),
        }
    }

    fn assistant(&mut self, message: &'a AssistantMessage) -> Result<(), Unencodable> {
        let own = is_own(message.model.as_ref(), &self.card.id);
        let mut parts: Vec<Piece<'a>> = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            match part {
                Said::Text(text) if text.is_empty() => {}
                Said::Text(text) => parts.push(words(text.as_str())),
                Said::Reasoning(reasoning) => self.reasoning(reasoning, &mut parts),
                Said::Exchange(exchange) => {
                    let call = call(exchange, own)?;
                    parts.push(Piece::Part(Box::new(call)));
                }
                Said::Media(media) if own || self.reads(media) => {
                    parts.push(Piece::Part(Box::new(medium(media)?)));
                }
                Said::Media(media) => parts.push(words(not_shown(media))),
                Said::Native(item) if item.model == self.card.id => parts.push(Piece::Native(&item.item)),
                Said::Native(_) => {}
            }
        }
        if self.quirks.has(Quirk::ThoughtSignatures) {
            fill_signature(&mut parts);
        }
        self.turn(Role::Model, parts);
        self.results(message, own)
    }

    /// Thoughts go back to the model that thought them. A signature without thoughts belongs to what came
    /// before it: on a medium it is sent with the medium, after words in a part of its own.
    fn reasoning(&self, reasoning: &'a Reasoning, parts: &mut Vec<Piece<'a>>) {
        if !is_own(reasoning.model.as_ref(), &self.card.id) {
            return;
        }
        let signature = reasoning.signature.as_deref();
        if reasoning.text.is_empty() {
            match parts.last_mut() {
                Some(Piece::Part(part)) if part.is_medium() && part.thought_signature.is_none() => {
                    part.thought_signature = signature;
                }
                _ if signature.is_some() => {
                    let part = Part { thought_signature: signature, ..Part::words("") };
                    parts.push(Piece::Part(Box::new(part)));
                }
                _ => {}
            }
        } else {
            let words = Part::words(reasoning.text.as_str());
            let part = Part { thought: Some(true), thought_signature: signature, ..words };
            parts.push(Piece::Part(Box::new(part)));
        }
    }

    /// The results of one turn, in the order of its calls. Their media are in them, or follow them.
    fn results(&mut self, message: &'a AssistantMessage, own: bool) -> Result<(), Unencodable> {
        let (mut parts, mut following) = (Vec::new(), Vec::new());
        for exchange in message.exchanges() {
            let mut media = Vec::new();
            for content in exchange.result.iter().flat_map(|result| &result.content) {
                if let Content::Media(_) = content {
                    media.push(self.content(content)?);
                }
            }
            let inside = self.quirks.has(Quirk::MediaInToolResults)
                && media.iter().all(|piece| matches!(piece, Piece::Part(part) if part.is_medium()));
            if !inside {
                following.append(&mut media);
            }
            let response = FunctionResponse {
                id: exchange.call.wire_id.as_deref().filter(|_| own),
                name: &exchange.call.name,
                response: response(exchange),
                parts: media,
            };
            parts.push(Piece::Part(Box::new(Part { function_response: Some(response), ..Part::default() })));
        }
        if !parts.is_empty() {
            parts.append(&mut following);
            self.open = false;
            self.turn(Role::User, parts);
            self.open = false;
        }
        Ok(())
    }
}

/// Calls made elsewhere have no signature; the service wants one on the first call of a turn, and takes a
/// word in its place.
fn fill_signature(parts: &mut [Piece<'_>]) {
    let mut calls = parts.iter_mut().filter_map(|piece| match piece {
        Piece::Part(part) if part.function_call.is_some() => Some(part),
        Piece::Part(_) | Piece::Native(_) => None,
    });
    if let Some(first) = calls.next()
        && first.thought_signature.is_none()
        && calls.all(|call| call.thought_signature.is_none())
    {
        first.thought_signature = Some(FILLER);
    }
}

fn call(exchange: &Exchange, own: bool) -> Result<Part<'_>, Unencodable> {
    let call = &exchange.call;
    Ok(Part {
        function_call: Some(FunctionCall {
            id: call.wire_id.as_deref().filter(|_| own),
            name: &call.name,
            args: sendable_arguments(&call.arguments)?,
        }),
        thought_signature: call.signature.as_deref().filter(|_| own),
        ..Part::default()
    })
}

/// Words of nothing: a part without any is refused.
fn is_empty(content: &Content) -> bool {
    matches!(content, Content::Text(text) if text.is_empty())
}

fn response(exchange: &Exchange) -> Response<'_> {
    let Some(result) = &exchange.result else { return Response::Error(Cow::Borrowed(INTERRUPTED)) };
    match (result_words(result), result.outcome) {
        (words, ToolOutcome::Success) => match words {
            Cow::Borrowed(text) => object(text).map_or(Response::Result(words), Response::Object),
            Cow::Owned(text) => Response::Result(Cow::Owned(text)),
        },
        (words, _) => Response::Error(words),
    }
}

fn words<'a>(text: impl Into<Cow<'a, str>>) -> Piece<'a> {
    Piece::Part(Box::new(Part::words(text)))
}

/// A medium as it is; an address that holds the bytes itself (RFC 2397) is taken apart.
fn medium(media: &Media) -> Result<Part<'_>, Unencodable> {
    let mime_type = media.media_type.as_str();
    let inline =
        |mime_type, data| Part { inline_data: Some(InlineData { mime_type, data }), ..Part::default() };
    match &media.source {
        MediaSource::Blob { .. } => Err(Unencodable::UnresolvedBlob(label(media))),
        MediaSource::Base64(data) => Ok(inline(mime_type, data)),
        MediaSource::Url(url) => {
            Ok(match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                Some((mime_type, data)) => inline(mime_type, data),
                None => Part { file_data: Some(FileData { mime_type, file_uri: url }), ..Part::default() },
            })
        }
    }
}

impl<'a> Part<'a> {
    pub(super) fn words(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    fn is_medium(&self) -> bool {
        self.inline_data.is_some() || self.file_data.is_some()
    }
}

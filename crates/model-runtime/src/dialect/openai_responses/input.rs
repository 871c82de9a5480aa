use std::{borrow::Cow, collections::HashSet};

use thermidor_types::{
    AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, Part, ToolResult,
    media_kind,
};

use super::{
    item::{Replay, replay},
    request::{Answered, Audio, Called, Item, Message as Said, Piece, Words},
};
use crate::{
    Quirk, Quirks,
    dialect::{
        Unencodable,
        openai_chat::media::audio_format,
        replay::{INTERRUPTED, is_own, is_readable, label, not_shown, result_words, sendable_arguments},
    },
};

/// The history as items.
pub(super) struct Input<'a> {
    card: &'a ModelCard,
    quirks: &'a Quirks,
    items: Vec<Item<'a>>,
    ids: CallIds<'a>,
}

impl<'a> Input<'a> {
    pub(super) fn new(card: &'a ModelCard, quirks: &'a Quirks) -> Self {
        Self { card, quirks, items: Vec::new(), ids: CallIds::default() }
    }

    pub(super) fn items(self) -> Vec<Item<'a>> {
        self.items
    }

    pub(super) fn push(&mut self, message: &'a Message) -> Result<(), Unencodable> {
        match message {
            Message::System(message) => {
                let developer = self.card.abilities.reasoning && self.quirks.has(Quirk::DeveloperRole);
                self.say(if developer { "developer" } else { "system" }, &message.text);
            }
            Message::User(message) => {
                let content = self.words(&message.content)?;
                self.items.push(Item::Message(Said::new("user", content)));
            }
            Message::Assistant(message) => self.assistant(message)?,
        }
        Ok(())
    }

    fn say(&mut self, role: &'static str, text: &'a str) {
        self.items.push(Item::Message(Said::new(role, Words::Plain(Cow::Borrowed(text)))));
    }

    /// One text is a plain string, which every server takes; anything more a list.
    fn words(&self, content: &'a [Content]) -> Result<Words<'a>, Unencodable> {
        match content {
            [] => Ok(Words::Plain(Cow::Borrowed(""))),
            [Content::Text(text)] => Ok(Words::Plain(Cow::Borrowed(text))),
            _ => {
                content.iter().map(|content| self.piece(content)).collect::<Result<_, _>>().map(Words::Parts)
            }
        }
    }

    fn piece(&self, content: &'a Content) -> Result<Piece<'a>, Unencodable> {
        match content {
            Content::Text(text) => Ok(Piece::Text { text: Cow::Borrowed(text) }),
            Content::Media(media) if self.is_sent(media) => Self::media(media),
            Content::Media(media) => Ok(Piece::Text { text: Cow::Owned(not_shown(media)) }),
        }
    }

    /// Whether this model gets the medium: audio travels inside the request only, video has no form.
    fn is_sent(&self, media: &Media) -> bool {
        let form = match (media_kind(&media.media_type), &media.source) {
            ("video", _) | ("audio", MediaSource::Url(_)) => false,
            (_, MediaSource::Url(_)) => !self.quirks.has(Quirk::InlineMedia),
            (_, MediaSource::Base64(_) | MediaSource::Blob { .. }) => true,
        };
        form && is_readable(self.card, &media.media_type)
    }

    fn media(media: &'a Media) -> Result<Piece<'a>, Unencodable> {
        let data_url = |data: &str| format!("data:{};base64,{data}", media.media_type);
        let name = media.name.as_deref();
        Ok(match (media_kind(&media.media_type), &media.source) {
            (_, MediaSource::Blob { .. }) => return Err(Unencodable::UnresolvedBlob(label(media))),
            ("image", MediaSource::Url(url)) => {
                Piece::Image { image_url: Cow::Borrowed(url), detail: "auto" }
            }
            ("image", MediaSource::Base64(data)) => {
                Piece::Image { image_url: Cow::Owned(data_url(data)), detail: "auto" }
            }
            ("audio", MediaSource::Base64(data)) => {
                let format = audio_format(&media.media_type);
                Piece::Audio { input_audio: Audio { data, format } }
            }
            (_, MediaSource::Url(url)) => {
                Piece::File { filename: None, file_data: None, file_url: Some(url) }
            }
            (_, MediaSource::Base64(data)) => Piece::File {
                filename: Some(name.unwrap_or("file")),
                file_data: Some(data_url(data)),
                file_url: None,
            },
        })
    }

    /// The answer's items in their order, then the results of its calls.
    ///
    /// The API refuses reasoning without the item that it led to: reasoning waits here for what follows.
    fn assistant(&mut self, message: &'a AssistantMessage) -> Result<(), Unencodable> {
        let mut waiting: Vec<&Json> = Vec::new();
        let mut calls: Vec<(Cow<'a, str>, &Exchange)> = Vec::new();
        for part in &message.parts {
            let item = match part {
                Part::Text(text) if !text.is_empty() => said(Cow::Borrowed(text)),
                Part::Media(media) => said(Cow::Owned(format!("[{}]", label(media)))),
                Part::Text(_) | Part::Reasoning(_) => continue,
                Part::Native(native) if !is_own(Some(&native.model), &self.card.id) => continue,
                Part::Native(native) => match replay(&native.item, self.quirks) {
                    Replay::Reasoning => {
                        waiting.push(&native.item);
                        continue;
                    }
                    Replay::Item => Item::Native(&native.item),
                    Replay::Never => {
                        waiting.clear();
                        continue;
                    }
                },
                Part::Exchange(exchange) => {
                    let own = is_own(message.model.as_ref(), &self.card.id);
                    let wire_id = exchange.call.wire_id.as_deref().filter(|_| own);
                    let id = self.ids.next(wire_id);
                    calls.push((id.clone(), exchange));
                    let arguments = match sendable_arguments(&exchange.call.arguments)? {
                        Cow::Borrowed(arguments) => Cow::Borrowed(arguments.get()),
                        Cow::Owned(arguments) => Cow::Owned(String::from(Box::<str>::from(arguments))),
                    };
                    Item::Call(Called::new(id, &exchange.call.name, arguments))
                }
            };
            self.items.extend(waiting.drain(..).map(Item::Native));
            self.items.push(item);
        }
        for (id, exchange) in calls {
            let output = match &exchange.result {
                Some(result) => self.output(result)?,
                None => Words::Plain(Cow::Borrowed(INTERRUPTED)),
            };
            self.items.push(Item::Output(Answered::new(id, output)));
        }
        Ok(())
    }

    /// Words alone are a string, which every server takes; with media they are a list.
    fn output(&self, result: &'a ToolResult) -> Result<Words<'a>, Unencodable> {
        let has_media = |content: &Content| matches!(content, Content::Media(_));
        if result.content.iter().any(has_media) {
            self.words(&result.content)
        } else {
            Ok(Words::Plain(result_words(result)))
        }
    }
}

fn said(text: Cow<'_, str>) -> Item<'_> {
    Item::Message(Said::new("assistant", Words::Plain(text)))
}

/// Ids of calls, unique in one request: the provider's own where it made them, else `call00001`, `call00002`, ….
/// A growing history keeps its prefix.
#[derive(Default)]
struct CallIds<'a> {
    used: HashSet<Cow<'a, str>>,
    made: usize,
}

impl<'a> CallIds<'a> {
    fn next(&mut self, wire_id: Option<&'a str>) -> Cow<'a, str> {
        let wire_id = wire_id.filter(|id| !id.is_empty() && !self.used.contains(*id));
        let id = wire_id.map_or_else(|| self.made(), Cow::Borrowed);
        self.used.insert(id.clone());
        id
    }

    fn made(&mut self) -> Cow<'a, str> {
        loop {
            self.made += 1;
            let id = format!("call{:05}", self.made);
            if !self.used.contains(id.as_str()) {
                return Cow::Owned(id);
            }
        }
    }
}

use thermidor_types::{Abilities, Content, Media, Message, Part, media_kind};

use crate::{Draft, Error, Language, MessageProcessor, View};

/// Puts a note in the place of images, sounds and files that the model cannot read. The step's name is
/// `media-notes`.
///
/// Sounds need the ability `audio`, all else `vision`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediaNotes;

impl MessageProcessor for MediaNotes {
    fn name(&self) -> &'static str {
        "media-notes"
    }

    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error> {
        let (abilities, language) = (view.model.abilities, view.language);
        draft.rewrite("media the model cannot read became notes", |message| match message {
            Message::System(_) => None,
            Message::User(user) => {
                user.content.iter().any(|content| unreadable(content, abilities)).then(|| {
                    let mut user = user.clone();
                    user.content.iter_mut().for_each(|content| describe(content, abilities, language));
                    Message::User(user)
                })
            }
            Message::Assistant(answer) => {
                let results = answer
                    .exchanges()
                    .filter_map(|exchange| exchange.result.as_ref())
                    .flat_map(|result| &result.content);
                let made = answer
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Media(media) if !reads(abilities, media)));
                (made || results.into_iter().any(|content| unreadable(content, abilities))).then(|| {
                    let mut answer = answer.clone();
                    for part in &mut answer.parts {
                        match part {
                            Part::Media(media) if !reads(abilities, media) => {
                                *part = Part::text(note(media, language));
                            }
                            Part::Exchange(exchange) => {
                                let contents =
                                    exchange.result.iter_mut().flat_map(|result| &mut result.content);
                                contents.for_each(|content| describe(content, abilities, language));
                            }
                            Part::Media(_) | Part::Text(_) | Part::Reasoning(_) | Part::Native(_) => {}
                        }
                    }
                    Message::Assistant(answer)
                })
            }
        });
        Ok(())
    }
}

fn reads(abilities: Abilities, media: &Media) -> bool {
    if media_kind(&media.media_type) == "audio" { abilities.audio } else { abilities.vision }
}

fn unreadable(content: &Content, abilities: Abilities) -> bool {
    matches!(content, Content::Media(media) if !reads(abilities, media))
}

fn describe(content: &mut Content, abilities: Abilities, language: Language) {
    if let Content::Media(media) = content
        && !reads(abilities, media)
    {
        *content = Content::text(note(media, language));
    }
}

fn note(media: &Media, language: Language) -> String {
    let name = media.name.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
    let kind = &media.media_type;
    language.pick(
        format!("[a file{name} of type {kind} is not shown: this model cannot read it]"),
        format!("[文件{name}（类型 {kind}）未显示：此模型无法读取]"),
    )
}

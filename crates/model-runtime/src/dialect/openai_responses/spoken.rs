//! What of each item was said already: events repeat themselves.

use std::{borrow::Cow, collections::HashMap};

use serde_json::value::RawValue;
use smol_str::SmolStr;
use thermidor_types::{Citation, Json, Media, MediaSource, Text};

use super::event::{Annotation, Event, Item, Part, number};
use crate::dialect::{
    answer::Answer,
    calls::{CallDelta, Form},
    lenient::{arguments, list, string},
};

/// The items of an answer, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    all: Vec<Spoken>,
    /// The newest item of each index, and of each id.
    by_index: HashMap<i64, usize>,
    by_id: HashMap<SmolStr, usize>,
    /// The last item began without an id.
    last_is_nameless: bool,
}

/// How far one item has come.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// Its place among all items.
    place: i64,
    parts: Vec<SpokenPart>,
    /// Which form of reasoning speaks; the other one says the same.
    thoughts: Option<Thoughts>,
    /// The call has its name.
    named: bool,
    /// Some of the call's arguments were said.
    argued: bool,
    done: bool,
}

#[derive(Debug)]
struct SpokenPart {
    number: i64,
    /// Bytes of all text before its own.
    base: usize,
    /// So many of its citations were told.
    cited: usize,
}

/// The two forms in which reasoning is readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoughts {
    Summary,
    Text,
}

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The item that `event` belongs to: by its index; without one by its id, which some servers change between two
    /// events; else the last one.
    pub(super) fn of(&mut self, event: &Event<'_>) -> &mut Spoken {
        let (index, id) = (number(event.output_index), string(event.item_id));
        let found = match (index, &id) {
            (None, None) => self.all.len().checked_sub(1),
            _ => self.known(index, id.as_deref()),
        };
        match found {
            Some(place) => &mut self.all[place],
            None => self.push(index, id),
        }
    }

    /// The item that begins with `event`: an index of an item that is done stands for another one.
    pub(super) fn begun(&mut self, event: &Event<'_>, item: &Item<'_>) -> &mut Spoken {
        let (index, id) = (number(event.output_index), string(item.id));
        let last = || self.all.len().checked_sub(1).filter(|_| self.last_is_nameless);
        let known = match (index, &id) {
            (None, None) => last(),
            _ => self.known(index, id.as_deref()),
        };
        match known.filter(|place| !self.all[*place].done) {
            Some(place) => &mut self.all[place],
            None => self.push(index, id),
        }
    }

    /// The item at `index` of a whole answer.
    pub(super) fn at(&mut self, index: usize) -> &mut Spoken {
        self.push(i64::try_from(index).ok(), None)
    }

    /// The item that ends with `event`.
    pub(super) fn ended(&mut self, event: &Event<'_>, item: &Item<'_>) -> &mut Spoken {
        let (index, id) = (number(event.output_index), string(item.id));
        let by_id = id.as_deref().and_then(|id| self.known(None, Some(id)));
        match (index, by_id) {
            (None, Some(place)) => &mut self.all[place],
            (None, None) if self.all.last().is_none_or(|last| last.done) => self.push(None, id),
            _ => self.of(event),
        }
    }

    /// The newest item of `index`; without an index, of `id`.
    fn known(&self, index: Option<i64>, id: Option<&str>) -> Option<usize> {
        match (index, id) {
            (Some(index), _) => self.by_index.get(&index).copied(),
            (None, Some(id)) => self.by_id.get(id).copied(),
            (None, None) => None,
        }
    }

    fn push(&mut self, index: Option<i64>, id: Option<Cow<'_, str>>) -> &mut Spoken {
        let last = self.all.len();
        let id = id.as_deref().map(SmolStr::new);
        if let Some(index) = index {
            self.by_index.insert(index, last);
        }
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), last);
        }
        self.last_is_nameless = id.is_none();
        let place = i64::try_from(last).unwrap_or(i64::MAX);
        self.all.push(Spoken { place, ..Spoken::default() });
        &mut self.all[last]
    }
}

impl Spoken {
    /// The item begins: a call is known by its name from now on.
    pub(super) fn begin(&mut self, item: &Item<'_>, answer: &mut Answer) {
        answer.close_part();
        if string(item.kind).as_deref() == Some("function_call") {
            self.call(item, answer);
        }
    }

    /// The item is whole: says what was not said before, and keeps what only the provider understands.
    pub(super) fn end(&mut self, item: &Item<'_>, raw: &RawValue, answer: &mut Answer) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let kind = string(item.kind);
        match kind.as_deref() {
            Some("message") => self.parts(item.content, answer),
            None if item.role.is_some() => self.parts(item.content, answer),
            None => answer.unknown("an item without a type", raw.get()),
            Some("function_call") => self.call(item, answer),
            Some("reasoning") => {
                self.parts(item.summary, answer);
                self.parts(item.content, answer);
                answer.native(Json::from(raw.to_owned()));
            }
            Some("image_generation_call") if let Some(image) = string(item.result) => {
                answer.media(generated(&image, string(item.output_format).as_deref()));
            }
            Some(_) => answer.native(Json::from(raw.to_owned())),
        }
        answer.close_part();
    }

    /// The call as an item tells of it; arguments count once.
    fn call(&mut self, item: &Item<'_>, answer: &mut Answer) {
        let arguments = if self.argued { Cow::Borrowed("") } else { arguments(item.arguments) };
        self.argued |= !arguments.is_empty();
        let (id, name) = if self.named { (None, None) } else { (string(item.call_id), string(item.name)) };
        self.named |= name.is_some();
        answer.calls(
            [CallDelta { index: Some(self.place), id, name, arguments, signature: None }],
            Form::Fragments,
        );
    }

    /// The next fragment of a call's arguments.
    pub(super) fn argue(&mut self, fragment: Cow<'_, str>, answer: &mut Answer) {
        self.argued |= !fragment.is_empty();
        let delta = CallDelta { index: Some(self.place), arguments: fragment, ..CallDelta::default() };
        answer.calls([delta], Form::Fragments);
    }

    /// The whole arguments of a call, for servers that send no fragments.
    pub(super) fn argue_all(&mut self, whole: Cow<'_, str>, answer: &mut Answer) {
        if !self.argued {
            self.argue(whole, answer);
        }
    }

    /// More words of part `number`.
    pub(super) fn say(&mut self, number: i64, words: &str, answer: &mut Answer) {
        if self.part(number).is_none() {
            answer.close_part();
            self.parts.push(SpokenPart { number, base: answer.text_length(), cited: 0 });
        }
        answer.text(words);
    }

    /// The whole words of part `number`, for servers that send no deltas.
    pub(super) fn say_all(&mut self, number: i64, words: &str, answer: &mut Answer) {
        if self.part(number).is_none() {
            self.say(number, words, answer);
        }
    }

    /// More thoughts of part `number`; a blank line stands between two parts.
    pub(super) fn think(&mut self, form: Thoughts, number: i64, thoughts: &str, answer: &mut Answer) {
        if *self.thoughts.get_or_insert(form) != form {
            return;
        }
        if self.part(number).is_none() {
            if self.parts.is_empty() {
                answer.close_part();
            } else {
                answer.reasoning("\n\n");
            }
            self.parts.push(SpokenPart { number, base: 0, cited: 0 });
        }
        answer.reasoning(thoughts);
    }

    /// The whole thoughts of part `number`, for servers that send no deltas.
    pub(super) fn think_all(&mut self, form: Thoughts, number: i64, thoughts: &str, answer: &mut Answer) {
        if self.part(number).is_none() {
            self.think(form, number, thoughts, answer);
        }
    }

    fn part(&mut self, number: i64) -> Option<&mut SpokenPart> {
        self.parts.iter_mut().rfind(|part| part.number == number)
    }

    fn parts(&mut self, parts: Option<&RawValue>, answer: &mut Answer) {
        if let Some(words) = string(parts) {
            return self.say_all(0, &words, answer);
        }
        match list::<&RawValue>(parts) {
            Ok(parts) => {
                for (number, part) in (0..).zip(parts) {
                    self.whole_part(number, part, answer);
                }
            }
            Err(_) => answer.unknown("the content of an item", parts.map_or("", RawValue::get)),
        }
    }

    /// Part `number` as it is when it is whole.
    pub(super) fn whole_part(&mut self, number: i64, raw: &RawValue, answer: &mut Answer) {
        let Ok(part) = serde_json::from_str::<Part<'_>>(raw.get()) else {
            return answer.unknown("a part of an item", raw.get());
        };
        let text = string(part.text);
        match string(part.kind).as_deref() {
            Some("output_text" | "text") => {
                if let Some(text) = text {
                    self.say_all(number, &text, answer);
                }
                self.cite_all(number, part.annotations, answer);
            }
            Some("refusal") => {
                answer.refused();
                if let Some(refusal) = string(part.refusal) {
                    self.say_all(number, &refusal, answer);
                }
            }
            Some("summary_text") => {
                if let Some(text) = text {
                    self.think_all(Thoughts::Summary, number, &text, answer);
                }
            }
            Some("reasoning_text") => {
                if let Some(text) = text {
                    self.think_all(Thoughts::Text, number, &text, answer);
                }
            }
            kind => answer.unknown(&format!("a part of type {}", kind.unwrap_or("none")), raw.get()),
        }
    }

    fn cite_all(&mut self, number: i64, annotations: Option<&RawValue>, answer: &mut Answer) {
        let Ok(annotations) = list::<&RawValue>(annotations) else {
            return answer.unknown("annotations", annotations.map_or("", RawValue::get));
        };
        let told = self.part(number).map_or(0, |part| part.cited);
        for annotation in annotations.into_iter().skip(told) {
            self.cite(number, annotation, answer);
        }
    }

    /// A source of part `number`. Places in the text are counted in characters.
    pub(super) fn cite(&mut self, number: i64, raw: &RawValue, answer: &mut Answer) {
        let Ok(annotation) = serde_json::from_str::<Annotation<'_>>(raw.get()) else {
            return answer.unknown("an annotation", raw.get());
        };
        let part = self.part(number);
        let base = part.map(|part| {
            part.cited += 1;
            part.base
        });
        let place = |index| {
            let characters = usize::try_from(self::number(index)?).ok()?;
            answer.text_place(base?, characters)
        };
        let words = |raw| string(raw).map(|text| Text::from(&*text));
        let title = match string(annotation.kind).as_deref() {
            Some("url_citation") => words(annotation.title),
            Some("file_citation" | "container_file_citation" | "file_path") => {
                words(annotation.filename).or_else(|| words(annotation.file_id))
            }
            _ => return answer.unknown("an annotation", raw.get()),
        };
        let span = place(annotation.start_index)
            .zip(place(annotation.end_index))
            .filter(|(start, end)| start < end)
            .map(|(start, end)| start..end);
        answer.citation(Citation { url: words(annotation.url), title, quote: None, span });
    }
}

fn generated(image: &str, format: Option<&str>) -> Media {
    let media_type = match format {
        Some("jpeg" | "jpg") => "image/jpeg",
        Some("webp") => "image/webp",
        _ => "image/png",
    };
    Media { media_type: media_type.into(), source: MediaSource::Base64(image.into()), name: None }
}

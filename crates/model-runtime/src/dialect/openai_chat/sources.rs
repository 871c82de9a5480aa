//! The sources an answer names, wherever a provider puts them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use thermidor_types::{Citation, Text};

use super::chunk::{Chunk, Delta};
use crate::dialect::{
    answer::Answer,
    lenient::{count, list, string},
};

/// Sources so far. They are told at the end: many providers repeat them in every chunk, some tell the titles
/// last, and a span is in characters of a text that is known whole only then.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Sources of the whole answer by address, in the provider's order.
    named: IndexMap<Text, Citation>,
    /// Sources of some words of it, the words in characters.
    marked: IndexMap<(Text, Range<usize>), Citation>,
}

/// A source in any of its forms.
#[derive(Default, Deserialize)]
struct Source<'a> {
    #[serde(borrow, default)]
    url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    link: Option<&'a RawValue>,
    #[serde(borrow, default)]
    title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    snippet: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    start_index: Option<Number>,
    #[serde(default)]
    end_index: Option<Number>,
    /// The source is in here.
    #[serde(borrow, default)]
    url_citation: Option<&'a RawValue>,
}

/// An object around a list of sources.
#[derive(Deserialize)]
struct Holder<'a> {
    #[serde(borrow, default)]
    search_results: Option<&'a RawValue>,
    #[serde(borrow, default)]
    web_search_citations: Option<&'a RawValue>,
}

impl Sources {
    /// Reads all places of a chunk that hold sources; whether there were any.
    pub(super) fn of_chunk(&mut self, chunk: &Chunk<'_>) -> bool {
        let lists = [chunk.search_results, chunk.web_search, chunk.citations];
        let holders = [chunk.search_info, chunk.venice_parameters];
        if lists.iter().chain(&holders).all(Option::is_none) {
            return false;
        }
        let holders =
            holders.map(|raw| raw.and_then(|raw| serde_json::from_str::<Holder<'_>>(raw.get()).ok()));
        let held = holders
            .into_iter()
            .flatten()
            .flat_map(|holder| [holder.search_results, holder.web_search_citations]);
        let lists = lists.into_iter().chain(held).flatten();
        let mut found = false;
        for list in lists {
            found = true;
            self.read(Some(list));
        }
        found
    }

    /// Reads the sources that `MiniMax` puts on the last of the messages of a choice.
    pub(super) fn of_messages(&mut self, messages: Option<&RawValue>) {
        if let Some(message) = list::<Delta<'_>>(messages).ok().and_then(|mut messages| messages.pop()) {
            self.read(message.annotations);
        }
    }

    /// Reads a list of sources, bare addresses among them. One without address says nothing.
    pub(super) fn read(&mut self, sources: Option<&RawValue>) {
        for one in list::<&RawValue>(sources).unwrap_or_default() {
            if let Some(url) = string(Some(one)) {
                self.name(Citation { url: Some(url.as_ref().into()), ..Citation::default() });
                continue;
            }
            let Ok(mut source) = serde_json::from_str::<Source<'_>>(one.get()) else { continue };
            if let Some(inner) = source.url_citation.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
                source = inner;
            }
            let first = |fields: [Option<&RawValue>; 2]| fields.into_iter().find_map(string).map(owned);
            let Some(url) = first([source.url, source.link]) else { continue };
            let citation = Citation {
                url: Some(url.clone()),
                title: first([source.title, source.name]),
                quote: first([source.snippet, source.content]),
                span: None,
            };
            let place = |number: Option<&Number>| usize::try_from(count(number).0).unwrap_or(usize::MAX);
            let words = place(source.start_index.as_ref())..place(source.end_index.as_ref());
            if words.is_empty() {
                self.name(citation);
            } else {
                self.marked.entry((url, words)).or_insert(citation);
            }
        }
    }

    /// A source of the whole answer. One that is known already may get its title now.
    fn name(&mut self, citation: Citation) {
        let Some(url) = citation.url.clone() else { return };
        match self.named.get_mut(&url) {
            None => {
                self.named.insert(url, citation);
            }
            Some(known) => {
                known.title = known.title.take().or(citation.title);
                known.quote = known.quote.take().or(citation.quote);
            }
        }
    }

    /// Puts them into the answer, each once: a source that is named for some words stands for the same one named
    /// for the whole.
    pub(super) fn finish(&mut self, answer: &mut Answer) {
        let marked = std::mem::take(&mut self.marked);
        let places: BTreeSet<usize> = marked.keys().flat_map(|(_, words)| [words.start, words.end]).collect();
        let bytes = if places.is_empty() { BTreeMap::new() } else { answer.bytes_of_characters(&places) };
        let mut by_address: IndexMap<Text, Vec<Citation>> = IndexMap::new();
        for ((url, words), mut citation) in marked {
            citation.span = match (bytes.get(&words.start), bytes.get(&words.end)) {
                (Some(start), Some(end)) => Some(*start..*end),
                _ => None, // behind the end of the text: the source is one of the whole
            };
            by_address.entry(url).or_default().push(citation);
        }
        for (url, named) in std::mem::take(&mut self.named) {
            match by_address.get_mut(&url) {
                None => answer.citation(named),
                Some(places) => {
                    for citation in places.drain(..) {
                        let title = citation.title.or_else(|| named.title.clone());
                        let quote = citation.quote.or_else(|| named.quote.clone());
                        answer.citation(Citation { title, quote, ..citation });
                    }
                }
            }
        }
        by_address.into_values().flatten().for_each(|citation| answer.citation(citation));
    }
}

fn owned(text: Cow<'_, str>) -> Text {
    text.as_ref().into()
}

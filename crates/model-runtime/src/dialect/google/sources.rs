//! The sources that an answer names: of a search, of the caller's documents, of what the model knew by heart.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::Citation;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grounding {
    grounding_chunks: Vec<Source>,
    grounding_supports: Vec<Support>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Source {
    web: Option<Place>,
    retrieved_context: Option<Place>,
    maps: Option<Place>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Place {
    uri: Option<String>,
    title: Option<String>,
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<usize>,
}

/// Bytes of one part of the answer; the first one is left out where it is 0.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Segment {
    #[serde(rename = "partIndex")]
    part: usize,
    #[serde(rename = "startIndex")]
    start: usize,
    #[serde(rename = "endIndex")]
    end: usize,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Recitation {
    #[serde(alias = "citations")]
    citation_sources: Vec<Recited>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Recited {
    start_index: usize,
    end_index: usize,
    uri: Option<String>,
    title: Option<String>,
}

/// What a search found: each support with each of its sources, then the sources that support no words.
///
/// `parts` says where the parts of this event begin in the answer's words; a segment counts from its part.
pub(super) fn grounding(raw: &RawValue, parts: &[usize]) -> Result<Vec<Citation>, serde_json::Error> {
    let Grounding { grounding_chunks, grounding_supports } =
        serde_json::from_str::<Option<Grounding>>(raw.get())?.unwrap_or_default();
    let mut cited = vec![false; grounding_chunks.len()];
    let mut citations = Vec::new();
    for support in grounding_supports {
        let begin = parts.get(support.segment.part).copied().unwrap_or_default();
        let span = span(begin, support.segment.start, support.segment.end);
        for index in support.grounding_chunk_indices {
            if let Some(source) = grounding_chunks.get(index) {
                cited[index] = true;
                citations.push(Citation { span: span.clone(), ..source.citation() });
            }
        }
    }
    let uncited = grounding_chunks.iter().zip(cited).filter(|(_, cited)| !cited);
    citations.extend(uncited.map(|(source, _)| source.citation()));
    Ok(citations)
}

/// What the answer recites.
pub(super) fn recitation(raw: &RawValue) -> Result<Vec<Citation>, serde_json::Error> {
    let recitation = serde_json::from_str::<Option<Recitation>>(raw.get())?.unwrap_or_default();
    let citations = recitation.citation_sources.into_iter().map(|source| Citation {
        url: source.uri.map(Into::into),
        title: source.title.map(Into::into),
        quote: None,
        span: span(0, source.start_index, source.end_index),
    });
    Ok(citations.collect())
}

fn span(begin: usize, start: usize, end: usize) -> Option<Range<usize>> {
    (start < end).then(|| begin.saturating_add(start)..begin.saturating_add(end))
}

impl Source {
    fn citation(&self) -> Citation {
        let place = [&self.web, &self.retrieved_context, &self.maps].into_iter().flatten().next();
        let place = place.cloned().unwrap_or_default();
        Citation {
            url: place.uri.map(Into::into),
            title: place.title.map(Into::into),
            quote: place.text.map(Into::into),
            span: None,
        }
    }
}

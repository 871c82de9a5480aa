use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use smol_str::SmolStr;
use thermidor_types::{Citation, FailureKind, Json, Media, MediaSource};

use super::{
    chunk::{Candidate, Chunk, Feedback, Part},
    sources,
    usage::Figures,
};
use crate::dialect::{
    answer::{Answer, Stop},
    calls::{CallDelta, Form},
    fault::read_fault,
    lenient::{arguments, list, string},
    mapper::Mapper,
};

/// What an event, or a whole answer, means. Both have one shape.
#[derive(Debug, Default)]
pub(crate) struct ChunkMapper {
    figures: Figures,
}

impl Mapper for ChunkMapper {
    fn read(&mut self, _event: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                answer.unknown("an event that is no chunk", &String::from_utf8_lossy(data));
            }
            return json;
        };
        if chunk.error.is_some_and(|error| error.get() != "null") {
            answer.fault(read_fault(None, data));
            return true;
        }
        let usage = chunk.usage_metadata.is_some_and(|usage| self.usage(usage, answer));
        let candidates = list::<&RawValue>(chunk.candidates).unwrap_or_default();
        for candidate in &candidates {
            match serde_json::from_str::<Candidate<'_>>(candidate.get()) {
                Ok(candidate) => self::candidate(&candidate, answer),
                Err(_) => answer.unknown("a candidate", candidate.get()),
            }
        }
        let refused = chunk.prompt_feedback.is_some_and(|feedback| refusal(&feedback, answer));
        let known = usage || refused || !candidates.is_empty();
        if !known && chunk.response_id.is_none() && chunk.model_version.is_none() {
            answer.unknown("an event without candidates and usage", &String::from_utf8_lossy(data));
        }
        true
    }
}

impl ChunkMapper {
    /// Whether it was a usage.
    fn usage(&mut self, raw: &RawValue, answer: &mut Answer) -> bool {
        match self.figures.take(raw) {
            Ok(false) => false,
            Ok(true) => {
                answer.set_usage(self.figures.usage());
                true
            }
            Err(_) => {
                answer.unknown("a usage", raw.get());
                true
            }
        }
    }
}

/// Whether the prompt was refused: then there is no answer.
fn refusal(feedback: &Feedback<'_>, answer: &mut Answer) -> bool {
    let Some(reason) = string(feedback.block_reason).filter(|reason| reason != "BLOCK_REASON_UNSPECIFIED")
    else {
        return false;
    };
    let words = match string(feedback.block_reason_message) {
        Some(message) => format!("the prompt was refused ({reason}): {message}"),
        None => format!("the prompt was refused by the provider's content rules ({reason})"),
    };
    answer.stop(&reason, Stop::Failed(FailureKind::ContentRefused, "the prompt was refused"));
    answer.fail(FailureKind::ContentRefused, &words);
    true
}

fn candidate(candidate: &Candidate<'_>, answer: &mut Answer) {
    if candidate.index.is_some_and(|index| index != 0) {
        return answer.unknown("a second candidate", "");
    }
    let mut begins = Vec::new();
    let parts = candidate.content.as_ref().and_then(|content| content.parts);
    for raw in list::<&RawValue>(parts).unwrap_or_default() {
        begins.push(answer.text_length());
        match serde_json::from_str::<Part<'_>>(raw.get()) {
            Ok(part) => self::part(&part, raw, answer),
            Err(_) => answer.unknown("a part", raw.get()),
        }
    }
    if let Some(raw) = candidate.grounding_metadata {
        // In a stream the segments count from the answer's beginning: the event's own parts end it.
        let begins = if begins.first() == Some(&0) { begins.as_slice() } else { &[] };
        match sources::grounding(raw, begins) {
            Ok(citations) => cite(citations, answer),
            Err(_) => answer.unknown("grounding metadata", raw.get()),
        }
    }
    if let Some(raw) = candidate.citation_metadata {
        match sources::recitation(raw) {
            Ok(citations) => cite(citations, answer),
            Err(_) => answer.unknown("citation metadata", raw.get()),
        }
    }
    if let Some(reason) =
        string(candidate.finish_reason).filter(|reason| reason != "FINISH_REASON_UNSPECIFIED")
    {
        let meaning = stop(&reason);
        answer.stop(&reason, meaning);
        if let (Stop::Failed(kind, _), Some(message)) = (meaning, string(candidate.finish_message)) {
            answer.fail(kind, &message);
        }
    }
}

/// A span that is not inside the words so far says nothing.
fn cite(citations: Vec<Citation>, answer: &mut Answer) {
    let length = answer.text_length();
    for Citation { url, title, quote, span } in citations {
        answer.citation(Citation { url, title, quote, span: span.filter(|span| span.end <= length) });
    }
}

fn part(part: &Part<'_>, raw: &RawValue, answer: &mut Answer) {
    let signature = string(part.thought_signature);
    let thought = part.thought.is_some_and(|thought| thought.get() == "true");
    if let Some(call) = &part.function_call {
        let call = CallDelta {
            index: None,
            id: string(call.id),
            name: string(call.name),
            arguments: arguments(call.args),
            signature,
        };
        return answer.calls([call], Form::Whole);
    }
    if part.executable_code.is_some() || part.code_execution_result.is_some() {
        return native(raw, answer); // its signature is in it
    }
    if part.text.is_some_and(|text| text.get() != "null" && !text.get().starts_with('"')) {
        return answer.unknown("a part's text", raw.get());
    }
    let medium = medium(part);
    match (medium, part.text) {
        // A sketch on the way to the image: of use to the model alone.
        (Some(_), _) if thought => return native(raw, answer),
        (Some(medium), _) => answer.media(medium),
        (None, Some(_)) if thought => {
            if let Some(words) = string(part.text) {
                answer.reasoning(&words);
            }
            if let Some(signature) = &signature {
                answer.sign_reasoning(signature);
                answer.close_part();
            }
            return;
        }
        (None, Some(_)) => {
            if let Some(words) = string(part.text) {
                answer.text(&words);
            }
        }
        (None, None) if signature.is_some() => {}
        (None, None) if raw.get().trim_matches(['{', '}']).trim().is_empty() => {}
        (None, None) => return answer.unknown("a part of another kind", raw.get()),
    }
    // It signs what came before it. Kept as a part of its own, it goes back in its place.
    if let Some(signature) = signature {
        answer.close_part();
        answer.sign_reasoning(&signature);
        answer.close_part();
    }
}

fn native(raw: &RawValue, answer: &mut Answer) {
    answer.native(Json::from(raw.to_owned()));
}

fn medium(part: &Part<'_>) -> Option<Media> {
    let (mime_type, source) = match (&part.inline_data, &part.file_data) {
        (Some(inline), _) => (inline.mime_type, MediaSource::Base64(string(inline.data)?.as_ref().into())),
        (None, Some(file)) => (file.mime_type, MediaSource::Url(string(file.file_uri)?.as_ref().into())),
        (None, None) => return None,
    };
    let media_type = string(mime_type).unwrap_or(Cow::Borrowed("application/octet-stream"));
    Some(Media { media_type: SmolStr::new(media_type), source, name: None })
}

/// Reasons that this service alone gives; the rest is everybody's.
fn stop(reason: &str) -> Stop {
    match reason {
        "LANGUAGE" => Stop::Failed(FailureKind::InvalidRequest, "the model does not answer in this language"),
        "MODEL_ARMOR" | "IMAGE_RECITATION" => Stop::of("RECITATION"),
        "NO_IMAGE" | "IMAGE_OTHER" => {
            Stop::Failed(FailureKind::Server, "the model was to make an image and made none")
        }
        "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => Stop::of("MALFORMED_FUNCTION_CALL"),
        "MISSING_THOUGHT_SIGNATURE" => {
            Stop::Failed(FailureKind::InvalidRequest, "a call in the history lacks its signature")
        }
        "OTHER" => Stop::Failed(FailureKind::Server, "the provider stopped the answer and did not say why"),
        other => Stop::of(other),
    }
}

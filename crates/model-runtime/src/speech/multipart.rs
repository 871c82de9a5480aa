//! Sounds as files in a form (RFC 7578).

use indexmap::IndexMap;
use memchr::memmem;
use serde_json::Value;

use super::{TranscriptDetail, TranscriptionRequest};
use crate::{
    dialect::{Target, Unencodable, WireRequest},
    whole::beside_chat,
};

pub(super) fn encode(request: &TranscriptionRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let mut fields: Vec<(String, String)> = vec![("model".to_owned(), model.to_owned())];
    let mut add = |name: &str, value: &str| fields.push((name.to_owned(), value.to_owned()));
    if let Some(language) = &request.language {
        add("language", language);
    }
    if let Some(prompt) = &request.prompt {
        add("prompt", prompt);
    }
    match request.detail {
        TranscriptDetail::Words => add("response_format", "json"),
        TranscriptDetail::Segments => {
            add("response_format", "verbose_json");
            add("timestamp_granularities[]", "segment");
        }
    }
    if let Some(extra) = &request.extra {
        let extra: IndexMap<String, Value> =
            serde_json::from_str(extra.as_str()).map_err(|_| Unencodable::Extra)?;
        for (name, value) in extra {
            fields.retain(|(known, _)| *known != name && known.strip_suffix("[]") != Some(&name));
            match value {
                Value::Array(list) => {
                    fields.extend(list.into_iter().map(|item| (format!("{name}[]"), words(item))));
                }
                value => fields.push((name, words(value))),
            }
        }
    }
    let boundary = boundary(&fields, &request.audio);
    let mut body = Vec::with_capacity(request.audio.len() + 1_024);
    for (name, value) in &fields {
        let part = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"\r\n\r\n{value}\r\n",
            quoted(name)
        );
        body.extend_from_slice(part.as_bytes());
    }
    let (ending, media_type) = (request.format.name(), request.format.media_type());
    let head = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"audio.{ending}\"\r\n\
         content-type: {media_type}\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&request.audio);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let headers = vec![("content-type".to_owned(), format!("multipart/form-data; boundary={boundary}"))];
    Ok(WireRequest { path: beside_chat(target.provider, model, "/audio/transcriptions"), headers, body })
}

fn words(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A field's name as HTML writes it in quotes: nothing in it can end the line or the quotes.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A line that is nowhere in the parts. The same parts have the same one.
fn boundary(fields: &[(String, String)], audio: &[u8]) -> String {
    let mut count = 0_u32;
    loop {
        let line = format!("thermidor-{count}");
        let finder = memmem::Finder::new(&line);
        let there = |part: &[u8]| finder.find(part).is_some();
        if !there(audio) && !fields.iter().any(|(_, value)| there(value.as_bytes())) {
            return line;
        }
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a sound that holds the boundary were cut there.
    #[test]
    fn no_part_holds_the_boundary() {
        let field = |value: &str| vec![("prompt".to_owned(), value.to_owned())];
        assert_eq!(boundary(&field(""), b""), "thermidor-0");
        assert_eq!(boundary(&field("thermidor-1"), b"..--thermidor-0"), "thermidor-2");
        assert_eq!(quoted("a\"\r\nb"), "a%22%0D%0Ab");
    }
}

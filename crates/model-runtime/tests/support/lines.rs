//! An end of an answer as lines to be read.

use std::fmt::Write as _;

use thermidor_model_runtime::{StreamEnd, StreamEnding};
use thermidor_types::{Citation, MediaSource, Part};

/// The end in lines: the parts, the sources, how it ended, what nobody understood.
pub(crate) fn lines(end: &StreamEnd) -> String {
    let StreamEnd { message, ending, reason, refused, unknown } = end;
    let mut lines = String::new();
    for part in &message.parts {
        let line = match part {
            Part::Text(text) => format!("text {text:?}"),
            Part::Reasoning(thoughts) => {
                format!("thought {:?}{}", thoughts.text, signed(thoughts.signature.as_deref()))
            }
            Part::Exchange(exchange) => {
                let call = &exchange.call;
                let id = call.wire_id.as_ref().map(|id| format!(" id {id}")).unwrap_or_default();
                format!("call {} {}{id}{}", call.name, call.arguments, signed(call.signature.as_deref()))
            }
            Part::Media(media) => match &media.source {
                MediaSource::Base64(data) => format!("medium {} {data}", media.media_type),
                MediaSource::Url(url) => format!("medium {} at {url}", media.media_type),
                MediaSource::Blob { .. } => panic!("no answer holds a blob"),
            },
            Part::Native(item) => format!("native {}", item.item),
        };
        writeln!(lines, "{line}").expect("a string takes all");
    }
    let words = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    });
    let words: String = words.collect();
    for Citation { url, title, quote, span } in &message.citations {
        let words = span.clone().map(|span| &words[span]);
        writeln!(lines, "source {url:?} {title:?} {quote:?} for {words:?}").expect("a string takes all");
    }
    let how = match ending {
        StreamEnding::Finished => "finished".to_owned(),
        StreamEnding::Length => "length".to_owned(),
        StreamEnding::CutOff(failure) => format!("cut off: {failure}"),
        StreamEnding::Failed(failure) => format!("failed: {failure}"),
    };
    let usage = &message.usage;
    let figures =
        format!("{}({}) in {}({}) out", usage.input, usage.cached_input, usage.output, usage.reasoning);
    let declined = if *refused { " (refused)" } else { "" };
    writeln!(lines, "{how}; {}{declined}; {figures}", reason.as_deref().unwrap_or("-"))
        .expect("a string takes all");
    for shape in unknown {
        writeln!(lines, "? {} x{}: {:?}", shape.what, shape.count, shape.sample).expect("a string takes all");
    }
    lines
}

fn signed(signature: Option<&str>) -> String {
    signature.map(|signature| format!(" signed {signature}")).unwrap_or_default()
}

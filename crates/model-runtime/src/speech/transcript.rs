use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use smol_str::SmolStr;
use thermidor_types::Text;

use super::{Segment, Transcript};
use crate::{
    Quirks,
    whole::{Unreadable, usage},
};

#[derive(Deserialize)]
struct Answer<'a> {
    text: Text,
    #[serde(default)]
    language: Option<SmolStr>,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    segments: Option<Vec<Part>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    start: Value,
    #[serde(default)]
    end: Value,
    #[serde(default)]
    text: Text,
}

#[derive(Default, Deserialize)]
struct Heard {
    #[serde(default)]
    seconds: Value,
}

/// `{text, language?, duration?, segments?, usage?}`; the duration stands in the usage of some models.
pub(super) fn read(bytes: &[u8], quirks: &Quirks) -> Result<Transcript, Unreadable> {
    let answer: Answer<'_> = serde_json::from_slice(bytes)?;
    let heard = answer.usage.and_then(|usage| serde_json::from_str::<Heard>(usage.get()).ok());
    let segment = |part: Part| {
        let (start, end) = (time(&part.start)?, time(&part.end)?);
        Some(Segment { start, end, text: part.text })
    };
    Ok(Transcript {
        text: answer.text,
        language: answer.language.filter(|language| !language.is_empty()),
        duration: time(&answer.duration).or_else(|| time(&heard?.seconds)),
        segments: answer.segments.unwrap_or_default().into_iter().filter_map(segment).collect(),
        usage: usage(answer.usage, quirks),
    })
}

/// Seconds as a number or as text; nonsense is no time.
fn time(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_as_numbers_and_as_text() {
        let long = br#"{"text":"a b","language":"english","duration":"1.5","segments":[
            {"id":0,"start":0,"end":0.75,"text":"a"},{"start":0.75,"end":1.5,"text":" b"},{"start":-1,"end":2,"text":"odd"}]}"#;
        let heard = read(long, &Quirks::default()).expect("a transcript");
        let parts =
            heard.segments.iter().map(|part| (part.start.as_millis(), part.end.as_millis(), &*part.text));
        assert_eq!(parts.collect::<Vec<_>>(), [(0, 750, "a"), (750, 1_500, " b")]);
        assert_eq!(
            (heard.duration, heard.language.as_deref()),
            (Some(Duration::from_millis(1_500)), Some("english"))
        );
        for none in ["", "{}", "[]", r#"{"text":5}"#, "words"] {
            assert!(read(none.as_bytes(), &Quirks::default()).is_err(), "{none}");
        }
    }
}

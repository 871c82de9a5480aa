//! Words without quotes: numbers, literals, and what should have had quotes.

use std::borrow::Cow;

use super::edit::EditKind;

/// Where the run of characters ends that begins at `at`.
pub(super) fn run(bytes: &[u8], at: usize) -> usize {
    let stop = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b',' | b'}' | b']' | b'{' | b'[' | b'"' | b':' | b';' | b'`' | 0..0x20)
    };
    bytes[at..].iter().position(stop).map_or(bytes.len(), |offset| at + offset)
}

/// What a run of characters means in the place of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// JSON as it is.
    Json,
    /// This stands for it.
    Instead(Cow<'a, str>, EditKind),
    /// It wants quotes.
    Text,
}

pub(super) fn read(run: &str) -> Word<'_> {
    let instead = |text: &'static str| Word::Instead(Cow::Borrowed(text), EditKind::Literal);
    match run {
        "true" | "false" | "null" => Word::Json,
        "True" | "TRUE" => instead("true"),
        "False" | "FALSE" => instead("false"),
        "None" | "NULL" | "Null" | "nil" | "undefined" | "NaN" | "nan" | "Infinity" | "-Infinity" | "inf"
        | "-inf" => instead("null"),
        _ if number(run) == run.len() && !run.is_empty() => Word::Json,
        _ => respelled(run).map_or(Word::Text, |text| Word::Instead(text, EditKind::Number)),
    }
}

pub(super) fn is_scalar(run: &str) -> bool {
    read(run) != Word::Text
}

/// What a run that ends with the text may have been going to be: as much as is certain of it.
pub(super) fn read_cut(run: &str) -> Option<&str> {
    let words = ["true", "false", "null"];
    if let Some(word) = words.into_iter().find(|word| !run.is_empty() && word.starts_with(run)) {
        return Some(word);
    }
    let digits = number(run);
    (digits > 0 && run[digits..].bytes().all(|byte| matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')))
        .then(|| &run[..digits])
}

/// Whether a run that ends with the text is the beginning of a number and no more: `-`.
pub(super) fn is_less_than_a_number(run: &str) -> bool {
    matches!(run, "-" | "+" | ".")
}

/// How many bytes of `text` are a JSON number.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = match bytes.get(sign) {
        Some(b'0') => 1,
        Some(b'1'..=b'9') => digits(sign),
        _ => return 0,
    };
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if from <= bytes.len() && digits(from) > 0 {
            end = from + digits(from);
        }
    }
    end
}

/// `+1`, `.5` and `5.` in JSON's spelling.
fn respelled(run: &str) -> Option<Cow<'_, str>> {
    let (sign, rest) = match run.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", run.strip_prefix('+').unwrap_or(run)),
    };
    let zero = if rest.starts_with('.') { "0" } else { "" };
    let rest = if rest.len() > 1 { rest.strip_suffix('.').unwrap_or(rest) } else { rest };
    let text = format!("{sign}{zero}{rest}");
    (number(&text) == text.len() && !text.is_empty()).then_some(Cow::Owned(text))
}

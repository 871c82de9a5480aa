//! Finds where the value begins, and names what stands around it.

use std::ops::Range;

use memchr::memchr3;

use super::{
    ahead::{Ahead, Next, is_bare},
    edit::{Edit, EditKind},
    word,
};

const MARK: &str = "\u{feff}";
/// The whitespace of JSON.
const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];
pub(super) const FENCE: &[u8] = b"```";

/// Where the value begins; what comes before it becomes edits.
pub(super) fn start(text: &str, edits: &mut Vec<Edit>) -> Option<usize> {
    let mut from = 0;
    if text.starts_with(MARK) {
        from = MARK.len();
        note(edits, 0..from, EditKind::ByteOrderMark);
    }
    let blank = text.len() - text[from..].trim_start_matches(SPACES).len();
    let from = text.len() - text[from..].trim_start().len();
    if from > blank {
        note(edits, blank..from, EditKind::Prose); // blanks of other scripts, which JSON does not know
    }
    let bytes = text.as_bytes();
    match bytes.get(from)? {
        b'{' | b'[' => return Some(from),
        _ if is_whole_scalar(text, from) => return Some(from),
        _ => {}
    }
    let mut weak = None;
    let mut place = from;
    while let Some(offset) = memchr3(b'{', b'[', b'`', &bytes[place..]) {
        let at = place + offset;
        if bytes[at] == b'`' {
            if bytes[at..].starts_with(FENCE) {
                let inside = fenced(text, at);
                if strength(bytes, inside) > Strength::None || is_whole_scalar(text, inside) {
                    prose(text, from..at, edits);
                    note(edits, at..inside, EditKind::Fence);
                    return Some(inside);
                }
                place = at + FENCE.len();
            } else {
                place = at + 1;
            }
            continue;
        }
        match strength(bytes, at) {
            Strength::Strong => {
                prose(text, from..at, edits);
                return Some(at);
            }
            Strength::Weak if weak.is_none() => weak = Some(at),
            Strength::Weak | Strength::None => {}
        }
        place = at + 1;
    }
    let found = weak.or_else(|| matches!(bytes[from], b'"' | b'\'').then_some(from))?;
    prose(text, from..found, edits);
    Some(found)
}

/// The place after a fence, its language and whitespace.
fn fenced(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start_matches('`');
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_'));
    text.len() - rest.trim_start().len()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    None,
    Weak,
    Strong,
}

/// How much a bracket among words looks like the beginning of a value.
fn strength(bytes: &[u8], at: usize) -> Strength {
    let ahead = Ahead::new(bytes, at);
    let Some(open) = bytes.get(at).filter(|byte| matches!(byte, b'{' | b'[')) else { return Strength::None };
    let Next::Byte { byte, at, .. } = ahead.next(at + 1) else { return Strength::Weak };
    match (open, byte) {
        (b'{', b'"' | b'\'') | (b'[', b'"' | b'\'' | b'{' | b'[') => Strength::Strong,
        (b'{', b'}') | (b'[', b']') => Strength::Weak,
        (b'{', _) if is_bare(byte) && ahead.bare_key(at) => Strength::Strong,
        (b'{', b'/' | b'#') if ahead.comment(at) => Strength::Strong,
        (b'[', _) if ahead.value(at) => Strength::Weak,
        _ => Strength::None,
    }
}

/// Whether a text, a number or a word begins at `from` and takes up all that is left.
fn is_whole_scalar(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.get(from) else { return false };
    let end = if matches!(first, b'"' | b'\'') {
        let mut place = from + 1;
        loop {
            match bytes.get(place) {
                None => return true,
                Some(b'\\') => place += 2,
                Some(byte) if *byte == first => break place + 1,
                Some(_) => place += 1,
            }
        }
    } else {
        let end = word::run(bytes, from);
        if !word::is_scalar(&text[from..end]) {
            return false;
        }
        end
    };
    let rest = text.get(end..).unwrap_or_default().trim_start();
    rest.is_empty() || rest.as_bytes().starts_with(FENCE)
}

/// Names what comes after the value, which ended at `at`.
pub(super) fn trailing(text: &str, at: usize, edits: &mut Vec<Edit>) {
    let mut from = text.len() - text[at..].trim_start_matches(SPACES).len();
    if text.as_bytes()[from..].starts_with(FENCE) {
        let end = text.len() - text[from..].trim_start_matches('`').len();
        note(edits, from..end, EditKind::Fence);
        from = text.len() - text[end..].trim_start_matches(SPACES).len();
    }
    let end = text.trim_end_matches(SPACES).len();
    if from >= end {
        return;
    }
    let rest = &text[from..end];
    let is_stray = rest
        .bytes()
        .all(|byte| matches!(byte, b'}' | b']' | b')' | b',' | b';') || byte.is_ascii_whitespace());
    let further = || (from..end).any(|at| strength(text.as_bytes(), at) == Strength::Strong);
    let kind = match () {
        () if is_stray => EditKind::Stray,
        () if further() => EditKind::Further,
        () => EditKind::Prose,
    };
    note(edits, from..end, kind);
}

fn prose(text: &str, at: Range<usize>, edits: &mut Vec<Edit>) {
    let end = at.start + text[at.clone()].trim_end().len();
    if end > at.start {
        note(edits, at.start..end, EditKind::Prose);
    }
}

fn note(edits: &mut Vec<Edit>, at: Range<usize>, kind: EditKind) {
    edits.push(Edit { at, kind, count: 1 });
}

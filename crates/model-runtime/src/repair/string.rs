//! Strings: quotes of any kind, escapes, and where a string ends.

use std::ops::Range;

use super::{
    ahead::{Ahead, Next, is_bare},
    edit::EditKind,
    walk::{Shape, Walk},
};

/// What a string is in its surroundings; it decides what may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Double,
    Single,
    Backtick,
    CurlyDouble,
    CurlySingle,
}

impl Quotes {
    /// The quote that opens at the head of `rest`, and its length.
    fn opening(rest: &[u8]) -> Option<(Self, usize)> {
        match rest {
            [b'"', ..] => Some((Self::Double, 1)),
            [b'\'', ..] => Some((Self::Single, 1)),
            [b'`', ..] => Some((Self::Backtick, 1)),
            [0xE2, 0x80, 0x9C | 0x9D, ..] => Some((Self::CurlyDouble, 3)),
            [0xE2, 0x80, 0x98 | 0x99, ..] => Some((Self::CurlySingle, 3)),
            _ => None,
        }
    }

    /// The length of the quote at the head of `rest` that may close.
    fn closing(self, rest: &[u8]) -> Option<usize> {
        match (self, rest) {
            (Self::Double | Self::CurlyDouble, [b'"', ..])
            | (Self::Single | Self::CurlySingle, [b'\'', ..])
            | (Self::Backtick, [b'`', ..]) => Some(1),
            (Self::CurlyDouble, [0xE2, 0x80, 0x9D, ..]) | (Self::CurlySingle, [0xE2, 0x80, 0x99, ..]) => {
                Some(3)
            }
            _ => None,
        }
    }
}

/// Whether a string begins at the head of `rest`.
pub(super) fn begins(rest: &[u8]) -> bool {
    Quotes::opening(rest).is_some()
}

impl Walk<'_> {
    /// Copies the string that begins here, closed and escaped.
    pub(super) fn string(&mut self, role: Role) {
        let start = self.at;
        let Some((quotes, width)) = Quotes::opening(&self.bytes[start..]) else { return };
        self.at += width;
        self.out.push('"');
        let mut notes = Notes::default();
        let mut from = self.at;
        // The place after a high surrogate, which means nothing without its other half.
        let mut high = None;
        loop {
            let Some(&byte) = self.bytes.get(self.at) else {
                self.unfinished(from, high);
                break;
            };
            if byte == b'\\' {
                let Some(step) = self.escape(&mut from, &mut high, &mut notes) else {
                    self.unfinished(from, high);
                    break;
                };
                self.at += step;
            } else if byte < 0x20 {
                notes.add(EditKind::Control, self.at..self.at + 1);
                self.replace(&mut from, 1, &control(char::from(byte)));
            } else if let Some(width) = quotes.closing(&self.bytes[self.at..]) {
                if self.ends(role, self.at + width) {
                    self.out.push_str(&self.text[from..self.at]);
                    self.at += width;
                    break;
                }
                notes.add(EditKind::InnerQuote, self.at..self.at + width);
                if byte == b'"' {
                    self.replace(&mut from, 1, "\\\"");
                } else {
                    self.at += width;
                }
            } else if byte == b'"' {
                self.replace(&mut from, 1, "\\\"");
            } else {
                self.at += 1;
            }
        }
        self.out.push('"');
        if quotes != Quotes::Double {
            self.note(start..self.at, EditKind::Quotes);
        }
        self.edits.extend(notes.0.into_iter().flatten());
    }

    /// Writes `instead` for the next `width` bytes.
    fn replace(&mut self, from: &mut usize, width: usize, instead: &str) {
        self.out.push_str(&self.text[*from..self.at]);
        self.out.push_str(instead);
        self.at += width;
        *from = self.at;
    }

    /// Ends a string that the text cuts off.
    fn unfinished(&mut self, from: usize, high: Option<usize>) {
        let end = high.filter(|end| *end == self.at).map_or(self.at, |end| end - 6);
        if end >= from {
            self.out.push_str(&self.text[from..end]);
        }
        self.at = self.bytes.len();
        self.cut = true;
    }

    /// How far to go over the escape that begins here; `None` when the text ends inside it.
    fn escape(&mut self, from: &mut usize, high: &mut Option<usize>, notes: &mut Notes) -> Option<usize> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => return Some(2),
            b'u' => {
                let digits = &self.bytes[self.at + 2..self.bytes.len().min(self.at + 6)];
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                if is_hex && digits.len() < 4 {
                    return None;
                }
                if is_hex {
                    let is_high = digits[0].eq_ignore_ascii_case(&b'd')
                        && matches!(digits[1], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
                    *high = is_high.then_some(self.at + 6);
                    return Some(6);
                }
            }
            b'\'' | b'`' | b'\n' => {
                notes.add(EditKind::Escape, self.at..self.at + 1);
                self.replace(from, 1, "");
                // A quote that was escaped does not end the string.
                return Some(usize::from(self.bytes[self.at] != b'\n'));
            }
            _ => {}
        }
        notes.add(EditKind::Escape, self.at..self.at + 1);
        self.replace(from, 1, "\\\\");
        Some(0)
    }

    /// Whether the quote before `at` ends its string, by what comes after it.
    fn ends(&mut self, role: Role, at: usize) -> bool {
        let ahead = Ahead::new(self.bytes, at);
        let ends = self.is_end(role, &ahead, at);
        self.work += ahead.looked();
        ends
    }

    fn is_end(&self, role: Role, ahead: &Ahead<'_>, at: usize) -> bool {
        let Next::Byte { byte, at, line_break } = ahead.next(at) else { return true };
        let is_quote = begins(&self.bytes[at..]);
        let Some(shape) = self.stack.last().map(|frame| frame.shape) else {
            return byte == b'`'; // nothing but a fence may follow a value that is a text
        };
        if role == Role::Key {
            let goes_on = matches!(byte, b':' | b'=' | b',' | b'}' | b'{' | b'[' | b'-' | b'0'..=b'9');
            return goes_on || is_quote || ahead.comment(at);
        }
        match (byte, shape) {
            (b'}' | b']', _) => self.is_closing(ahead, at + 1),
            (b',', Shape::Object) => match ahead.next(at + 1) {
                Next::Nothing | Next::Byte { byte: b'}' | b',', .. } => true,
                Next::Byte { at, .. } if begins(&self.bytes[at..]) => ahead.string_then(at, b":="),
                Next::Byte { byte, at, .. } => (is_bare(byte) && ahead.bare_key(at)) || ahead.comment(at),
            },
            (b',', Shape::Array) => match ahead.next(at + 1) {
                Next::Nothing | Next::Byte { byte: b']' | b',' | b'.', .. } => true,
                Next::Byte { at, .. } => begins(&self.bytes[at..]) || ahead.value(at) || ahead.comment(at),
            },
            (b'`', _) => true,
            _ if ahead.comment(at) => true,
            (_, Shape::Object) if is_quote => ahead.string_then(at, b":"),
            (_, Shape::Array) if is_quote => ahead.string_then(at, b",]"),
            (_, Shape::Object) => line_break && is_bare(byte) && ahead.bare_key(at),
            (_, Shape::Array) => line_break && ahead.value(at),
        }
    }

    /// Whether what comes after a bracket at `at` fits a bracket that closes.
    fn is_closing(&self, ahead: &Ahead<'_>, at: usize) -> bool {
        let inner = self.stack.len() > 1;
        match ahead.next(at) {
            Next::Nothing | Next::Byte { byte: b',' | b'}' | b']' | b'`', .. } => true,
            Next::Byte { at, .. } if begins(&self.bytes[at..]) => inner && ahead.string_then(at, b":,]"),
            Next::Byte { byte: b'{' | b'[', .. } => true,
            Next::Byte { at, .. } => !inner || ahead.comment(at),
        }
    }
}

/// The escape of a control character.
pub(super) fn control(character: char) -> String {
    match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        _ => format!("\\u{:04x}", u32::from(character)),
    }
}

/// The edits inside one string: one for each kind.
#[derive(Default)]
struct Notes([Option<super::Edit>; 3]);

impl Notes {
    fn add(&mut self, kind: EditKind, at: Range<usize>) {
        let place = match kind {
            EditKind::Control => 0,
            EditKind::InnerQuote => 1,
            _ => 2,
        };
        match &mut self.0[place] {
            Some(edit) => {
                edit.at.end = at.end;
                edit.count += 1;
            }
            empty => *empty = Some(super::Edit { at, kind, count: 1 }),
        }
    }
}

//! Looks a bounded way ahead, so that deciding stays linear.

use std::cell::Cell;

/// How far is looked, in bytes. What is farther counts as fitting.
const REACH: usize = 160;

/// What comes after whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing, or nothing within reach.
    Nothing,
    /// This byte, at this place, and whether a line break came before it.
    Byte { byte: u8, at: usize, line_break: bool },
}

pub(super) struct Ahead<'a> {
    bytes: &'a [u8],
    limit: usize,
    looked: Cell<usize>,
}

impl<'a> Ahead<'a> {
    /// From `at` on.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, limit: bytes.len().min(at + REACH), looked: Cell::new(0) }
    }

    /// How many bytes were looked at.
    pub(super) fn looked(&self) -> usize {
        self.looked.get()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.looked.set(self.looked.get() + 1);
        self.bytes[..self.limit].get(at).copied()
    }

    pub(super) fn next(&self, mut at: usize) -> Next {
        let mut line_break = false;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\n' => line_break = true,
                b' ' | b'\t' | b'\r' => {}
                _ => return Next::Byte { byte, at, line_break },
            }
            at += 1;
        }
        Next::Nothing
    }

    /// Whether the string that begins at `at` is followed by one of `wanted`.
    pub(super) fn string_then(&self, at: usize, wanted: &[u8]) -> bool {
        let Some(quote) = self.byte(at) else { return true };
        let mut place = at + 1;
        while let Some(byte) = self.byte(place) {
            place += 1;
            if byte == b'\\' {
                place += 1;
            } else if byte == quote {
                return match self.next(place) {
                    Next::Nothing => true,
                    Next::Byte { byte, .. } => wanted.contains(&byte),
                };
            }
        }
        true
    }

    /// Whether a bare key and a colon begin at `at`.
    pub(super) fn bare_key(&self, at: usize) -> bool {
        let mut place = at;
        while let Some(byte) = self.byte(place) {
            if !is_bare(byte) {
                let colon = matches!(self.next(place), Next::Byte { byte: b':', .. } | Next::Nothing);
                return colon && place > at;
            }
            place += 1;
        }
        true
    }

    /// Whether a comment begins at `at`.
    pub(super) fn comment(&self, at: usize) -> bool {
        match self.byte(at) {
            Some(b'#') => true,
            Some(b'/') => matches!(self.byte(at + 1), Some(b'/' | b'*') | None),
            _ => false,
        }
    }

    /// Whether a number, a list, an object, a text or one of JSON's words begins at `at`.
    pub(super) fn value(&self, at: usize) -> bool {
        match self.byte(at) {
            None | Some(b'"' | b'\'' | b'{' | b'[' | b'-' | b'0'..=b'9') => true,
            Some(first @ (b't' | b'f' | b'n' | b'T' | b'F' | b'N')) => {
                let words: &[&str] = match first {
                    b't' => &["true"],
                    b'f' => &["false"],
                    b'n' => &["null"],
                    b'T' => &["True"],
                    b'F' => &["False"],
                    _ => &["None", "NaN"],
                };
                words.iter().any(|word| self.word(at, word))
            }
            _ => false,
        }
    }

    fn word(&self, at: usize, word: &str) -> bool {
        for (offset, wanted) in word.bytes().enumerate() {
            match self.byte(at + offset) {
                None => return true,
                Some(byte) if byte != wanted => return false,
                Some(_) => {}
            }
        }
        self.byte(at + word.len()).is_none_or(|byte| !is_bare(byte))
    }
}

/// Whether `byte` may stand in a key without quotes.
pub(super) const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || byte >= 0x80
}

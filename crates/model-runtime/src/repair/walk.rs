//! The pass over the bytes: brackets, commas, colons, and whose turn it is.

use std::ops::Range;

use super::{
    Edit, EditKind, MOST_DEPTH, Unrepairable,
    ahead::{Ahead, Next},
    outer::FENCE,
    string::{self, Role},
    word::{self, Word},
};

pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) edits: Vec<Edit>,
    pub(super) stack: Vec<Frame>,
    pub(super) cut: bool,
    /// Bytes looked at beside those gone over.
    pub(super) work: usize,
    objects: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    Array,
}

impl Shape {
    const fn closer(self) -> char {
        match self {
            Self::Object => '}',
            Self::Array => ']',
        }
    }
}

/// What is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Key,
    Colon,
    Value,
    /// A comma, or the end.
    Next,
}

pub(super) struct Frame {
    pub(super) shape: Shape,
    turn: Turn,
    /// The comma that nothing came after yet: its place in the text and in what was written.
    comma: Option<(usize, usize)>,
    /// Where the key without a value yet begins, likewise.
    key: (usize, usize),
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, start: usize, edits: Vec<Edit>) -> Self {
        let out = String::with_capacity(text.len() - start + 8);
        let (stack, bytes) = (Vec::new(), text.as_bytes());
        Self { text, bytes, at: start, out, edits, stack, cut: false, work: 0, objects: 0 }
    }

    pub(super) fn run(&mut self) -> Result<(), Unrepairable> {
        if !self.value()? {
            return Err(Unrepairable::NoValue);
        }
        while !self.stack.is_empty() {
            self.gap();
            if self.at >= self.bytes.len() || self.bytes[self.at..].starts_with(FENCE) {
                self.cut = true;
                break;
            }
            self.step()?;
        }
        if self.cut {
            let end = self.at.min(self.bytes.len());
            while !self.stack.is_empty() {
                self.close_frame();
            }
            self.note(end..end, EditKind::Closed);
        }
        Ok(())
    }

    pub(super) fn note(&mut self, at: Range<usize>, kind: EditKind) {
        self.edits.push(Edit { at, kind, count: 1 });
    }

    /// Copies whitespace, leaves comments out.
    fn gap(&mut self) {
        loop {
            let start = self.at;
            let rest = &self.bytes[start..];
            let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
            self.out.push_str(&self.text[start..start + spaces]);
            self.at += spaces;
            let rest = &self.bytes[self.at..];
            let length = match rest {
                [b'/', b'/', ..] | [b'#', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2),
                _ => return,
            };
            self.note(self.at..self.at + length, EditKind::Comment);
            self.at += length;
        }
    }

    fn step(&mut self) -> Result<(), Unrepairable> {
        let (at, byte) = (self.at, self.bytes[self.at]);
        let begins = !self.text[at..].starts_with("...") && self.begins_something();
        let is_element = self.is_element();
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        match (byte, frame.turn, frame.shape) {
            (b'}' | b']', ..) => self.closer(byte),
            (b',', Turn::Next, shape) => {
                frame.comma = Some((at, self.out.len()));
                frame.turn = if shape == Shape::Object { Turn::Key } else { Turn::Value };
                self.out.push(',');
                self.at += 1;
            }
            (b',', Turn::Colon, _) | (b',', Turn::Value, Shape::Object) => self.drop_member(),
            (b',', Turn::Key, _) | (b',', Turn::Value, Shape::Array) => self.leave_out(EditKind::ExtraComma),
            (b':', Turn::Colon, _) => {
                frame.turn = Turn::Value;
                self.out.push(':');
                self.at += 1;
            }
            (b'=', Turn::Colon, _) => {
                frame.turn = Turn::Value;
                let width = 1 + usize::from(self.bytes.get(at + 1) == Some(&b'>'));
                self.out.push(':');
                self.at += width;
                self.note(at..at + width, EditKind::Colon);
            }
            (b'{', Turn::Key | Turn::Next, Shape::Object) if is_element => {
                self.note(at..at, EditKind::Closer);
                self.close_frame();
            }
            (b'{' | b'[', Turn::Key, _) | (b'{' | b'[', Turn::Next, Shape::Object) => {
                self.leave_out(EditKind::Stray);
            }
            _ if !begins => {
                self.leave_out(EditKind::Stray);
            }
            (_, Turn::Next, shape) => {
                frame.turn = if shape == Shape::Object { Turn::Key } else { Turn::Value };
                self.out.push(',');
                self.note(at..at, EditKind::MissingComma);
            }
            (_, Turn::Colon, _) => {
                frame.turn = Turn::Value;
                self.out.push(':');
                self.note(at..at, EditKind::Colon);
            }
            (_, Turn::Key, _) => {
                frame.key = (at, self.out.len());
                frame.turn = Turn::Colon;
                self.key();
            }
            (_, Turn::Value, _) => {
                self.value()?;
            }
        }
        Ok(())
    }

    /// Whether the object on its way has members and stands in an array: another one may follow it.
    fn is_element(&self) -> bool {
        match self.stack.as_slice() {
            [.., Frame { shape: Shape::Array, .. }, object] => {
                object.turn == Turn::Next || object.comma.is_some()
            }
            _ => false,
        }
    }

    /// Whether a key or a value begins here.
    fn begins_something(&self) -> bool {
        let byte = self.bytes[self.at];
        if byte >= 0x80 {
            return self.text[self.at..].chars().next().is_some_and(|first| !first.is_whitespace());
        }
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'{' | b'[' | b'-' | b'+' | b'.' | b'_' | b'$' | b'<' | b'@' | b'/' | b'*')
            || string::begins(&self.bytes[self.at..])
    }

    /// Leaves the next character out, or the next three dots.
    fn leave_out(&mut self, kind: EditKind) {
        let at = self.at;
        let rest = &self.text[at..];
        let dots = rest.starts_with("...").then_some(3);
        self.at += dots.or_else(|| rest.chars().next().map(char::len_utf8)).unwrap_or(1);
        match self.edits.last_mut() {
            Some(edit) if edit.kind == kind && edit.at.end == at => {
                edit.at.end = self.at;
                edit.count += 1;
            }
            _ => self.note(at..self.at, kind),
        }
    }

    fn drop_member(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        let (at, written) = frame.key;
        frame.turn = Turn::Key;
        self.out.truncate(written);
        self.note(at..self.at, EditKind::Valueless);
    }

    fn closer(&mut self, byte: u8) {
        let Some(frame) = self.stack.last() else { return };
        let shape = if byte == b'}' { Shape::Object } else { Shape::Array };
        let others = match shape {
            Shape::Object => self.objects,
            Shape::Array => self.stack.len() - self.objects,
        };
        if frame.shape == shape {
            self.close_frame();
            self.at += 1;
        } else if others > 0 {
            self.note(self.at..self.at, EditKind::Closer);
            self.close_frame();
        } else {
            self.leave_out(EditKind::Stray);
        }
    }

    fn close_frame(&mut self) {
        let has_key = |frame: &Frame| {
            frame.turn == Turn::Colon || (frame.turn == Turn::Value && frame.shape == Shape::Object)
        };
        if self.stack.last().is_some_and(has_key) {
            self.drop_member();
        }
        let Some(frame) = self.stack.pop() else { return };
        if let Some((at, written)) = frame.comma {
            self.out.remove(written);
            self.note(at..at + 1, EditKind::ExtraComma);
        }
        self.objects -= usize::from(frame.shape == Shape::Object);
        self.out.push(frame.shape.closer());
        self.done();
    }

    /// A value is complete.
    fn done(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.turn = Turn::Next;
            frame.comma = None;
        }
    }

    fn key(&mut self) {
        if string::begins(&self.bytes[self.at..]) {
            return self.string(Role::Key);
        }
        let stop = |byte: &u8| matches!(byte, b':' | b'=' | b',' | b'{' | b'}' | b'[' | b']' | b'"' | b'\n');
        self.quoted(stop);
    }

    /// Copies a value; `false` when there was less than one.
    fn value(&mut self) -> Result<bool, Unrepairable> {
        let byte = self.bytes[self.at];
        if let b'{' | b'[' = byte {
            if self.stack.len() >= MOST_DEPTH {
                return Err(Unrepairable::TooDeep(self.at));
            }
            let (shape, turn) =
                if byte == b'{' { (Shape::Object, Turn::Key) } else { (Shape::Array, Turn::Value) };
            self.objects += usize::from(shape == Shape::Object);
            self.stack.push(Frame { shape, turn, comma: None, key: (self.at, self.out.len()) });
            self.out.push(char::from(byte));
            self.at += 1;
            return Ok(true);
        }
        let written = if string::begins(&self.bytes[self.at..]) {
            self.string(Role::Value);
            true
        } else {
            self.bare()
        };
        if written {
            self.done();
        }
        Ok(written)
    }

    /// Copies a value without quotes.
    fn bare(&mut self) -> bool {
        let (start, end) = (self.at, word::run(self.bytes, self.at));
        let run = &self.text[start..end];
        if end == self.bytes.len()
            && word::read(run) != Word::Json
            && (word::is_less_than_a_number(run) || word::read_cut(run).is_some())
        {
            self.at = end;
            self.cut = true;
            self.out.push_str(word::read_cut(run).unwrap_or_default());
            return word::read_cut(run).is_some();
        }
        let ahead = Ahead::new(self.bytes, end);
        let alone = match ahead.next(end) {
            Next::Nothing | Next::Byte { line_break: true, .. } => true,
            Next::Byte { byte, at, .. } => {
                matches!(
                    byte,
                    b',' | b';' | b'}' | b']' | b'"' | b'\'' | b'{' | b'[' | b'-' | b'`' | b'0'..=b'9'
                ) || ahead.comment(at)
            }
        };
        self.work += ahead.looked();
        let word = if alone { word::read(run) } else { Word::Text };
        match word {
            Word::Json => self.out.push_str(run),
            Word::Instead(text, kind) => {
                self.out.push_str(&text);
                self.note(start..end, kind);
            }
            Word::Text if self.stack.is_empty() => return false,
            Word::Text => {
                self.quoted(|byte| matches!(byte, b',' | b'}' | b']' | b'\n'));
                return true;
            }
        }
        self.at = end;
        true
    }

    /// Copies what comes before `stop` as a string.
    fn quoted(&mut self, stop: impl Fn(&u8) -> bool) {
        let start = self.at;
        let rest = &self.bytes[start..];
        let end = rest.iter().position(stop).map_or(self.bytes.len(), |offset| start + offset);
        let word = self.text[start..end].trim_end();
        self.out.push('"');
        for character in word.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\0'..='\u{1f}' => self.out.push_str(&string::control(character)),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
        self.at = start + word.len();
        self.note(start..self.at, EditKind::Unquoted);
    }
}

//! Server-sent events (WHATWG HTML, section 9.2) from bytes cut anywhere.

use memchr::{memchr, memchr2};

/// The largest event accepted, in bytes. A longer one is an attack or a defect, never an answer.
pub(crate) const LARGEST_EVENT: usize = 32 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event: its name (`""` when it has none) and its data lines joined by line feeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) event: &'a [u8],
    pub(crate) data: &'a [u8],
}

/// An event grew past [`LARGEST_EVENT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Splits bytes into events. LF, CR and CRLF end a line; comments, ids and retry times are skipped.
///
/// Cost: linear in the bytes fed, whatever their chunking. What waits is one unfinished event.
#[derive(Debug, Default)]
pub(crate) struct Sse {
    partial: Vec<u8>,
    after_carriage_return: bool,
    open: OpenEvent,
}

#[derive(Debug, Default)]
struct OpenEvent {
    started: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl Sse {
    /// Takes more bytes and hands every event completed by them to `each`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Frame<'_>)) -> Result<(), TooLong> {
        if bytes.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.after_carriage_return) && bytes[0] == b'\n' {
            bytes = &bytes[1..];
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (line, terminator, mut rest) = (&bytes[..end], bytes[end], &bytes[end + 1..]);
            if self.partial.is_empty() {
                self.open.line(line, &mut each);
            } else {
                self.partial.extend_from_slice(line);
                self.open.line(&self.partial, &mut each);
                self.partial.clear();
            }
            if terminator == b'\r' {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_carriage_return = true,
                }
            }
            bytes = rest;
            if self.open.data.len() > LARGEST_EVENT {
                return Err(TooLong);
            }
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > LARGEST_EVENT { Err(TooLong) } else { Ok(()) }
    }

    /// Hands over the last event when the blank line after it is missing.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Frame<'_>)) {
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() {
            self.open.line(&partial, &mut each);
        }
        self.open.line(b"", &mut each);
    }
}

impl OpenEvent {
    fn line(&mut self, mut line: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        if !self.started {
            self.started = true;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                each(Frame { event: &self.name, data: &self.data });
            }
            self.name.clear();
            self.data.clear();
            self.has_data = false;
            return;
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {} // comments, `id`, `retry` and whatever comes next
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn events(text: &[u8], size: usize) -> String {
        let (mut sse, mut seen) = (Sse::default(), Vec::new());
        let mut each = |frame: Frame<'_>| {
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            seen.push(format!("[{}] {:?}\n", show(frame.event), show(frame.data)));
        };
        for chunk in text.chunks(size) {
            sse.feed(chunk, &mut each).expect("short");
        }
        sse.finish(&mut each);
        seen.concat()
    }

    fn check(text: &[u8], expected: Expect) {
        let whole = events(text, text.len());
        expected.assert_eq(&whole);
        for size in 1..=7 {
            assert_eq!(events(text, size), whole, "cut at {size}");
        }
    }

    #[test]
    fn all_line_ends_comments_and_a_missing_last_blank_line() {
        check(
            b"\xEF\xBB\xBFdata: a\n\n: ping\r\nevent: error\r\ndata:b\r\ndata:  c\r\n\r\nid: 7\rdata: d\r\rdata\n\ndata: last",
            expect![[r#"
                [] "a"
                [error] "b\n c"
                [] "d"
                [] ""
                [] "last"
            "#]],
        );
    }

    #[test]
    fn an_endless_event_is_refused() {
        let (mut sse, block) = (Sse::default(), vec![b'x'; 1 << 20]);
        let refused = (0..64).position(|_| sse.feed(&block, |_| ()).is_err());
        assert_eq!(refused, Some(32));
    }
}

//! Requests out of a buffer of bytes: HTTP/1.1 with a content length or in chunks. Pure.

const LONGEST_HEAD: usize = 64 * 1024;
/// The longest body taken, in bytes.
pub(super) const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// A whole request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
    /// Bytes of the head, without the empty line.
    pub(super) head: usize,
    /// Whether the client wants the connection closed after the answer.
    pub(super) last: bool,
}

/// What a buffer holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// Not yet a whole request.
    Partial,
    /// A request, and how many bytes it took.
    Whole(Request, usize),
    /// Nothing that can be understood.
    Bad,
    /// More than is taken.
    TooLarge,
}

/// Reads the first request in `buffer`.
pub(super) fn parse(buffer: &[u8]) -> Parsed {
    let Some(end) = find(buffer, b"\r\n\r\n") else {
        return if buffer.len() > LONGEST_HEAD { Parsed::TooLarge } else { Parsed::Partial };
    };
    let head = String::from_utf8_lossy(&buffer[..end]);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().splitn(3, ' ');
    let (Some(method), Some(path), Some(_)) = (words.next(), words.next(), words.next()) else {
        return Parsed::Bad;
    };
    let (mut length, mut chunked, mut last) = (None, false, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let Ok(bytes) = value.parse::<usize>() else { return Parsed::Bad };
            length = Some(bytes);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case("chunked");
        } else if name.eq_ignore_ascii_case("connection") {
            last = value.eq_ignore_ascii_case("close");
        }
    }
    let rest = &buffer[end + 4..];
    let (body, used) = match length {
        Some(length) if length > LONGEST_BODY => return Parsed::TooLarge,
        Some(length) if rest.len() < length => return Parsed::Partial,
        Some(length) => (rest[..length].to_vec(), length),
        None if chunked => match dechunk(rest) {
            Ok(Some(read)) => read,
            Ok(None) if rest.len() > 2 * LONGEST_BODY => return Parsed::TooLarge,
            Ok(None) => return Parsed::Partial,
            Err(bad) => return bad,
        },
        None => (Vec::new(), 0),
    };
    let request = Request { method: method.to_owned(), path: path.to_owned(), body, head: end, last };
    Parsed::Whole(request, end + 4 + used)
}

/// A body in chunks and the bytes it took; `None` when its end is not there yet.
fn dechunk(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Parsed> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let Some(line) = find(&bytes[at..], b"\r\n") else {
            return if bytes.len() - at > 1024 { Err(Parsed::Bad) } else { Ok(None) };
        };
        let digits = String::from_utf8_lossy(&bytes[at..at + line]);
        let size = digits.split(';').next().unwrap_or_default().trim();
        let Ok(size) = usize::from_str_radix(size, 16) else { return Err(Parsed::Bad) };
        at += line + 2;
        if size == 0 {
            // Trailers, if any, up to the empty line.
            if bytes[at..].starts_with(b"\r\n") {
                return Ok(Some((body, at + 2)));
            }
            return Ok(find(&bytes[at..], b"\r\n\r\n").map(|end| (body, at + end + 4)));
        }
        if size > LONGEST_BODY || body.len() + size > LONGEST_BODY {
            return Err(Parsed::TooLarge);
        }
        if bytes.len() < at + size + 2 {
            return Ok(None);
        }
        body.extend_from_slice(&bytes[at..at + size]);
        at += size + 2;
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, body: &str, head: usize) -> Request {
        Request { method: method.into(), path: path.into(), body: body.into(), head, last: false }
    }

    /// Would fail if a request that came in pieces, in chunks or right behind another were read wrongly.
    #[test]
    fn requests_are_read_whole_or_not_at_all() {
        let posted = "POST /v1/chat/completions HTTP/1.1\r\ncontent-LENGTH: 5\r\n\r\nhello";
        let chunked =
            "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n";
        for (text, expected) in [
            (posted, request("POST", "/v1/chat/completions", "hello", 53)),
            (chunked, request("POST", "/x", "hello", 44)),
            ("GET /stats HTTP/1.1\r\nhost: x\r\n\r\n", request("GET", "/stats", "", 28)),
        ] {
            for end in 0..text.len() {
                assert_eq!(parse(&text.as_bytes()[..end]), Parsed::Partial, "{end} bytes of {text:?}");
            }
            let two = format!("{text}GET /next");
            assert_eq!(parse(two.as_bytes()), Parsed::Whole(expected, text.len()));
        }
        for bad in [
            "nonsense\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert_eq!(parse(bad.as_bytes()), Parsed::Bad, "{bad:?}");
        }
        assert_eq!(parse(b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n"), Parsed::TooLarge);
    }
}

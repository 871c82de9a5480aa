//! Base64 (RFC 4648) as it stands in JSON.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text that `encoded` stands for; `None` if it is no base64, or the bytes are no UTF-8.
pub(crate) fn text(encoded: &str) -> Option<String> {
    String::from_utf8(bytes(encoded)?).ok()
}

/// The bytes that `encoded`, with or without padding, stands for; `None` if it is no base64.
pub(crate) fn bytes(encoded: &str) -> Option<Vec<u8>> {
    let encoded = encoded.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(encoded.len() / 4 * 3 + 2);
    for group in encoded.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for letter in group {
            bits = bits << 6 | u32::from(value(*letter)?);
        }
        let whole = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

/// `bytes` in letters, with padding.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let letter = char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]);
            text.push(if place <= group.len() { letter } else { '=' });
        }
    }
    text
}

fn value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648, section 10. Would fail if a document lost its last letters.
    #[test]
    fn every_length_is_read() {
        let rows = [
            ("", Some("")),
            ("Zg==", Some("f")),
            ("Zm8=", Some("fo")),
            ("Zm9v", Some("foo")),
            ("Zm9vYg==", Some("foob")),
            ("Zm9vYmE=", Some("fooba")),
            ("Zm9vYmFy", Some("foobar")),
            ("4oKs", Some("€")),
            ("Zm9vY", None),
            ("Zm9?", None),
            ("/w==", None),
        ];
        for (encoded, expected) in rows {
            assert_eq!(text(encoded).as_deref(), expected, "{encoded}");
            if let Some(expected) = expected {
                assert_eq!(super::encoded(expected.as_bytes()), encoded);
            }
        }
        assert_eq!(super::encoded(&[0xFF, 0xEF, 0xBE]), "/+++");
    }
}

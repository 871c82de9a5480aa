use memchr::memmem;
use reqwest::{Url, header::HeaderMap};

/// What stands for a secret.
const MASK: &str = "[key]";

/// Shorter ones are not looked for: every text holds them.
const SHORTEST: usize = 4;

/// The secrets of one request, to be kept out of a recording.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<Vec<u8>>);

impl Secrets {
    /// The values of the headers that are marked as sensitive, as they are and as they stand in JSON.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        for value in headers.values().filter(|value| value.is_sensitive()) {
            let value = value.as_bytes();
            let value = value.strip_prefix(b"Bearer ").unwrap_or(value);
            if value.len() < SHORTEST {
                continue;
            }
            let quoted = serde_json::to_vec(&String::from_utf8_lossy(value)).unwrap_or_default();
            let quoted = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
            for form in [value, quoted] {
                if !form.is_empty() && !secrets.iter().any(|known| known == form) {
                    secrets.push(form.to_vec());
                }
            }
        }
        Self(secrets)
    }

    /// `bytes` without them.
    pub(super) fn removed(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for secret in &self.0 {
            let finder = memmem::Finder::new(secret);
            let (mut clean, mut from) = (Vec::new(), 0);
            for at in finder.find_iter(&bytes) {
                clean.extend_from_slice(&bytes[from..at]);
                clean.extend_from_slice(MASK.as_bytes());
                from = at + secret.len();
            }
            if from > 0 {
                clean.extend_from_slice(&bytes[from..]);
                bytes = clean;
            }
        }
        bytes
    }

    pub(super) fn removed_from_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.removed(text.as_bytes().to_vec())).into_owned()
    }

    /// The address without scheme, host and secrets; some services take a key in the query.
    pub(super) fn path(&self, url: &Url) -> String {
        let mut path = url.path().to_owned();
        for (place, pair) in url.query().into_iter().flat_map(|query| query.split('&')).enumerate() {
            path.push(if place == 0 { '?' } else { '&' });
            match pair.split_once('=') {
                Some((name, _)) if is_secret(name) => path.extend([name, "=", MASK]),
                _ => path.push_str(pair),
            }
        }
        self.removed_from_text(&path)
    }
}

/// Whether a parameter of that name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "sig", "signature"].iter().any(|word| {
        name == *word || name.ends_with(&format!("-{word}")) || name.ends_with(&format!("_{word}"))
    }) || name == "apikey"
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn secrets(value: &str) -> Secrets {
        let mut value = HeaderValue::from_str(value).expect("printable");
        value.set_sensitive(true);
        let plain = HeaderValue::from_static("plain-value");
        Secrets::of(&HeaderMap::from_iter([
            (reqwest::header::AUTHORIZATION, value),
            (reqwest::header::ACCEPT, plain),
        ]))
    }

    /// Would fail if a key that a server quotes came into a file, or text near it were lost.
    #[test]
    fn secrets_leave_bodies_and_addresses() {
        let check = |secret: &str, text: &str, expected: &str| {
            assert_eq!(secrets(secret).removed_from_text(text), expected, "{text}");
        };
        check("Bearer sk-12345", "sk-12345 and sk-12345", "[key] and [key]");
        check("sk-12345", "key: sk-1234", "key: sk-1234");
        check("Bearer a\"b\\c", r#"{"was":"a\"b\\c"}"#, r#"{"was":"[key]"}"#);
        check("abc", "abc", "abc");
        check("Bearer sk-12345", "plain-value", "plain-value");
        let path = |url: &str| secrets("sk-12345").path(&url.parse().expect("an address"));
        assert_eq!(path("http://u:p@h/v1/x?api-version=1&key=AIza"), "/v1/x?api-version=1&key=[key]");
        assert_eq!(path("http://h/sk-12345/x"), "/[key]/x");
        assert_eq!(path("http://h/x?page_token=1&monkey=2"), "/x?page_token=[key]&monkey=2");
    }
}

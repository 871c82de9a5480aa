use reqwest::header::HeaderValue;

use crate::Auth;

/// The header that carries a key; `None` when the key holds characters that no header can.
pub(crate) fn key_header<'a>(auth: &'a Auth, key: &str) -> Option<(&'a str, HeaderValue)> {
    let (name, text) = match auth {
        Auth::Bearer => ("authorization", format!("Bearer {key}")),
        Auth::Header(name) => (name.as_str(), key.to_owned()),
    };
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

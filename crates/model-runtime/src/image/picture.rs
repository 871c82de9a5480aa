use smol_str::{SmolStr, format_smolstr};
use thermidor_types::{Media, MediaSource, Text};

/// How the base64 of a kind of image begins.
const HEADS: [(&str, &str); 5] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("UklGR", "image/webp"),
    ("R0lGOD", "image/gif"),
    ("AAAA", "image/avif"),
];

/// An image by its bytes. Its type is what the provider says, else what the bytes say, else PNG.
pub(super) fn inline(data: Text, told: Option<SmolStr>) -> Media {
    // Some write the whole address of a `data:` URL.
    let address = data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (named, data) = match address {
        Some((media_type, data)) => (Some(SmolStr::from(media_type)), Text::from(data)),
        None => (None, data),
    };
    let seen = || HEADS.iter().find(|(head, _)| data.starts_with(head)).map(|(_, media_type)| *media_type);
    let media_type = named.or(told).unwrap_or_else(|| seen().unwrap_or("image/png").into());
    Media { media_type, source: MediaSource::Base64(data), name: None }
}

/// An image by its address. Its type is what the provider says, else what the address ends in, else PNG.
pub(super) fn linked(url: Text, told: Option<SmolStr>) -> Media {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit('.').next().map(str::to_ascii_lowercase);
    let seen = || {
        ending.as_deref().filter(|ending| matches!(*ending, "png" | "jpg" | "jpeg" | "webp" | "gif" | "avif"))
    };
    let media_type = told.unwrap_or_else(|| media_type(seen().unwrap_or("png")));
    Media { media_type, source: MediaSource::Url(url), name: None }
}

/// The media type of a format's short name.
pub(super) fn media_type(format: &str) -> SmolStr {
    format_smolstr!("image/{}", if format == "jpg" { "jpeg" } else { format })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_told_or_seen() {
        let check = |media: Media, expected: &str| assert_eq!(media.media_type, expected);
        check(inline("aGVsbG8=".into(), None), "image/png");
        check(inline("/9j/4AAQ".into(), None), "image/jpeg");
        check(inline("UklGRjo=".into(), None), "image/webp");
        check(inline("/9j/4AAQ".into(), Some("image/webp".into())), "image/webp");
        check(inline("data:image/gif;base64,R0lGOD".into(), None), "image/gif");
        check(linked("https://x/a.JPG?sig=b.png".into(), None), "image/jpeg");
        check(linked("https://x/a".into(), None), "image/png");
        let media = inline("data:image/gif;base64,R0lGOD".into(), None);
        assert_eq!(media.source, MediaSource::Base64("R0lGOD".into()));
    }
}

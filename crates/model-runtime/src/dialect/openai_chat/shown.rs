//! Images and sounds in answers.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::{Media, MediaSource};

use crate::dialect::{answer::Answer, lenient::string};

/// An address may be wrapped this often: `image_url.image_url.url` is known to come.
const DEEPEST: usize = 3;

/// How the base64 of a sound begins. An answer does not say its type; streams carry bare samples.
const HEADS: [(&str, &str); 5] = [
    ("UklGR", "audio/wav"),
    ("SUQz", "audio/mpeg"),
    ("//", "audio/mpeg"),
    ("T2dnUw", "audio/ogg"),
    ("ZkxhQ", "audio/flac"),
];

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow, default)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    url: Option<&'a RawValue>,
    #[serde(borrow, default)]
    image: Option<&'a RawValue>,
    #[serde(borrow, default)]
    b64_json: Option<&'a RawValue>,
}

/// The image in `raw`: an address, a data URL, or an object around one.
pub(super) fn picture(raw: &RawValue) -> Option<Media> {
    address(raw, DEEPEST).map(|address| medium(&address))
}

fn address(raw: &RawValue, depth: usize) -> Option<Cow<'_, str>> {
    if let Some(text) = string(Some(raw)) {
        return Some(text);
    }
    let wrapped: Wrapped<'_> = serde_json::from_str(raw.get()).ok()?;
    if let Some(data) = string(wrapped.b64_json) {
        return Some(format!("data:image/png;base64,{data}").into());
    }
    let inner = [wrapped.image_url, wrapped.url, wrapped.image];
    inner.into_iter().flatten().find_map(|raw| address(raw, depth.checked_sub(1)?))
}

fn medium(address: &str) -> Media {
    let inside = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (media_type, source) = inside.map_or_else(
        || (type_of_address(address), MediaSource::Url(address.into())),
        |(media_type, data)| (media_type, MediaSource::Base64(data.into())),
    );
    Media { media_type: media_type.into(), source, name: None }
}

/// What an image at an address is, by the ending of its name.
fn type_of_address(address: &str) -> &'static str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        _ => "image/png",
    }
}

#[derive(Deserialize)]
struct Heard<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    transcript: Option<&'a RawValue>,
}

/// Sounds on their way. The base64 of one comes in pieces that can be put together as they are, until one is
/// padded: that one ends a sound, and what follows is the next.
#[derive(Debug, Default)]
pub(super) struct Sounds {
    data: Vec<String>,
}

impl Sounds {
    /// Takes the next piece; gives the words it says.
    pub(super) fn hear<'a>(&mut self, raw: &'a RawValue, answer: &mut Answer) -> Option<Cow<'a, str>> {
        let Ok(heard) = serde_json::from_str::<Option<Heard<'a>>>(raw.get()) else {
            answer.unknown("a sound", raw.get());
            return None;
        };
        let heard = heard?;
        if let Some(piece) = string(heard.data) {
            match self.data.last_mut() {
                Some(sound) if !sound.ends_with('=') => sound.push_str(&piece),
                _ => self.data.push(piece.into_owned()),
            }
        }
        string(heard.transcript)
    }

    /// Puts the sounds into the answer, behind the words.
    pub(super) fn finish(&mut self, answer: &mut Answer) {
        for data in self.data.drain(..) {
            let head = HEADS.iter().find(|(head, _)| data.starts_with(head));
            let media_type = head.map_or("audio/pcm", |(_, media_type)| media_type).into();
            answer.media(Media { media_type, source: MediaSource::Base64(data.into()), name: None });
        }
    }
}

//! Images, sounds, videos and files in the forms that this dialect has for them.

use std::borrow::Cow;

use thermidor_types::{Media, MediaSource, ModelCard, media_kind};

use super::request::{Audio, File, Piece, Url};
use crate::{
    Quirk, Quirks,
    dialect::{
        Unencodable,
        replay::{is_readable, label, not_shown},
    },
};

/// What a model can be shown at a provider.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) card: &'a ModelCard,
    pub(super) quirks: &'a Quirks,
}

impl Shown<'_> {
    /// Whether the model gets the medium as it is. Audio travels inside the request only, and so do files where
    /// they have no address of their own in the dialect.
    pub(super) fn reads(&self, media: &Media) -> bool {
        let remote = matches!(media.source, MediaSource::Url(_));
        let sendable = match media_kind(&media.media_type) {
            "image" => true,
            "audio" => !remote,
            "video" => self.quirks.has(Quirk::VideoUrl),
            _ => !remote || self.quirks.has(Quirk::DocumentUrl),
        };
        sendable
            && is_readable(self.card, &media.media_type)
            && !(remote && self.quirks.has(Quirk::InlineMedia))
    }

    /// The medium, or a note that there is one.
    ///
    /// # Errors
    /// When its bytes are elsewhere.
    pub(super) fn piece<'a>(&self, media: &'a Media) -> Result<Piece<'a>, Unencodable> {
        if !self.reads(media) {
            return Ok(Piece::text(not_shown(media)));
        }
        let data = match &media.source {
            MediaSource::Blob { .. } => return Err(Unencodable::UnresolvedBlob(label(media))),
            MediaSource::Base64(data) if media_kind(&media.media_type) == "audio" => {
                let format = audio_format(&media.media_type);
                return Ok(Piece::InputAudio { input_audio: Audio { data, format } });
            }
            MediaSource::Base64(data) => Cow::Owned(format!("data:{};base64,{data}", media.media_type)),
            MediaSource::Url(url) => Cow::Borrowed(url.as_str()),
        };
        let name = media.name.as_deref();
        Ok(match media_kind(&media.media_type) {
            "image" => Piece::ImageUrl { image_url: Url { url: data } },
            "video" => Piece::VideoUrl { video_url: Url { url: data } },
            _ if self.quirks.has(Quirk::DocumentUrl) => {
                Piece::DocumentUrl { document_url: data, document_name: name }
            }
            _ => Piece::File { file: File { filename: name.unwrap_or("file"), file_data: data } },
        })
    }
}

/// The short name that the dialect has for the type of a sound.
pub(crate) fn audio_format(media_type: &str) -> &str {
    let kind = media_type.split_once('/').map_or("", |(_, kind)| kind);
    match kind {
        "mpeg" | "mpeg3" | "x-mpeg-3" => "mp3",
        "wave" | "vnd.wave" => "wav",
        "mp4" | "x-m4a" => "m4a",
        "L16" | "pcm" => "pcm16",
        kind => kind.strip_prefix("x-").unwrap_or(kind),
    }
}

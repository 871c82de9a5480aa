//! Images and documents in the forms that this dialect has for them.

use thermidor_types::{Media, MediaSource, ModelCard};

use super::request::{Block, Source};
use crate::{
    Quirk, Quirks,
    dialect::{
        Unencodable,
        replay::{is_readable, label, not_shown},
    },
};

/// The images that the API reads.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The medium, or a note that there is one: sounds and videos have no form here.
///
/// An address without a scheme, `file_011C…`, is the id of a file at the provider.
///
/// # Errors
/// [`Unencodable::UnresolvedBlob`] when the bytes of a medium that would be shown are elsewhere.
pub(super) fn block<'a>(
    media: &'a Media,
    card: &ModelCard,
    quirks: &Quirks,
) -> Result<Block<'a>, Unencodable> {
    let kind = media.media_type.as_str();
    let image = IMAGES.contains(&kind);
    let pdf = kind == "application/pdf";
    let text = kind.starts_with("text/");
    let note = || Ok(Block::text(not_shown(media)));
    if !(image || pdf || text) || !is_readable(card, kind) {
        return note();
    }
    let source = match &media.source {
        MediaSource::Blob { .. } => return Err(Unencodable::UnresolvedBlob(label(media))),
        MediaSource::Url(id) if is_file_id(id) => Source::File { file_id: id },
        MediaSource::Url(_) if text || quirks.has(Quirk::InlineMedia) => return note(),
        MediaSource::Url(url) => Source::Url { url },
        MediaSource::Base64(data) if text => match crate::base64::text(data) {
            Some(data) => Source::Text { media_type: "text/plain", data },
            None => return note(),
        },
        MediaSource::Base64(data) => Source::Base64 { media_type: kind, data },
    };
    Ok(if image {
        Block::Image { source, cache_control: None }
    } else {
        Block::Document { source, title: media.name.as_deref(), cache_control: None }
    })
}

fn is_file_id(address: &str) -> bool {
    !address.is_empty() && !address.contains([':', '/'])
}

//! How what was said before is put into a request, in whatever format.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use thermidor_types::{Content, Media, ModelCard, ModelId, ToolResult, media_kind};

use super::Unencodable;

/// What the model reads in place of a result that never came.
pub(super) const INTERRUPTED: &str = "The call was interrupted before it gave a result.";

/// A medium in words: its media type and, where it has one, its name.
pub(super) fn label(media: &Media) -> String {
    let name = media.name.as_ref();
    name.map_or_else(|| media.media_type.to_string(), |name| format!("{} {name}", media.media_type))
}

/// What a model reads in place of a medium that it cannot read.
pub(super) fn not_shown(media: &Media) -> String {
    format!("[{} not shown to this model]", label(media))
}

/// Whether the model of `card` reads media of this type.
pub(super) fn is_readable(card: &ModelCard, media_type: &str) -> bool {
    match media_kind(media_type) {
        "image" => card.abilities.vision,
        "audio" => card.abilities.audio,
        "video" => card.abilities.video,
        _ => card.abilities.files,
    }
}

/// Whether what `maker` made may go back to `model`: signatures hold for the model that made them alone.
pub(super) fn is_own(maker: Option<&ModelId>, model: &ModelId) -> bool {
    maker == Some(model)
}

/// The words of a result, one part a line; media are left to the caller.
pub(super) fn result_words(result: &ToolResult) -> Cow<'_, str> {
    joined(result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(Cow::Borrowed(text.as_str())),
        Content::Media(_) => None,
    }))
}

/// Texts with line breaks between them; a single one is not copied.
pub(super) fn joined<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut texts = texts.into_iter();
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(first, |mut all, text| {
        let joined = all.to_mut();
        joined.push('\n');
        joined.push_str(&text);
        all
    })
}

/// The arguments byte for byte if they are a JSON object; else an object that holds them.
///
/// # Errors
/// [`Unencodable::Json`], which text never causes.
pub(super) fn sendable_arguments(arguments: &str) -> Result<Cow<'_, RawValue>, Unencodable> {
    match object(arguments) {
        Some(object) => Ok(Cow::Borrowed(object)),
        None if arguments.trim().is_empty() => raw(&serde_json::Map::new()).map(Cow::Owned),
        None => raw(&serde_json::json!({ "unparsed_arguments": arguments })).map(Cow::Owned),
    }
}

/// `text` if it is one JSON object, byte for byte.
pub(super) fn object(text: &str) -> Option<&RawValue> {
    let trimmed = text.trim();
    if trimmed.starts_with('{') { serde_json::from_str(trimmed).ok() } else { None }
}

/// `value` as JSON.
pub(super) fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, Unencodable> {
    to_raw_value(value).map_err(|error| Unencodable::Json(error.to_string()))
}

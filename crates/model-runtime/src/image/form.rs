use serde::{Deserialize, Serialize};

use super::{ImageRequest, Images, openai, venice, xai};
use crate::{
    Provider,
    dialect::{Target, Unencodable, WireRequest, merged},
    whole::Unreadable,
};

/// The wire forms of making images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageForm {
    /// `OpenAI`'s `POST /images/generations`.
    Openai,
    /// The same as xAI has it: proportions and a resolution in place of a size.
    Xai,
    /// Venice's `POST /image/generate`.
    Venice,
}

fn form(provider: &Provider) -> Result<ImageForm, Unencodable> {
    provider.services.image.ok_or(Unencodable::NoForm("images"))
}

/// Writes `request` in the form in which the provider of `target` makes images. Same request, same bytes.
///
/// # Errors
/// [`Unencodable::OutOfRange`] without a prompt, for no image and for one without an extent;
/// [`Unencodable::NoForm`] when the provider makes no images.
pub fn encode(request: &ImageRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    check(request)?;
    let wire = match form(target.provider)? {
        ImageForm::Openai => openai::encode(request, target)?,
        ImageForm::Xai => xai::encode(request, target)?,
        ImageForm::Venice => venice::encode(request, target)?,
    };
    match &request.extra {
        Some(extra) => Ok(WireRequest { body: merged(&wire.body, extra.as_str())?, ..wire }),
        None => Ok(wire),
    }
}

fn check(request: &ImageRequest) -> Result<(), Unencodable> {
    let wrong = if request.prompt.trim().is_empty() {
        "there is no prompt to make an image of"
    } else if request.count == Some(0) {
        "no image was asked for: the count is 0"
    } else if request.size.is_some_and(|size| size.width == 0 || size.height == 0) {
        "an image needs a width and a height above 0"
    } else {
        return Ok(());
    };
    Err(Unencodable::OutOfRange(wrong.to_owned()))
}

/// Reads the answer of `provider`. Pure; cost: linear in the bytes.
///
/// # Errors
/// [`Unreadable`] when the bytes are no answer of that form, or there is no image in it.
///
/// ```
/// use thermidor_model_runtime::{bundled_providers, image::read};
///
/// let openai = &bundled_providers()[0];
/// let made = read(openai, br#"{"data":[{"b64_json":"iVBORw0KGgo="}]}"#)?;
/// assert_eq!(made.images[0].media.media_type, "image/png");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(provider: &Provider, bytes: &[u8]) -> Result<Images, Unreadable> {
    let made = match form(provider).map_err(|error| Unreadable::new(error.to_string()))? {
        ImageForm::Openai | ImageForm::Xai => openai::read(bytes, &provider.quirks)?,
        ImageForm::Venice => venice::read(bytes)?,
    };
    if made.images.is_empty() {
        return Err(Unreadable::new("no image came"));
    }
    Ok(made)
}

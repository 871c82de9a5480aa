//! `OpenAI`'s `POST /images/generations`, whose answers others give as well.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;
use thermidor_types::Text;

use super::{
    Image, ImageRequest, Images,
    picture::{inline, linked, media_type},
};
use crate::{
    Quirks,
    dialect::{Target, Unencodable, WireRequest, written},
    whole::{Unreadable, beside_chat, usage},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
}

/// Without `response_format`: newer models refuse it and send bytes, older ones send addresses.
pub(super) fn encode(request: &ImageRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let size = request.size.map(|size| format!("{}x{}", size.width, size.height));
    let body = Body { model, prompt: &request.prompt, size, n: request.count };
    Ok(WireRequest {
        path: beside_chat(target.provider, model, "/images/generations"),
        headers: Vec::new(),
        body: written(&body)?,
    })
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(default)]
    data: Vec<Entry>,
    #[serde(default)]
    output_format: Option<SmolStr>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    b64_json: Option<Text>,
    #[serde(default)]
    url: Option<Text>,
    #[serde(default)]
    mime_type: Option<SmolStr>,
    #[serde(default)]
    revised_prompt: Option<Text>,
}

/// `{data: [{b64_json | url, revised_prompt?, mime_type?}], output_format?, usage?}`
pub(super) fn read(bytes: &[u8], quirks: &Quirks) -> Result<Images, Unreadable> {
    let answer: Answer<'_> = serde_json::from_slice(bytes)?;
    let told = answer.output_format.as_deref().map(media_type);
    let image = |entry: Entry| {
        let told = entry.mime_type.or_else(|| told.clone());
        let media = match (entry.b64_json, entry.url) {
            (Some(data), _) => inline(data, told),
            (None, Some(url)) => linked(url, told),
            (None, None) => return Err(Unreadable::new("an image has neither bytes nor an address")),
        };
        Ok(Image { media, revised_prompt: entry.revised_prompt.filter(|prompt| !prompt.is_empty()) })
    };
    let images = answer.data.into_iter().map(image).collect::<Result<_, _>>()?;
    Ok(Images { images, usage: usage(answer.usage, quirks) })
}

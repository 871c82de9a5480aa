//! Venice's `POST /image/generate`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thermidor_types::{Text, Usage};

use super::{
    Image, ImageRequest, Images,
    picture::{inline, media_type},
};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::Unreadable,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

pub(super) fn encode(request: &ImageRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let body = Body {
        model: target.card.id.model(),
        prompt: &request.prompt,
        width: request.size.map(|size| size.width),
        height: request.size.map(|size| size.height),
        variants: request.count,
        seed: request.seed,
    };
    Ok(WireRequest { path: "/image/generate".to_owned(), headers: Vec::new(), body: written(&body)? })
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    images: Vec<Text>,
    /// What was asked, repeated.
    #[serde(default)]
    request: Value,
}

/// `{images: [base64], request: {data: {format}}}`. Neither tokens nor a bill are told.
pub(super) fn read(bytes: &[u8]) -> Result<Images, Unreadable> {
    let answer: Answer = serde_json::from_slice(bytes)?;
    let format = ["/data/format", "/format"].iter().find_map(|path| answer.request.pointer(path)?.as_str());
    let told = format.map(media_type);
    let image = |data| Image { media: inline(data, told.clone()), revised_prompt: None };
    Ok(Images { images: answer.images.into_iter().map(image).collect(), usage: Usage::default() })
}

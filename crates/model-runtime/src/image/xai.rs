//! xAI's `POST /images/generations`.

use serde::Serialize;

use super::{ImageRequest, ImageSize};
use crate::{
    dialect::{Target, Unencodable, WireRequest, written},
    whole::beside_chat,
};

/// The proportions that can be asked for, as width to height.
const RATIOS: [(u32, u32); 11] =
    [(1, 1), (4, 3), (3, 4), (3, 2), (2, 3), (16, 9), (9, 16), (2, 1), (1, 2), (20, 9), (9, 20)];

/// Up to so many pixels on the longer side the lower resolution will do.
const LOWER: u32 = 1_536;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    aspect_ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    /// Addresses would be gone soon.
    response_format: &'static str,
}

pub(super) fn encode(request: &ImageRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let model = target.card.id.model();
    let body = Body {
        model,
        prompt: &request.prompt,
        aspect_ratio: request.size.map(|size| {
            let (width, height) = ratio(size);
            format!("{width}:{height}")
        }),
        resolution: request.size.map(|size| if size.width.max(size.height) > LOWER { "2k" } else { "1k" }),
        n: request.count,
        response_format: "b64_json",
    };
    Ok(WireRequest {
        path: beside_chat(target.provider, model, "/images/generations"),
        headers: Vec::new(),
        body: written(&body)?,
    })
}

/// The nearest of the proportions on offer, by the factor between them.
fn ratio(size: ImageSize) -> (u32, u32) {
    let distance = |(width, height): (u32, u32)| {
        let wanted = f64::from(size.width) / f64::from(size.height);
        (wanted * f64::from(height) / f64::from(width)).ln().abs()
    };
    let nearest = RATIOS.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    nearest.unwrap_or((1, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_proportions_are_taken() {
        let check = |width, height, expected| assert_eq!(ratio(ImageSize { width, height }), expected);
        check(1024, 1024, (1, 1));
        check(1024, 768, (4, 3));
        check(1366, 768, (16, 9));
        check(700, 1000, (2, 3));
        check(1, 4000, (9, 20));
    }
}

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thermidor_types::{Json, Media, ModelCard, Text, Usage};

use crate::Error;

/// Makes images of words.
///
/// ```no_run
/// use thermidor_model_runtime::{ModelRuntime, image::ImageRequest};
///
/// # async fn run(key: String) -> Result<(), thermidor_model_runtime::Error> {
/// let runtime = ModelRuntime::builder().key("openai", key).build()?;
/// let made = runtime.image("openai/gpt-image-1")?.generate(ImageRequest::of("A red circle")).await?;
/// println!("{} for {:?}", made.images[0].media.media_type, made.usage.cost);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait ImageModel: Send + Sync + 'static {
    /// What is known of the model: its id, and its price where that is known.
    fn card(&self) -> &ModelCard;

    /// At least one image. Costs one request, which may take a minute or more. Where the connection breaks or the answer
    /// is no image it is tried again, and the provider may bill each try.
    ///
    /// # Errors
    /// [`InvalidRequest`](thermidor_types::FailureKind::InvalidRequest) without a prompt, or for a size or number that
    /// cannot be; [`ContentRefused`](thermidor_types::FailureKind::ContentRefused) when the provider's rules forbid the
    /// image; [`Malformed`](thermidor_types::FailureKind::Malformed) when none came. Otherwise as those of a chat.
    async fn generate(&self, request: ImageRequest) -> Result<Images, Error>;
}

/// What is to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageRequest {
    /// In words.
    pub prompt: Text,
    /// How large, in pixels; the provider's choice when unset. Providers that take only proportions get the nearest.
    pub size: Option<ImageSize>,
    /// How many; one when unset.
    pub count: Option<u32>,
    /// The seed of chance, where the provider takes one.
    pub seed: Option<u64>,
    /// Fields for this provider alone, such as a quality: a JSON object, merged into the body last.
    pub extra: Option<Json>,
}

impl ImageRequest {
    /// One image of this, as the provider likes to make it.
    pub fn of(prompt: impl Into<Text>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageSize {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// Images, and what they took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// At least one.
    pub images: Vec<Image>,
    /// What the provider says it took, with its cost where that is known. Nothing where the provider tells nothing.
    pub usage: Usage,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its bytes, or where they are: addresses of providers hold for an hour or so.
    pub media: Media,
    /// What the provider made of the prompt before it made the image, where it tells.
    pub revised_prompt: Option<Text>,
}

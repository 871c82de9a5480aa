//! Words to images.
//!
//! [`ImageModel`] is the trait, [`ModelRuntime::image`](crate::ModelRuntime::image) hands out models. [`encode`] and
//! [`read`] are the pure codecs behind them. Models that chat and make images in their answers are chat models.

mod form;
mod http;
mod model;
mod openai;
mod picture;
mod venice;
mod xai;

pub use form::{ImageForm, encode, read};
pub(crate) use http::HttpImage;
pub use model::{Image, ImageModel, ImageRequest, ImageSize, Images};

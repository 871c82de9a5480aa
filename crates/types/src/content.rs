use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{ContentHash, ModelId, Text};

/// One part of what a person, a tool or the operator says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Words.
    Text(Text),
    /// An image, a sound, a video or a file.
    Media(Media),
}

impl Content {
    /// Words.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(text.into())
    }
}

/// An image, a sound, a video or a file. What it is follows from its media type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type (RFC 6838), for instance `image/png`.
    pub media_type: SmolStr,
    /// Where the bytes are.
    pub source: MediaSource,
    /// A name for people and for tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
}

/// Where the bytes of a [`Media`] are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaSource {
    /// On the network.
    Url(Text),
    /// In the blob store.
    Blob {
        /// The content address.
        hash: ContentHash,
        /// The size in bytes.
        length: u64,
    },
    /// Here, as base64 (RFC 4648, with padding).
    Base64(Text),
}

/// The first half of a media type: `image` of `image/png`.
pub fn media_kind(media_type: &str) -> &str {
    media_type.split('/').next().unwrap_or_default()
}

/// What a model thought before it answered.
///
/// A provider that signs reasoning wants it back unchanged, and only from the model that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The readable part; empty when the provider hides it.
    pub text: Text,
    /// The provider's signature or encrypted form, opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text>,
    /// The model that made it: it is dropped when another model reads the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
}

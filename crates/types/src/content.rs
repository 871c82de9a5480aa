use std::ops::Range;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{ContentHash, Json, ModelId, Text};

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

/// An item of an answer that only its own provider understands: reasoning in an encrypted form, a search the
/// provider ran itself, the state of a server-side tool.
///
/// It is kept byte for byte and sent back in its place, to the model that made it and to no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeItem {
    /// The model that made it: it is dropped when another model reads the history.
    pub model: ModelId,
    /// The item in the provider's own form.
    pub item: Json,
}

/// A source that an answer names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// Where the source is on the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Text>,
    /// What the source is called: a page, a document of the request, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The words taken from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Text>,
    /// The words of the answer that rest on it, in bytes of its text parts written one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
}

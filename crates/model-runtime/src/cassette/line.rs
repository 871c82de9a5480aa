use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{base64, http::Broken};

/// What the first line says the file is.
pub(super) const KIND: &str = "thermidor.cassette";
/// The newest form that is read, and the one that is written.
pub(super) const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) kind: SmolStr,
    pub(super) version: u32,
    /// RFC 3339.
    pub(super) recorded_at: String,
}

/// Every other line: one exchange.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) provider: SmolStr,
    pub(super) model: SmolStr,
    pub(super) method: SmolStr,
    /// The address without scheme and host.
    pub(super) path: String,
    /// The id of the run it belongs to: it stands in the ids of tool calls, and every run has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    pub(super) request: Body,
    /// None when no answer came.
    pub(super) status: Option<u16>,
    #[serde(default)]
    pub(super) content_type: Option<String>,
    /// The headers that say something beside the body.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(super) headers: IndexMap<String, String>,
    pub(super) response: Body,
    #[serde(default)]
    pub(super) ending: Ending,
}

/// How an exchange came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    /// All of the answer was read.
    #[default]
    Whole,
    /// Whoever asked did not read on: it was stopped, its patience was over, or it had what it needed.
    Left,
    /// Nothing came in the time the connection allows.
    Late,
    /// There was no connection.
    Unreachable,
    /// The connection broke.
    Broke,
}

impl Ending {
    pub(super) fn of(broken: Broken) -> Self {
        match broken {
            Broken::Late => Self::Late,
            Broken::Unreachable => Self::Unreachable,
            Broken::Unwritable | Broken::Broke => Self::Broke,
        }
    }

    /// What breaks when it is played; nothing breaks after a whole answer.
    pub(super) fn broken(self) -> Option<Broken> {
        match self {
            Self::Whole => None,
            Self::Late => Some(Broken::Late),
            Self::Unreachable => Some(Broken::Unreachable),
            Self::Left | Self::Broke => Some(Broken::Broke),
        }
    }
}

/// A body: text where it is UTF-8, `{"base64": …}` where it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Body {
    Text(String),
    Bytes { base64: String },
}

impl Body {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes { base64: base64::encoded(error.as_bytes()) },
        }
    }

    /// `None` when the base64 is none.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Bytes { base64 } => base64::bytes(base64),
        }
    }
}

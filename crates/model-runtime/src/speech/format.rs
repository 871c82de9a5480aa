use serde::{Deserialize, Serialize};

/// How a sound is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AudioFormat {
    /// MPEG layer 3.
    #[default]
    Mp3,
    /// RIFF with plain samples.
    Wav,
    /// Compressed without loss.
    Flac,
    /// Opus in Ogg.
    Opus,
    /// Vorbis in Ogg.
    Ogg,
    /// AAC in MPEG-4.
    M4a,
    /// Bare AAC.
    Aac,
    /// Opus in `WebM`.
    Webm,
    /// Bare samples of 16 bits, little endian, without a head that tells their rate.
    Pcm,
}

impl AudioFormat {
    /// Its name in requests, which is the usual ending of a file as well.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Wav => "wav",
            Self::Flac => "flac",
            Self::Opus => "opus",
            Self::Ogg => "ogg",
            Self::M4a => "m4a",
            Self::Aac => "aac",
            Self::Webm => "webm",
            Self::Pcm => "pcm",
        }
    }

    /// Its media type (RFC 6838).
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
            Self::Flac => "audio/flac",
            Self::Opus | Self::Ogg => "audio/ogg",
            Self::M4a => "audio/mp4",
            Self::Aac => "audio/aac",
            Self::Webm => "audio/webm",
            Self::Pcm => "audio/pcm",
        }
    }
}

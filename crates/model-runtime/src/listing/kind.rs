use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// It answers in words.
    #[default]
    Chat,
    /// It turns text into vectors.
    Embedding,
    /// It makes images.
    Image,
    /// It speaks, or writes down what is spoken.
    Speech,
    /// Anything else: moderation, ranking, video, plain completion.
    Other,
}

/// Words in a model's name that tell its kind; the first that is found counts.
const WORDS: [(&str, ModelKind); 27] = [
    ("embed", ModelKind::Embedding),
    ("bge-m3", ModelKind::Embedding),
    ("rerank", ModelKind::Other),
    ("moderation", ModelKind::Other),
    ("guard", ModelKind::Other),
    ("realtime", ModelKind::Other),
    ("ocr", ModelKind::Other),
    ("sora", ModelKind::Other),
    ("veo-", ModelKind::Other),
    ("whisper", ModelKind::Speech),
    ("transcri", ModelKind::Speech),
    ("tts", ModelKind::Speech),
    ("-audio", ModelKind::Speech),
    ("voxtral", ModelKind::Speech),
    ("dall-e", ModelKind::Image),
    ("imagen", ModelKind::Image),
    ("gpt-image", ModelKind::Image),
    ("grok-imagine", ModelKind::Image),
    ("-image", ModelKind::Image),
    ("flux", ModelKind::Image),
    ("stable-diffusion", ModelKind::Image),
    ("seedream", ModelKind::Image),
    ("davinci", ModelKind::Other),
    ("curie", ModelKind::Other),
    ("babbage", ModelKind::Other),
    ("-instruct-0914", ModelKind::Other),
    ("turbo-instruct", ModelKind::Other),
];

impl ModelKind {
    /// The kind that a name suggests, where a provider tells nothing but names.
    pub fn guess(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        WORDS.iter().find(|(word, _)| name.contains(word)).map_or(Self::Chat, |(_, kind)| *kind)
    }

    /// The kind in the word of a provider that tells it.
    pub(super) fn told(word: &str) -> Option<Self> {
        match word {
            "text" | "chat" | "language" | "completion" | "text-generation" | "llm" => Some(Self::Chat),
            "embedding" | "embeddings" | "text-embedding" => Some(Self::Embedding),
            "image" => Some(Self::Image),
            "audio" | "tts" | "asr" | "transcribe" | "speech" => Some(Self::Speech),
            "moderation" | "rerank" | "video" | "upscale" | "inpaint" | "music" => Some(Self::Other),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a program were offered to chat with a model that cannot.
    #[test]
    fn names_suggest_kinds() {
        let check = |name: &str, kind: ModelKind| assert_eq!(ModelKind::guess(name), kind, "{name}");
        for chat in ["gpt-4o", "claude-sonnet-4-6", "Qwen/Qwen3-30B-Instruct", "llama-3.1-8b-instant", "o3"] {
            check(chat, ModelKind::Chat);
        }
        check("text-embedding-3-small", ModelKind::Embedding);
        check("gpt-4o-mini-tts", ModelKind::Speech);
        check("gpt-4o-audio-preview", ModelKind::Speech);
        check("whisper-1", ModelKind::Speech);
        check("gpt-image-1", ModelKind::Image);
        check("gemini-2.5-flash-image-preview", ModelKind::Image);
        check("black-forest-labs/FLUX.1-schnell", ModelKind::Image);
        check("omni-moderation-latest", ModelKind::Other);
        check("gpt-3.5-turbo-instruct", ModelKind::Other);
    }
}

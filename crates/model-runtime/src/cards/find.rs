//! How a name finds its card.
//!
//! A name and a card are compared without their tails: a snapshot (`-2024-07-18`, `-20250929`, `@20250929`,
//! `-2512`, `-001`), `-latest`, and a stage (`-preview`, `-exp`, `-beta`). What is left has to be the same,
//! whereby case does not count and a dot is a dash. Then:
//!
//! - The same tails, or a snapshot on one side and none on the other: the same model. The whole card holds.
//!   Snapshots with another price have cards of their own, and an exact name goes before everything else.
//! - Different tails otherwise: a release of the same family at a price nobody told. `-latest` moves, a preview
//!   is often cheaper or free. The window and the abilities hold, the price is unknown.
//! - Anything else between (`gpt-4o-audio-preview`, `gpt-4o-mini`) is another model.

use thermidor_types::{ModelCard, ModelId};

/// Owners whose gateway name differs from their name here.
const OWNERS: [(&str, &str); 6] = [
    ("x-ai", "xai"),
    ("mistralai", "mistral"),
    ("moonshotai", "moonshot"),
    ("z-ai", "zhipu"),
    ("dashscope", "qwen"),
    ("alibaba", "qwen"),
];

/// The card of `id` among `cards`: the exact one, one by the rule above, or the owner's card for a model at a
/// gateway. `openrouter/openai/gpt-5` is a `gpt-5`, but its price is the gateway's own and unknown.
///
/// Cost: linear in the cards.
pub(crate) fn find(id: &ModelId, cards: &[ModelCard]) -> Option<ModelCard> {
    if let Some(card) = cards.iter().find(|card| card.id == *id) {
        return Some(card.clone());
    }
    if let Some((card, likeness)) = nearest(id, cards) {
        let price = card.price.clone().filter(|_| likeness == Likeness::Same);
        return Some(ModelCard { id: id.clone(), price, ..card.clone() });
    }
    // What follows a colon is a gateway's own word for how it serves the model: `:free`, `:nitro`.
    let owned = id.model().split(':').next().unwrap_or_default();
    let owned: ModelId = owned.parse().ok()?;
    let owner = OWNERS.iter().find(|(theirs, _)| *theirs == owned.provider());
    let owned = owner.map_or(owned.clone(), |(_, ours)| ModelId::new(*ours, owned.model()));
    let card = cards.iter().find(|card| card.id == owned);
    let card = card.or_else(|| nearest(&owned, cards).map(|(card, _)| card))?;
    Some(ModelCard { id: id.clone(), price: None, ..card.clone() })
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The same model under another name.
    Same,
    /// Another release of the same family.
    Kin,
}

fn nearest<'a>(id: &ModelId, cards: &'a [ModelCard]) -> Option<(&'a ModelCard, Likeness)> {
    let name = Name::read(id.model());
    let siblings = cards.iter().filter(|card| card.id.provider() == id.provider());
    let alike = siblings.filter_map(|card| Some((card, name.likeness(&Name::read(card.id.model()))?)));
    alike.min_by_key(|(_, likeness)| *likeness)
}

/// A model's name without its tails, and the tails.
#[derive(Debug, PartialEq, Eq)]
struct Name<'a> {
    stem: &'a str,
    stage: Stage,
    release: Release<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Stable,
    Preview,
}

#[derive(Debug, PartialEq, Eq)]
enum Release<'a> {
    Unsaid,
    Latest,
    Snapshot(&'a str),
}

impl<'a> Name<'a> {
    fn read(name: &'a str) -> Self {
        let (stem, release) = match name.strip_suffix("-latest") {
            Some(stem) => (stem, Release::Latest),
            None => {
                snapshot(name).map_or((name, Release::Unsaid), |(stem, date)| (stem, Release::Snapshot(date)))
            }
        };
        let preview = ["-preview", "-exp", "-beta"].iter().find_map(|tail| stem.strip_suffix(tail));
        match preview {
            Some(stem) => Self { stem, stage: Stage::Preview, release },
            None => Self { stem, stage: Stage::Stable, release },
        }
    }

    fn likeness(&self, card: &Name<'_>) -> Option<Likeness> {
        let letter = |byte: u8| if byte == b'.' { b'-' } else { byte.to_ascii_lowercase() };
        if !self.stem.bytes().map(letter).eq(card.stem.bytes().map(letter)) {
            return None;
        }
        let same = self.stage == card.stage
            && match (&self.release, &card.release) {
                (Release::Unsaid, Release::Snapshot(_)) | (Release::Snapshot(_), Release::Unsaid) => true,
                (ours, theirs) => ours == theirs,
            };
        Some(if same { Likeness::Same } else { Likeness::Kin })
    }
}

/// Splits the date of a snapshot, or its number, off a name.
fn snapshot(name: &str) -> Option<(&str, &str)> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let month = |text: &str| number(text).is_some_and(|month| (1..=12).contains(&month));
    let day = |text: &str| number(text).is_some_and(|day| (1..=31).contains(&day));
    let year = |text: &str| number(text).is_some_and(|year| (2020..2100).contains(&year));
    let cut = |length: usize| {
        let at = name.len().checked_sub(length)?;
        let (head, tail) = (name.get(..at)?, name.get(at..)?);
        (!head.is_empty()).then_some((head, tail))
    };
    // `-2024-07-18`, `-04-17` and `-09-2025`
    if let Some((stem, tail)) = cut(11)
        && let [b'-', .., b'-', _, _, b'-', _, _] = tail.as_bytes()
        && year(&tail[1..5])
        && month(&tail[6..8])
        && day(&tail[9..])
    {
        return Some((stem, &tail[1..]));
    }
    if let Some((stem, tail)) = cut(8)
        && let [b'-', _, _, b'-', ..] = tail.as_bytes()
        && month(&tail[1..3])
        && year(&tail[4..])
    {
        return Some((stem, &tail[1..]));
    }
    if let Some((stem, tail)) = cut(6)
        && let [b'-', _, _, b'-', _, _] = tail.as_bytes()
        && month(&tail[1..3])
        && day(&tail[4..])
    {
        return Some((stem, &tail[1..]));
    }
    let (stem, tail) = name.rsplit_once(['-', '@'])?;
    let dated = match tail.len() {
        8 => year(tail.get(..4)?) && month(tail.get(4..6)?) && day(tail.get(6..)?),
        6 => month(tail.get(2..4)?) && day(tail.get(4..)?),
        // A year and a month, or a month and a day.
        4 => number(tail).is_some_and(|number| {
            let (high, low) = (number / 100, number % 100);
            ((23..40).contains(&high) && (1..=12).contains(&low))
                || ((1..=12).contains(&high) && (1..=31).contains(&low))
        }),
        3 => tail.starts_with("00") && number(tail).is_some(),
        _ => false,
    };
    (dated && !stem.is_empty()).then_some((stem, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled_cards;

    /// What `name` is taken for: the input rate that is billed, the window alone, or nothing.
    fn taken(name: &str) -> String {
        match find(&name.parse().expect("an id"), bundled_cards()) {
            Some(ModelCard { price: Some(price), .. }) => price.input.to_string(),
            Some(card) => format!("window {}", card.context_window),
            None => "unknown".to_owned(),
        }
    }

    /// Would fail if a model were billed at the price of another one, or a snapshot not at its own.
    #[test]
    fn snapshots_find_their_model_and_nothing_else_does() {
        let check = |name: &str, expected: &str| assert_eq!(taken(name), expected, "{name}");
        check("openai/gpt-4o-mini-2024-07-18", "150000");
        check("openai/gpt-4o-2024-11-20", "2500000");
        check("openai/gpt-4o-2024-05-13", "5000000");
        check("openai/gpt-5-2025-08-07", "1250000");
        check("openai/GPT-5", "1250000");
        check("anthropic/claude-sonnet-4-5", "3000000");
        check("anthropic/claude-haiku-4-5@20251001", "1000000");
        check("anthropic/claude-sonnet-4-6-20260217", "3000000");
        check("google/gemini-2.5-pro-001", "1250000");
        check("xai/grok-4-0709", "3000000");
        check("volcengine/doubao-seed-1-6-250615", "800000");
        check("mistral/devstral", "400000");
        check("mistral/mistral-large-latest", "2000000");
        // Of the family, at a price nobody told.
        check("mistral/mistral-large-2512", "window 131072");
        check("anthropic/claude-sonnet-4-5-latest", "window 200000");
        check("anthropic/claude-sonnet-4-5-20260101", "window 200000");
        check("google/gemini-2.5-flash-preview-04-17", "window 1114112");
        check("google/gemini-2.5-flash-preview-09-2025", "window 1114112");
        check("google/gemini-3-flash", "window 1114112");
        // Other models.
        for other in [
            "openai/gpt-4o-audio-preview",
            "openai/gpt-4o-audio-preview-2024-12-17",
            "openai/gpt-4o-mini-audio-preview",
            "openai/chatgpt-4o-latest",
            "openai/gpt-4-0613",
            "openai/gpt-5.1-chat-latest",
            "google/gemini-2.5-flash-image-preview",
            "google/gemini-2.5-flash-preview-tts",
            "xai/grok-4-fast",
            "mistral/mistral-large",
            "deepseek/gpt-4o",
            "cohere/2025-03-01",
        ] {
            let wanted = if other.ends_with("mistral-large") { "window 131072" } else { "unknown" };
            check(other, wanted);
        }
    }

    #[test]
    fn a_gateway_model_has_the_owners_window_and_no_price() {
        let check = |name: &str, window: &str| assert_eq!(taken(name), window, "{name}");
        check("openrouter/openai/gpt-5-mini", "window 400000");
        check("openrouter/anthropic/claude-haiku-4.5", "window 200000");
        check("openrouter/x-ai/grok-4.3", "window 1000000");
        check("openrouter/openai/gpt-4o:extended", "window 128000");
        check("openrouter/openai/gpt-9", "unknown");
        check("openrouter/openai", "unknown");
    }
}

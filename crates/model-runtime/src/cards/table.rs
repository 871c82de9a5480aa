use std::sync::LazyLock;

use serde::Deserialize;
use thermidor_types::ModelCard;

/// One file for each provider.
const FILES: [&str; 14] = [
    include_str!("models/openai.toml"),
    include_str!("models/anthropic.toml"),
    include_str!("models/google.toml"),
    include_str!("models/deepseek.toml"),
    include_str!("models/qwen.toml"),
    include_str!("models/moonshot.toml"),
    include_str!("models/zhipu.toml"),
    include_str!("models/minimax.toml"),
    include_str!("models/xai.toml"),
    include_str!("models/mistral.toml"),
    include_str!("models/groq.toml"),
    include_str!("models/volcengine.toml"),
    include_str!("models/perplexity.toml"),
    include_str!("models/cohere.toml"),
];

static CARDS: LazyLock<Vec<ModelCard>> = LazyLock::new(|| {
    let read = |file: &str| toml::from_str::<Table>(file).expect("a test reads the bundled tables").model;
    FILES.into_iter().flat_map(read).collect()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    model: Vec<ModelCard>,
}

/// The model cards that ship. Parsed once, on first use.
///
/// Prices are those of the day the release was made; [`ModelRuntime::list`](crate::ModelRuntime::list) asks the
/// providers themselves, and a card given to the builder goes before a bundled one.
pub fn bundled_cards() -> &'static [ModelCard] {
    &CARDS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{bundled_providers, cards::check_card};

    /// Owners whose models have cards although their own service is no bundled provider: gateways serve them.
    const OWNERS: [&str; 2] = ["anthropic", "google"];

    #[test]
    fn bundled_cards_are_sound_and_priced() {
        let mut seen = HashSet::new();
        assert!(bundled_cards().len() >= 80);
        for card in bundled_cards() {
            let owner = card.id.provider();
            let provider = bundled_providers().iter().any(|provider| provider.name == owner);
            assert!(provider || OWNERS.contains(&owner), "{} has no provider", card.id);
            assert!(seen.insert(&card.id), "{} is there twice", card.id);
            check_card(card).expect("sound");
            assert!(card.price.is_some(), "{} has no price", card.id);
        }
    }

    /// Would fail if a figure lost a digit on its way into the tables.
    #[test]
    fn prices_are_what_the_price_lists_say() {
        let price = |id: &str| {
            let card = bundled_cards().iter().find(|card| card.id.to_string() == id).expect(id);
            card.price.clone().expect(id)
        };
        let sonnet = price("anthropic/claude-sonnet-4-6");
        assert_eq!((sonnet.input, sonnet.output), (3_000_000, 15_000_000));
        assert_eq!((sonnet.cached_input, sonnet.cache_write), (Some(300_000), Some(3_750_000)));
        assert_eq!((sonnet.cache_write_hour, sonnet.batch_percent), (Some(6_000_000), Some(50)));
        let gpt = price("openai/gpt-5.4");
        let tier = &gpt.tiers[0];
        assert_eq!((gpt.input, tier.above.0, tier.input), (2_500_000, 272_000, 5_000_000));
        let coder = price("qwen/qwen3-coder-plus");
        assert_eq!(coder.currency.code(), "CNY");
        let sizes: Vec<u64> = coder.tiers.iter().map(|tier| tier.above.0).collect();
        assert_eq!(sizes, [32_000, 128_000, 256_000]);
    }
}

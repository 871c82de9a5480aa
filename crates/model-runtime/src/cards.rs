use std::sync::LazyLock;

use serde::Deserialize;
use thermidor_types::{ModelCard, ModelId};

static CARDS: LazyLock<Vec<ModelCard>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("models.toml")).expect("a test reads the bundled table");
    table.model
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    model: Vec<ModelCard>,
}

/// The model cards that ship. Parsed once, on first use.
pub fn bundled_cards() -> &'static [ModelCard] {
    &CARDS
}

/// The card of `id`, or the card of the same model at another address: `openrouter/openai/gpt-5` is a
/// `gpt-5`, but its price is the gateway's own and unknown.
pub(crate) fn find(id: &ModelId) -> Option<ModelCard> {
    if let Some(card) = bundled_cards().iter().find(|card| card.id == *id) {
        return Some(card.clone());
    }
    let owned: ModelId = id.model().parse().ok()?;
    let card = bundled_cards().iter().find(|card| card.id == owned)?;
    Some(ModelCard { id: id.clone(), price: None, ..card.clone() })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::bundled_providers;

    #[test]
    fn cards_are_plausible_and_every_default_with_a_price_list_has_one() {
        let mut seen = HashSet::new();
        assert!(bundled_cards().len() >= 40);
        for card in bundled_cards() {
            let provider = bundled_providers().iter().find(|provider| provider.name == card.id.provider());
            assert!(provider.is_some(), "{} has no provider", card.id);
            assert!(seen.insert(&card.id), "{} is there twice", card.id);
            assert!(card.max_output.is_none_or(|most| most <= card.context_window), "{}", card.id);
            let price = card.price.as_ref().expect("priced");
            assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{}", card.id);
            assert!(price.input <= price.output, "{}", card.id);
        }
    }

    #[test]
    fn a_gateway_model_has_the_owners_window_and_no_price() {
        let card = find(&"openrouter/openai/gpt-5-mini".parse().expect("valid")).expect("known");
        assert_eq!((card.context_window.0, card.price), (400_000, None));
        assert_eq!(find(&"openrouter/openai/gpt-9".parse().expect("valid")), None);
    }
}

//! Whether a limit of money can hold.

use thermidor_model_runtime::{ChatModel as _, ModelRuntime, Rehearsal};
use thermidor_types::{Currency, ModelId, Money};

/// Why `limit` cannot hold for the model `id`, as a sentence with the remedy. `None` when it can: the price is known
/// in the limit's currency, or the provider says itself what it bills, which all of them do in US dollars.
pub(crate) fn doubt(runtime: &ModelRuntime, id: &ModelId, limit: Money) -> Option<String> {
    if *id == Rehearsal::instant().card().id {
        return None;
    }
    let row = runtime.providers().find(|row| row.name == id.provider());
    let bills = row.is_some_and(|row| row.serving(id.model()).quirks.bills());
    let price = runtime.card(&id.to_string()).ok().and_then(|(card, _)| card.price);
    let currency = if bills { Some(Currency::USD) } else { price.map(|price| price.currency) };
    match currency {
        Some(currency) if currency == limit.currency() => None,
        Some(currency) => Some(format!(
            "{id} is billed in {}, which a limit of {limit} does not count: name the limit as --max-cost AMOUNT{}",
            currency.code(),
            currency.code(),
        )),
        None => Some(format!(
            "no price is known of {id}, so a limit of {limit} cannot hold: use --max-tokens, or give its price in \
             [[models]] of config.toml (thermidor config --help shows the form)"
        )),
    }
}

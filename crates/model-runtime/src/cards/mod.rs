//! What is known of models: the cards that ship, how a name finds its card, what makes a card sound.

mod check;
mod find;
mod table;

pub use check::{CardFault, check_card};
pub(crate) use find::find;
pub use table::bundled_cards;

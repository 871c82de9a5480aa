//! Providers as data: one row each.

pub(crate) mod address;
mod quirk;
mod row;
mod table;

pub use quirk::{Quirk, Quirks};
pub use row::{Auth, Dialect, Evidence, ModelRule, Provider};
pub use table::bundled_providers;

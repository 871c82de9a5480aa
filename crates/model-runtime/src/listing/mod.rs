//! What models a provider serves: its own list, read into one form.
//!
//! [`read`] and [`read_details`] are pure; [`HttpListing`] asks over HTTP.

mod anthropic;
mod form;
mod google;
mod http;
mod kind;
mod model;
mod ollama;
mod openai;
mod price;
mod told;

pub use form::{ListingForm, Page, read, read_details};
pub use http::HttpListing;
pub use kind::ModelKind;
pub use model::{ListedModel, ModelListing};

//! Turns a conversation and a context view into a prompt that fits, and says why it is as it is.
//!
//! *Providers* offer blocks, *processors* change what is sent, a budget fits the whole into the model's
//! window, and the [`Report`] has a line for everything: its tokens, whether it was kept, shortened or
//! dropped, and why. The same view gives the same prompt, byte for byte; what changes least stands first, for
//! prompt caches.
//!
//! ```
//! use thermidor_context_engine::{ContextEngine, Contribution, Room, View, provider_fn, steps::SystemRole};
//! use thermidor_types::{ModelCard, Timestamp, Tokens};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = ContextEngine::standard()
//!     .provider(SystemRole::new("You plan projects."))
//!     .provider(provider_fn("mood", |_| [Contribution::tail("mood", "Be brief.")]))
//!     .build()?;
//! let model = ModelCard::unknown("openai/gpt-5".parse()?, Tokens(128_000));
//! let view = View::new(Timestamp::from_millis(1_780_000_000_000), model, "A tea timer");
//! let prompt = engine.prompt(view, vec![], Room { answer: Tokens(4_000) }).await?;
//! assert!(prompt.messages[1].text().starts_with("<request>\nA tea timer\n</request>"));
//! println!("{}", prompt.report);
//! # Ok(()) }
//! ```

mod assemble;
mod block;
mod builder;
mod cache;
mod contribution;
mod counter;
mod date;
mod draft;
mod engine;
mod error;
mod fit;
mod language;
mod placeholders;
mod processor;
mod provider;
mod render;
mod report;
mod shorten;
pub mod steps;
mod tiktoken;
mod unit;
mod view;
mod weigh;

pub use async_trait::async_trait;
pub use block::Block;
pub use builder::{ContextEngineBuilder, Step};
pub use contribution::{Contribution, Frame, Keep, Slot, Stability};
pub use counter::{EstimateCounter, TokenCounter};
pub use draft::Draft;
pub use engine::{ContextEngine, Prompt, Room};
pub use error::Error;
pub(crate) use fit::Fit;
pub use language::Language;
pub use placeholders::{Filled, fill, placeholders};
pub use processor::{MessageProcessor, Stage, processor_at, processor_fn};
pub use provider::{ContextProvider, provider_async, provider_fn};
pub use report::{Report, ReportLine, Source, Verdict, Warning};
pub use shorten::shorten;
pub use tiktoken::{TiktokenCounter, Vocabulary};
pub use unit::Unit;
pub use view::{Upstream, View};
pub use weigh::{EXCHANGE_FRAME, IMAGE, MESSAGE_FRAME, RECORDING, TOOL_FRAME, request_tokens};

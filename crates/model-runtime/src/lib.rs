//! Talks to language models: one trait, many providers, streams with typed endings.
//!
//! A provider is a row of data, a dialect is a pure codec, and what stands around a model (timeouts, retry,
//! metering) is a decorator of [`ChatModel`]. The crate reads no environment: keys are handed in.
//!
//! ```no_run
//! use futures_util::StreamExt;
//! use thermidor_model_runtime::{ChatEvent, ChatRequest, ModelRuntime};
//! use thermidor_types::Message;
//!
//! # async fn run(key: String) -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = ModelRuntime::builder().key("deepseek", key).build()?;
//! let model = runtime.model("deepseek/deepseek-chat")?;
//! let request = ChatRequest { messages: vec![Message::user("Why is the sky blue?")], ..Default::default() };
//! let mut answer = model.stream(request).await?;
//! while let Some(event) = answer.next().await {
//!     match event {
//!         ChatEvent::Text(text) => print!("{text}"),
//!         ChatEvent::Ended(end) => println!("\n{:?}, {:?}", end.ending, end.message.usage.cost),
//!         ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => {}
//!     }
//! }
//! # Ok(()) }
//! ```

mod base64;
mod cards;
mod cassette;
mod chat;
mod cost;
pub mod dialect;
pub mod embedding;
mod error;
mod ext;
mod forms;
mod http;
pub mod image;
mod layer;
pub mod listing;
mod provider;
mod rehearsal;
pub mod repair;
mod runtime;
pub mod schema;
pub mod speech;
mod sse;
mod whole;

pub use cards::{CardFault, bundled_cards, check_card};
pub use cassette::Cassette;
pub use chat::{
    CacheLifetime, CacheMarks, ChatEvent, ChatModel, ChatRequest, ChatStream, PromptCache, ReasoningEffort,
    ResponseSchema, StreamEnd, StreamEnding, ToolChoice, UnknownShape,
};
pub use cost::{batch_cost, cost};
pub use dialect::FaultClass;
pub use error::Error;
pub use ext::ChatModelExt;
pub use forms::{ConstrainedTools, StructuredOutput};
pub use http::{HttpModel, Timeouts};
#[cfg(feature = "tower")]
pub use layer::tower;
pub use layer::{
    Breaker, BreakerPolicy, BreakerState, CallObserver, CallReport, CallStep, Chance, Channel, Failover,
    Limited, Limiter, Limits, Metered, Observed, Order, Retry, RetryPolicy, estimated_input,
};
pub use provider::{Auth, Dialect, Evidence, ModelRule, Provider, Quirk, Quirks, bundled_providers};
pub use rehearsal::{Contract, Language, Material, MaterialKind, Rehearsal};
pub use runtime::{Known, LocalServer, ModelRuntime, ModelRuntimeBuilder, Preview};
pub use whole::{Services, Unreadable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

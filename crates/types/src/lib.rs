//! The words every Thermidor crate shares: messages, content, ids, usage, money, model cards, failures.
//!
//! Nothing here does I/O, reads a clock or knows a provider's wire format. All types are plain data with
//! serde; enums that reach a journal are externally tagged, so that raw JSON inside them survives.
//!
//! ```
//! use thermidor_types::{AssistantMessage, Exchange, Message, Origin, Part, ToolCall, ToolResult};
//!
//! let call = ToolCall::new("call_1", "weather", r#"{"city":"Oslo"}"#);
//! let exchange = Exchange::open(call).answered(ToolResult::text("sunny"));
//! let message = Message::Assistant(AssistantMessage {
//!     parts: vec![Part::text("Let me look."), Part::Exchange(exchange)],
//!     origin: Origin::member("researcher"),
//!     ..AssistantMessage::default()
//! });
//! assert_eq!(message.text(), "Let me look.");
//! ```

mod chunked;
mod content;
mod failure;
mod hash;
mod ids;
mod json;
mod message;
mod model;
mod money;
mod near;
mod schema;
mod text;
mod time;
mod usage;

pub use chunked::Chunked;
pub use content::{Citation, Content, Media, MediaSource, NativeItem, Reasoning, media_kind};
pub use failure::{Failure, FailureKind};
pub use hash::{ContentHash, ParseHashError};
pub use ids::{CallId, CommandId, Ids, MemberId, RandomIds, SequentialIds, TreeId};
pub use json::Json;
pub use message::{
    AssistantMessage, Ending, Exchange, Message, Origin, OriginKind, Part, Role, SystemMessage, ToolCall,
    ToolOutcome, ToolResult, UserMessage,
};
pub use model::{Abilities, ModelCard, ModelId, ParseModelIdError, Price, PriceTier};
pub use money::{Currency, Money, ParseMoneyError};
pub use near::near;
pub use schema::ToolSchema;
pub use text::Text;
pub use time::{Clock, ParseTimestampError, Timestamp};
pub use usage::{Measure, Tokens, Usage};
pub use uuid::Uuid;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

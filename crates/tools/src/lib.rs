//! Callable tools for language models.
//!
//! A [`Tool`] says what it is ([`ToolSpec`]) and does it. A [`Registry`] holds tools under names in any
//! script, shows them to a model under names every provider accepts, finds the way back, and runs a call:
//! with a deadline, a stop, an output limit, and an answer in words for the model on every path.
//!
//! Invariant: [`Registry::run`] gives exactly one result for every call, whatever the tool does.
//!
//! ```
//! use thermidor_tools::{Calculator, JsonSchema, Registry, ToolContext, tool_fn};
//! use thermidor_types::{ToolCall, ToolResult};
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Who is greeted.
//!     name: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), thermidor_tools::Error> {
//! let greet = tool_fn("greet", "Greets somebody", async |Greet { name }| format!("Hello {name}!"));
//! let mut tools = Registry::default();
//! tools.register(greet)?.register(Calculator::default())?;
//!
//! let call = ToolCall::new("call_1", "greet", r#"{"name":"Ada"}"#);
//! assert_eq!(tools.run(&call, ToolContext::detached()).await, ToolResult::text("Hello Ada!"));
//! # Ok(()) }
//! ```

mod arguments;
mod calculator;
mod context;
mod cut;
mod effects;
mod error;
mod execute;
mod function;
mod output;
mod registry;
mod spec;
mod tool;
mod wire_name;

pub use async_trait::async_trait;

pub use arguments::{Arguments, NoArguments};
pub use calculator::{Calculator, Rational, calculate};
pub use context::ToolContext;
pub use effects::{Effect, Effects};
pub use error::{Error, ErrorKind};
pub use execute::run;
pub use function::{Answer, FunctionTool, tool_fn};
pub use output::ToolOutput;
pub use registry::Registry;
pub use schemars::{self, JsonSchema};
pub use spec::{Repeatable, ToolSpec};
pub use tool::Tool;

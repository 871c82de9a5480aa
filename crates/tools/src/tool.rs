use std::sync::Arc;

use async_trait::async_trait;

use crate::{Arguments, Error, ToolContext, ToolOutput, ToolSpec};

/// Something a model can call.
///
/// Implement it when a tool has state of its own or watches its [`ToolContext`]; for a plain function
/// [`tool_fn`](crate::tool_fn) is shorter.
///
/// ```
/// use thermidor_tools::{Arguments, Error, NoArguments, Tool, ToolContext, ToolOutput, ToolSpec, async_trait};
///
/// struct Dice(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Dice {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     async fn call(&self, arguments: Arguments, _: ToolContext) -> Result<ToolOutput, Error> {
///         let NoArguments {} = arguments.parse()?;
///         Ok("4, chosen by a fair roll".into())
///     }
/// }
/// let dice = Dice(ToolSpec::of::<NoArguments>("dice", "Rolls a die").pure());
/// assert_eq!(dice.spec().name, "dice");
/// ```
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What it is called, what it takes and what it may do. The same for its whole life.
    fn spec(&self) -> &ToolSpec;

    /// Does the work. The future may be dropped at any await: at the deadline, or a moment after a stop.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`](crate::ErrorKind::Arguments) when the arguments do not fit, any other kind
    /// as its name says. The message is read by a model: say what to do differently.
    async fn call(&self, arguments: Arguments, context: ToolContext) -> Result<ToolOutput, Error>;
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Result<ToolOutput, Error> {
        (**self).call(arguments, context).await
    }
}

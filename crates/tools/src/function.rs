use std::{fmt, future::Future, marker::PhantomData};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use smol_str::SmolStr;
use thermidor_types::{Json, Text};

use crate::{Arguments, Error, Tool, ToolContext, ToolOutput, ToolSpec};

/// Makes a tool of an async closure. Its parameters are the fields of the closure's argument.
///
/// The closure answers with text, JSON, a [`ToolOutput`], or a `Result` of one of them. What it may do is
/// declared with [`FunctionTool::with`]. A closure with captures clones them into each future:
/// `move |arguments: T| { let client = client.clone(); async move { … } }`.
///
/// ```
/// use thermidor_tools::{Error, JsonSchema, Tool, tool_fn};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Divide { dividend: i64, divisor: i64 }
///
/// let divide = tool_fn("divide", "Divides whole numbers", async |Divide { dividend, divisor }| {
///     dividend.checked_div(divisor).map(|result| result.to_string()).ok_or("division by zero")
/// });
/// let divide = divide.with(|spec| spec.pure());
/// assert!(divide.spec().effects.is_empty());
/// ```
pub fn tool_fn<T, F, R>(
    name: impl Into<SmolStr>,
    description: impl Into<Text>,
    function: F,
) -> FunctionTool<T, F>
where
    T: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(T) -> R + Send + Sync + 'static,
    R: Future<Output: Answer> + Send + 'static,
{
    FunctionTool { spec: ToolSpec::of::<T>(name, description), function, arguments: PhantomData }
}

/// A tool made of an async closure by [`tool_fn`].
pub struct FunctionTool<T, F> {
    spec: ToolSpec,
    function: F,
    arguments: PhantomData<fn(T)>,
}

impl<T, F> FunctionTool<T, F> {
    /// Changes the spec: what the tool may do, how long it may take.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }
}

impl<T, F> fmt::Debug for FunctionTool<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T, F, R> Tool for FunctionTool<T, F>
where
    T: DeserializeOwned + Send + 'static,
    F: Fn(T) -> R + Send + Sync + 'static,
    R: Future<Output: Answer> + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Arguments, _: ToolContext) -> Result<ToolOutput, Error> {
        (self.function)(arguments.parse()?).await.into_output()
    }
}

/// What a closure given to [`tool_fn`] may answer with.
pub trait Answer {
    /// The answer as a tool's.
    ///
    /// # Errors
    /// The closure's own error.
    fn into_output(self) -> Result<ToolOutput, Error>;
}

macro_rules! answers {
    ($($kind:ty),*) => {$(
        impl Answer for $kind {
            fn into_output(self) -> Result<ToolOutput, Error> {
                Ok(self.into())
            }
        }
    )*};
}
answers!(ToolOutput, String, &'static str, Text, Json);

impl<T: Into<ToolOutput>, E: Into<Error>> Answer for Result<T, E> {
    fn into_output(self) -> Result<ToolOutput, Error> {
        self.map(Into::into).map_err(Into::into)
    }
}

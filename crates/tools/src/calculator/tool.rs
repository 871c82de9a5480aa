use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::calculate;
use crate::{Arguments, Error, Tool, ToolContext, ToolOutput, ToolSpec};

/// A tool that calculates exactly: `0.1 + 0.2` is `0.3`, and `1/3` stays a fraction.
#[derive(Clone, Debug)]
pub struct Calculator {
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
struct Calculation {
    /// For example (19.99 * 3 - 5) / 2. Operators: + - * / ^ and parentheses. No units, no functions.
    expression: String,
}

impl Default for Calculator {
    fn default() -> Self {
        let description =
            "Calculates an arithmetic expression exactly. Use it for every figure that must be right.";
        Self { spec: ToolSpec::of::<Calculation>("calculator", description).pure() }
    }
}

#[async_trait]
impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Arguments, _: ToolContext) -> Result<ToolOutput, Error> {
        let Calculation { expression } = arguments.parse()?;
        Ok(calculate(&expression)?.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use thermidor_types::{ToolCall, ToolOutcome, ToolResult};

    use super::*;
    use crate::Registry;

    #[tokio::test]
    async fn answers_calls() {
        let mut tools = Registry::default();
        tools.register(Calculator::default()).expect("the first tool");
        let run = async |arguments: &str| {
            tools.run(&ToolCall::new("c", "calculator", arguments), ToolContext::detached()).await
        };
        assert_eq!(run(r#"{"expression":"0.1 + 0.2"}"#).await, ToolResult::text("0.3"));
        let refused = "The arguments do not fit: expected a number or `(` at character 3, found `*`. Call again with \
                       arguments that fit the tool's schema.";
        assert_eq!(run(r#"{"expression":"1+*2"}"#).await, ToolResult::failed(ToolOutcome::Error, refused));
    }
}

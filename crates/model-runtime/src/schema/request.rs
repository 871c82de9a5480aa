use std::borrow::Cow;

use super::{SchemaDialect, Unfit, narrow};
use crate::{ChatRequest, ResponseSchema};

/// The request with its schemas in `dialect`.
///
/// What a schema loses is told to the model at the end of the tool's description. A tool whose schema has no
/// form there is left out, with a warning: the others still work. A form of the answer that does not fit is
/// an error.
pub(crate) fn narrowed(request: &ChatRequest, dialect: SchemaDialect) -> Result<Cow<'_, ChatRequest>, Unfit> {
    if dialect == SchemaDialect::Full || (request.tools.is_empty() && request.response_schema.is_none()) {
        return Ok(Cow::Borrowed(request));
    }
    let mut own = request.clone();
    own.tools.retain_mut(|tool| match narrow(&tool.parameters, dialect) {
        Ok(narrowed) => {
            if let Some(words) = narrowed.words() {
                tool.description = format!("{}\n{words}", tool.description).into();
            }
            tool.parameters = narrowed.schema;
            true
        }
        Err(error) => {
            tracing::warn!(tool = %tool.name, %error, "a tool is left out of the request");
            false
        }
    });
    if let Some(ResponseSchema { schema, .. }) = &mut own.response_schema {
        *schema = narrow(schema, dialect)?.schema;
    }
    Ok(Cow::Owned(own))
}

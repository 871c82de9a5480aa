use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{Json, Text};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSchema {
    /// The name on the wire: letters, digits, `_` and `-`, at most 64 of them.
    pub name: SmolStr,
    /// When to use it and what it does, for the model.
    pub description: Text,
    /// The arguments as a JSON Schema of an object, keys in a stable order.
    pub parameters: Json,
}

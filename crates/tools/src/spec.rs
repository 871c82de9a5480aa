use std::time::Duration;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_types::{Json, Text};

use crate::{Effect, Effects};

/// What a tool is called, what it takes and what it may do.
///
/// A tool that declares nothing is taken to have every effect and to be unrepeatable: forgetting to
/// declare costs a question to a person, never an unwanted deed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The stable name, in any script. What a model sees is made from it by the registry.
    pub name: SmolStr,
    /// When to use it and what it does, for the model.
    pub description: Text,
    /// The arguments as a JSON Schema (2020-12) of an object.
    pub parameters: Json,
    /// How it touches the world.
    pub effects: Effects,
    /// Whether a call cut off by a crash or a stop may simply run again.
    pub repeatable: Repeatable,
    /// The time a call may take.
    pub deadline: Duration,
    /// The most characters of text an answer may have; longer ones lose their middle.
    pub output_limit: usize,
}

/// Whether a call cut off by a crash or a stop may simply run again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeatable {
    /// Twice is as good as once.
    Idempotent,
    /// Twice is not once: what was cut off is unknown until a person decides.
    #[default]
    SideEffects,
}

impl ToolSpec {
    /// The deadline of a tool that names none.
    pub const DEADLINE: Duration = Duration::from_mins(1);
    /// The output limit of a tool that names none, in characters.
    pub const OUTPUT_LIMIT: usize = 50_000;

    /// A tool whose parameters are a JSON Schema written by hand or by somebody else.
    pub fn new(name: impl Into<SmolStr>, description: impl Into<Text>, parameters: Json) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            effects: Effects::ALL,
            repeatable: Repeatable::default(),
            deadline: Self::DEADLINE,
            output_limit: Self::OUTPUT_LIMIT,
        }
    }

    /// A tool whose parameters are the fields of `T`; their doc comments become descriptions.
    ///
    /// Keys keep the order of the fields, so that the same type gives the same bytes (prompt caches).
    ///
    /// ```
    /// use thermidor_tools::{JsonSchema, ToolSpec};
    /// #[derive(JsonSchema)]
    /// struct City {
    ///     /// For example Hangzhou.
    ///     city: String,
    /// }
    /// let spec = ToolSpec::of::<City>("weather", "Looks up the weather");
    /// assert_eq!(
    ///     spec.parameters.as_str(),
    ///     r#"{"type":"object","properties":{"city":{"description":"For example Hangzhou.","type":"string"}},"required":["city"]}"#
    /// );
    /// ```
    ///
    /// # Panics
    /// Never: a schema is a JSON value, and those have a text.
    pub fn of<T: JsonSchema>(name: impl Into<SmolStr>, description: impl Into<Text>) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<T>();
        schema.remove("title");
        if schema.get("type").is_some_and(|kind| kind == "object") && schema.get("properties").is_none() {
            // Some providers refuse an object without the key.
            schema.insert("properties".into(), serde_json::json!({}));
        }
        let parameters = Json::of(&schema).expect("a JSON value has a text");
        Self::new(name, description, parameters)
    }

    /// Declares how it touches the world.
    #[must_use]
    pub fn effects(mut self, effects: impl Into<Effects>) -> Self {
        self.effects = effects.into();
        self
    }

    /// Declares whether a call cut off may run again.
    #[must_use]
    pub fn repeatable(mut self, repeatable: Repeatable) -> Self {
        self.repeatable = repeatable;
        self
    }

    /// Declares that it only computes: no effects, and repeatable.
    #[must_use]
    pub fn pure(self) -> Self {
        self.effects(Effects::NONE).repeatable(Repeatable::Idempotent)
    }

    /// Declares that it only reads: repeatable.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.effects(Effect::Read).repeatable(Repeatable::Idempotent)
    }

    /// Sets the time a call may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the most characters of text an answer may have.
    #[must_use]
    pub fn output_limit(mut self, characters: usize) -> Self {
        self.output_limit = characters;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoArguments;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Trip {
        zone: Option<String>,
        days: Vec<Day>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    enum Day {
        Work,
        Rest,
    }

    /// Would fail if keys were sorted, or types stood in `$defs` that many providers do not follow.
    #[test]
    fn schemas_are_inline_and_in_order() {
        let check = |spec: ToolSpec, expected: &str| assert_eq!(spec.parameters.as_str(), expected);
        check(ToolSpec::of::<NoArguments>("a", ""), r#"{"type":"object","properties":{}}"#);
        check(
            ToolSpec::of::<Trip>("a", ""),
            r#"{"type":"object","properties":{"zone":{"type":["string","null"]},"days":{"type":"array","items":{"type":"string","enum":["Work","Rest"]}}},"required":["days"]}"#,
        );
    }
}

//! Dollars in a file: a number or a text, read exactly.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserializer, Serializer, de};
use thermidor_types::{Currency, Money};

/// The schema of an amount.
pub(crate) struct Amount;

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}

#[expect(clippy::ref_option, reason = "serde calls it with the field as it is")]
pub(crate) fn serialize<S: Serializer>(amount: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    match amount {
        Some(amount) => {
            let text = amount.to_string();
            serializer.serialize_str(text.split(' ').next().unwrap_or_default())
        }
        None => serializer.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    deserializer.deserialize_any(Reader).map(Some)
}

struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = Money;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount in dollars such as 1.5")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        Money::parse_units(text, Currency::USD).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, units: i64) -> Result<Money, E> {
        self.visit_str(&units.to_string())
    }

    fn visit_u64<E: de::Error>(self, units: u64) -> Result<Money, E> {
        self.visit_str(&units.to_string())
    }

    /// Only from formats that keep no text of a number: `Display` gives the shortest text that reads back.
    fn visit_f64<E: de::Error>(self, units: f64) -> Result<Money, E> {
        self.visit_str(&units.to_string())
    }
}

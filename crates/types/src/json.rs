use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

/// A JSON document kept as the exact bytes it came in.
///
/// Keys are not reordered and numbers are not rewritten: what was approved or sent is what is stored.
/// It serialises as the document itself, which works with `serde_json` only, and only inside
/// externally or adjacently tagged enums (serde buffers the other two representations).
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Serialises a value.
    ///
    /// # Errors
    /// When the value has no JSON form (a map with non-string keys, a failing `Serialize`).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Self(Arc::from(raw)))
    }

    /// Checks that `text` is one JSON document and keeps it byte for byte.
    ///
    /// # Errors
    /// When it is not valid JSON; the error carries line and column.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(|raw| Self(Arc::from(raw)))
    }

    /// Reads the document as a typed value.
    ///
    /// # Errors
    /// When the document does not fit `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// The exact text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl Default for Json {
    /// The document `null`.
    fn default() -> Self {
        Self(Arc::from(RawValue::NULL.to_owned()))
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(Arc::from(raw))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    enum Event {
        Called { arguments: Json },
    }

    /// Invariant 14. Would fail if an event went through `serde_json::Value`: keys would be sorted, `1.10` rewritten.
    #[test]
    fn bytes_survive_an_externally_tagged_enum() {
        let exact = r#"{"b":1.10,  "a":[2e0]}"#;
        let stored = serde_json::to_string(&Event::Called { arguments: Json::parse(exact).expect("valid") });
        let Event::Called { arguments } =
            serde_json::from_str(&stored.expect("serialises")).expect("reads back");
        assert_eq!(arguments.as_str(), exact);
    }
}

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::Json;

use super::Unfit;

/// How deep a schema may be nested.
const MOST_DEPTH: usize = 64;

pub(super) type Members = IndexMap<String, Node>;

/// A JSON document whose keys stay in their order and whose leaves stay as they were written.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Node {
    Object(Members),
    Array(Vec<Node>),
    Leaf(Box<RawValue>),
}

impl Node {
    pub(super) fn parse(document: &Json) -> Result<Self, Unfit> {
        Self::read(document.as_str(), 0)
    }

    fn read(text: &str, depth: usize) -> Result<Self, Unfit> {
        if depth > MOST_DEPTH {
            return Err(Unfit::TooDeep);
        }
        let wrong = |error: serde_json::Error| Unfit::NoSchema(error.to_string());
        match text.as_bytes().first() {
            Some(b'{') => {
                let members: IndexMap<String, &RawValue> = serde_json::from_str(text).map_err(wrong)?;
                let read = |(key, value): (String, &RawValue)| Ok((key, Self::read(value.get(), depth + 1)?));
                members.into_iter().map(read).collect::<Result<_, _>>().map(Self::Object)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;
                let items = items.into_iter().map(|item| Self::read(item.get(), depth + 1));
                items.collect::<Result<_, _>>().map(Self::Array)
            }
            _ => RawValue::from_string(text.to_owned()).map(Self::Leaf).map_err(wrong),
        }
    }

    pub(super) fn string(text: &str) -> Self {
        Self::leaf(serde_json::Value::from(text).to_string())
    }

    pub(super) fn flag(flag: bool) -> Self {
        Self::leaf(flag.to_string())
    }

    pub(super) fn null() -> Self {
        Self::Leaf(RawValue::NULL.to_owned())
    }

    fn leaf(text: String) -> Self {
        RawValue::from_string(text).map_or_else(|_| Self::null(), Self::Leaf)
    }

    pub(super) fn as_string(&self) -> Option<String> {
        match self {
            Self::Leaf(raw) => serde_json::from_str(raw.get()).ok(),
            Self::Object(_) | Self::Array(_) => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&Members> {
        match self {
            Self::Object(members) => Some(members),
            Self::Array(_) | Self::Leaf(_) => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            Self::Object(_) | Self::Leaf(_) => None,
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self, Self::Leaf(raw) if raw.get() == text)
    }

    pub(super) fn json(&self) -> Json {
        Json::of(self).unwrap_or_default()
    }
}

/// The types a schema names; empty when it names none.
pub(super) fn types(schema: &Members) -> Vec<String> {
    match schema.get("type") {
        Some(Node::Array(types)) => types.iter().filter_map(Node::as_string).collect(),
        Some(one) => one.as_string().into_iter().collect(),
        None => Vec::new(),
    }
}

/// Whether a schema is one of objects.
pub(super) fn is_object(schema: &Members) -> bool {
    schema.contains_key("properties") || types(schema).iter().any(|name| name == "object")
}

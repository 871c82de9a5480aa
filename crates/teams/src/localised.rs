use std::{borrow::Cow, fmt, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer, value},
};

use thermidor_context_engine::Language;

/// A value that may differ by language: written plainly, or as a table `{ en = …, zh = … }`.
///
/// ```
/// use thermidor_teams::{Language, Localised};
/// let title = Localised::Each { en: "Plan", zh: "计划" };
/// assert_eq!(title.get(Language::Zh), &"计划");
/// assert_eq!(Localised::Same("Plan").get(Language::Zh), &"Plan");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Localised<T> {
    /// One value for every language.
    Same(T),
    /// One for each.
    Each {
        /// English.
        en: T,
        /// Chinese.
        zh: T,
    },
}

impl<T> Localised<T> {
    /// The value for `language`.
    pub const fn get(&self, language: Language) -> &T {
        match (self, language) {
            (Self::Same(value), _) | (Self::Each { en: value, .. }, Language::En) => value,
            (Self::Each { zh, .. }, Language::Zh) => zh,
        }
    }

    /// The values that were written, with the key of each: `en`, `zh`, or none.
    pub fn each(&self) -> impl Iterator<Item = (Option<Language>, &T)> {
        let pair = match self {
            Self::Same(value) => [Some((None, value)), None],
            Self::Each { en, zh } => [Some((Some(Language::En), en)), Some((Some(Language::Zh), zh))],
        };
        pair.into_iter().flatten()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Both<T> {
    en: T,
    zh: T,
}

struct Either<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Either<T> {
    type Value = Localised<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value for all languages or a table { en = …, zh = … }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(text.into_deserializer()).map(Localised::Same)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        T::deserialize(value::SeqAccessDeserializer::new(items)).map(Localised::Same)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let Both { en, zh } = Both::deserialize(value::MapAccessDeserializer::new(map))?;
        Ok(Localised::Each { en, zh })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Localised<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Localised<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Localised_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({
            "description": "One value for all languages, or one for each.",
            "anyOf": [value, {
                "type": "object",
                "properties": { "en": value, "zh": value },
                "required": ["en", "zh"],
                "additionalProperties": false,
            }],
        })
    }
}

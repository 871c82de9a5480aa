use serde::{Deserialize, Serialize};

/// How much of JSON Schema a provider takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaDialect {
    /// All of it, or the provider ignores what it does not know.
    #[default]
    Full,
    /// Strict mode as `OpenAI` defined it: closed objects, every property required, few keywords.
    OpenaiStrict,
    /// The narrow form of Google's `parameters` and `responseSchema`: no references, no constants, one type.
    Gemini,
    /// All but bounds, patterns and formats.
    Groq,
    /// All of it, as long as the root is an object.
    Anthropic,
}

/// One dialect as data.
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one dialect, named at every use")]
pub(super) struct Rules {
    pub(super) keywords: Keywords,
    /// The formats taken; all when unset.
    pub(super) formats: Option<&'static [&'static str]>,
    /// The root is an object, and no union.
    pub(super) object_root: bool,
    /// Objects are closed and require each property; what was optional may be null.
    pub(super) closed: bool,
    /// References are replaced by what they name.
    pub(super) inline: bool,
    /// One type each, `nullable` beside it; enumerations of texts only; no constants; no object without properties.
    pub(super) one_type: bool,
    /// `oneOf` is written as `anyOf`, and an `allOf` of one as that one.
    pub(super) any_of_only: bool,
}

pub(super) enum Keywords {
    All,
    But(&'static [&'static str]),
    Only(&'static [&'static str]),
}

impl Keywords {
    pub(super) fn has(&self, keyword: &str) -> bool {
        match self {
            Self::All => true,
            Self::But(list) => !list.contains(&keyword),
            Self::Only(list) => list.contains(&keyword),
        }
    }
}

impl SchemaDialect {
    pub(super) const fn rules(self) -> Rules {
        let full = Rules {
            keywords: Keywords::All,
            formats: None,
            object_root: false,
            closed: false,
            inline: false,
            one_type: false,
            any_of_only: false,
        };
        match self {
            Self::Full => full,
            Self::OpenaiStrict => Rules {
                keywords: Keywords::Only(&[
                    "type",
                    "title",
                    "description",
                    "properties",
                    "required",
                    "additionalProperties",
                    "items",
                    "enum",
                    "const",
                    "anyOf",
                    "$ref",
                    "$defs",
                    "definitions",
                    "pattern",
                    "format",
                    "multipleOf",
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "minItems",
                    "maxItems",
                ]),
                formats: Some(&[
                    "date-time",
                    "time",
                    "date",
                    "duration",
                    "email",
                    "hostname",
                    "ipv4",
                    "ipv6",
                    "uuid",
                ]),
                object_root: true,
                closed: true,
                any_of_only: true,
                ..full
            },
            Self::Gemini => Rules {
                keywords: Keywords::Only(&[
                    "type",
                    "format",
                    "title",
                    "description",
                    "nullable",
                    "enum",
                    "items",
                    "minItems",
                    "maxItems",
                    "properties",
                    "propertyOrdering",
                    "required",
                    "minProperties",
                    "maxProperties",
                    "minLength",
                    "maxLength",
                    "pattern",
                    "minimum",
                    "maximum",
                    "anyOf",
                ]),
                formats: Some(&["date-time", "enum", "float", "double", "int32", "int64"]),
                object_root: false,
                inline: true,
                one_type: true,
                any_of_only: true,
                ..full
            },
            Self::Groq => Rules {
                keywords: Keywords::But(&[
                    "minItems",
                    "maxItems",
                    "minLength",
                    "maxLength",
                    "pattern",
                    "format",
                    "uniqueItems",
                    "minProperties",
                    "maxProperties",
                    "multipleOf",
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                ]),
                ..full
            },
            Self::Anthropic => Rules { object_root: true, ..full },
        }
    }
}

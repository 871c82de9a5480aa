use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use thermidor_types::Text;

use crate::{Error, ErrorKind};

/// How many characters either side of a fault are quoted to the model.
const QUOTED: usize = 24;

/// The arguments of a call, byte for byte as the model wrote them. Not necessarily valid JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(Text);

impl Arguments {
    /// Takes the model's text unread.
    pub fn new(text: impl Into<Text>) -> Self {
        Self(text.into())
    }

    /// The exact text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the arguments as a typed value. No text at all counts as `{}`: many models write that for a
    /// tool without parameters.
    ///
    /// ```
    /// use thermidor_tools::Arguments;
    /// #[derive(serde::Deserialize, Debug)]
    /// struct Page { number: u32 }
    /// let error = Arguments::new(r#"{"number": "two"}"#).parse::<Page>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"invalid type: string "two", expected u32 at line 1 column 16, near `{"number": "two"}`"#
    /// );
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`], naming the field or the place, in words a model can act on.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let text = if self.0.trim().is_empty() { "{}" } else { self.as_str() };
        serde_json::from_str(text).map_err(|error| {
            let place = match place(text, &error) {
                Some(quote) if !error.is_eof() => format!(", near `{quote}`"),
                _ => String::new(),
            };
            Error::new(ErrorKind::Arguments, format!("{error}{place}")).with_source(error)
        })
    }
}

impl<T: Into<Text>> From<T> for Arguments {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// The text around the place where reading stopped. Columns of `serde_json` are bytes, counted from 1.
fn place(text: &str, error: &serde_json::Error) -> Option<String> {
    let line = text.lines().nth(error.line().checked_sub(1)?)?;
    let at = line.floor_char_boundary(error.column().min(line.len()));
    let before: Vec<char> = line[..at].chars().rev().take(QUOTED).collect();
    let after = line[at..].chars().take(QUOTED);
    Some(before.into_iter().rev().chain(after).collect())
}

/// What a tool without parameters takes. Anything a model adds is left aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(transform = without_description)]
pub struct NoArguments {}

fn without_description(schema: &mut schemars::Schema) {
    schema.remove("description");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Search {
        #[expect(dead_code, reason = "only reading is tested")]
        query: String,
        #[expect(dead_code, reason = "only reading is tested")]
        #[serde(default)]
        limit: Option<u8>,
    }

    #[test]
    fn a_model_is_told_what_does_not_fit() {
        let check = |text: &str, expected: &str| {
            let error = Arguments::new(text).parse::<Search>().expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Arguments);
            assert_eq!(error.to_string(), expected, "{text}");
        };
        check("", "missing field `query` at line 1 column 2, near `{}`");
        check("{\"query\": \"天", "EOF while parsing a string at line 1 column 14");
        check("{\"query\": 天}", "expected value at line 1 column 11, near `{\"query\": 天}`");
        check(
            "{\"query\":\"a\",\n \"limit\":300}",
            "invalid value: integer `300`, expected u8 at line 2 column 12, near ` \"limit\":300}`",
        );
        check(
            "{\"query\":\"a\",\"limt\":3}",
            "unknown field `limt`, expected `query` or `limit` at line 1 column 19, near `{\"query\":\"a\",\"limt\":3}`",
        );
    }

    proptest! {
        /// Would fail if some text made the quoting cut a character or miss the line.
        #[test]
        fn never_panics(text in r#"[{}\[\]":,\n天é0-9 a]{0,40}"#, deep in 0usize..400) {
            let _read = Arguments::new(text).parse::<Search>().is_ok();
            let bomb = Arguments::new("[".repeat(deep));
            prop_assert!(bomb.parse::<serde_json::Value>().is_err() || deep == 0);
        }
    }
}

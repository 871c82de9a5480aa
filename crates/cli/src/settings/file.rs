//! The form of `config.toml`.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::Deserialize;
use thermidor_model_runtime::{Dialect, Quirks, check_card};
use thermidor_types::{ModelCard, near};

use crate::exit::Trouble;

/// A configuration file as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    /// The model for agents for which neither a flag nor a team file names one.
    pub(crate) model: Option<String>,
    /// The team when none is named.
    pub(crate) team: Option<String>,
    /// Own providers, and other addresses for bundled ones. In the user's file only.
    #[serde(default)]
    pub(crate) providers: BTreeMap<String, ProviderFile>,
    /// What is known of models: windows, abilities, prices. In the user's file only.
    #[serde(default)]
    pub(crate) models: Vec<ModelCard>,
}

/// A server of one's own, or what is different about a bundled provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderFile {
    /// The address that the format's path is appended to.
    pub(crate) base_url: Option<String>,
    /// The wire format; `OpenAI`'s chat completions for a new one.
    pub(crate) format: Option<Dialect>,
    /// The path to append instead of the format's; `{model}` in it is the model's name.
    pub(crate) path: Option<String>,
    /// The environment variable that holds the key.
    pub(crate) key_env: Option<String>,
    /// The header that the bare key goes into, where it is not a bearer token.
    pub(crate) key_header: Option<String>,
    /// How it differs from its format, in place of what is known of it.
    pub(crate) quirks: Option<Quirks>,
    /// The model taken when only the provider is named.
    pub(crate) default_model: Option<String>,
    /// The window assumed of its models, in tokens.
    pub(crate) context_window: Option<u64>,
    /// The longest answer asked of its models, in tokens.
    pub(crate) max_output: Option<u64>,
}

impl ConfigFile {
    /// Reads a file; one that does not exist says nothing.
    pub(crate) fn read(path: &Path) -> Result<Self, Trouble> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(Trouble::configuration(format!("{}: cannot be read: {error}", path.display())));
            }
        };
        let name = path.display().to_string();
        let file = Self::parse(&text, &name).map_err(Trouble::configuration)?;
        for card in &file.models {
            check_card(card).map_err(|fault| Trouble::configuration(format!("{name}: {fault}")))?;
        }
        Ok(file)
    }

    fn parse(text: &str, name: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let before = &text[..text.floor_char_boundary(at)];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            let message = error.message().lines().next().unwrap_or("not TOML");
            // `unknown field `x`, expected one of `a`, `b``: serde names what there is.
            let mut words = message.split('`').skip(1).step_by(2);
            let wrong = words.next().filter(|_| message.starts_with("unknown field"));
            match wrong {
                Some(wrong) => {
                    let hint = match near(wrong, words.clone(), 1).first() {
                        Some(hint) => format!("did you mean {hint:?}?"),
                        None => format!("there are {}", words.collect::<Vec<_>>().join(", ")),
                    };
                    format!("{name}:{line}:{column}: unknown key {wrong:?}; {hint}")
                }
                None => format!("{name}:{line}:{column}: {message}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn faults_have_a_place_and_a_hint() {
        let check = |text: &str, expected: Expect| {
            expected.assert_eq(&ConfigFile::parse(text, "config.toml").expect_err("a fault"));
        };
        check("modle = \"a/b\"", expect![[r#"config.toml:1:1: unknown key "modle"; did you mean "model"?"#]]);
        check(
            "team = \"x\"\n[providers.lab]\nadress = \"y\"",
            expect![[
                r#"config.toml:3:1: unknown key "adress"; there are base_url, format, path, key_env, key_header, quirks, default_model, context_window, max_output"#
            ]],
        );
        check("model = 5", expect!["config.toml:1:9: invalid type: integer `5`, expected a string"]);
        check("model = \"", expect!["config.toml:1:10: invalid basic string, expected `\"`"]);
    }
}

//! What providers told of their models, kept until they are asked again.

use std::{collections::BTreeMap, fs, io};

use serde::{Deserialize, Serialize};
use thermidor_model_runtime::{Provider, listing::ListedModel};
use thermidor_types::Timestamp;

use crate::{exit::Trouble, settings::Places, store};

/// What the file is, so that no other is taken for it.
const KIND: &str = "thermidor.model-lists";
/// The version that is written.
const VERSION: u32 = 1;

/// The lists of all providers that were asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lists {
    kind: String,
    version: u32,
    providers: BTreeMap<String, List>,
}

/// One provider's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct List {
    /// When it was asked for.
    pub(crate) at: Timestamp,
    /// The address it came from: a list of another server says nothing.
    pub(crate) base_url: String,
    pub(crate) models: Vec<ListedModel>,
}

/// The part of the file that is the same in every version.
#[derive(Deserialize)]
struct Envelope {
    kind: String,
    version: u32,
}

impl Default for Lists {
    fn default() -> Self {
        Self { kind: KIND.to_owned(), version: VERSION, providers: BTreeMap::new() }
    }
}

impl Lists {
    /// The lists that were kept; none when nobody asked yet.
    ///
    /// # Errors
    /// `Configuration` when the file cannot be read, or is a newer program's.
    pub(crate) fn load(places: &Places) -> Result<Self, Trouble> {
        let path = places.model_lists();
        let wrong = |what: String| {
            let remedy = "remove it, and thermidor models ls --refresh makes it again";
            Trouble::configuration(format!("{}: {what}; {remedy}", path.display()))
        };
        match fs::read_to_string(&path) {
            Ok(text) => Self::read(&text).map_err(wrong),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(wrong(format!("cannot be read: {error}"))),
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let envelope: Envelope =
            serde_json::from_str(text).map_err(|error| format!("is damaged: {error}"))?;
        if envelope.kind != KIND {
            return Err(format!("is no list of models but {:?}", envelope.kind));
        }
        if envelope.version != VERSION {
            return Err(format!("has version {}, this program knows {VERSION}", envelope.version));
        }
        serde_json::from_str(text).map_err(|error| format!("is damaged: {error}"))
    }

    /// Writes them: beside the old file first, so that a crash leaves one of the two whole.
    ///
    /// # Errors
    /// `Configuration` when the data folder cannot be written.
    pub(crate) fn save(&self, places: &Places) -> Result<(), Trouble> {
        let path = places.model_lists();
        let fresh = path.with_extension(format!("json.{}", std::process::id()));
        let text = serde_json::to_string(self).map_err(Trouble::configuration)?;
        let written = store::made(&places.data)
            .and_then(|()| fs::write(&fresh, text))
            .and_then(|()| fs::rename(&fresh, &path));
        written.map_err(|error| {
            // What was half written is of no use; that it cannot be removed either changes nothing.
            let _ = fs::remove_file(&fresh);
            Trouble::configuration(format!("{}: cannot be written: {error}", path.display()))
        })
    }

    /// The list of `provider`, if it came from where the provider is now.
    pub(crate) fn of(&self, provider: &Provider) -> Option<&List> {
        self.providers.get(provider.name.as_str()).filter(|list| list.base_url == provider.base_url)
    }

    /// Puts a new list in the place of an old one.
    pub(crate) fn put(&mut self, provider: &Provider, at: Timestamp, models: Vec<ListedModel>) {
        let list = List { at, base_url: provider.base_url.clone(), models };
        self.providers.insert(provider.name.to_string(), list);
    }

    /// The models of those providers that there are.
    pub(crate) fn used(self, rows: &[Provider]) -> impl Iterator<Item = (String, Vec<ListedModel>)> + use<> {
        let kept = self.providers.into_iter().filter(|(name, list)| {
            rows.iter().any(|row| row.name == name.as_str() && row.base_url == list.base_url)
        });
        kept.map(|(name, list)| (name, list.models)).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first version as it stands in users' folders. Would fail if it could not be read any more.
    const FIRST: &str = r#"{"kind":"thermidor.model-lists","version":1,"providers":{"lab":{"at":1750000000000,"base_url":"http://h/v1","models":[{"id":"m","window":32768,"max_output":4096,"abilities":{"tools":true,"vision":false,"audio":false,"reasoning":false,"structured_output":false,"video":false,"files":false,"image_output":false},"price":{"currency":"USD","input":100000,"output":200000},"created":1740000000,"kind":"chat"},{"id":"e","kind":"embedding"}]}}}"#;

    #[test]
    fn the_first_version_stays_readable() {
        let lists = Lists::read(FIRST).expect("readable");
        assert_eq!(serde_json::to_string(&lists).expect("JSON"), FIRST);
        let row = |base_url: &str| Provider::new("lab", base_url);
        assert_eq!(lists.of(&row("http://h/v1")).map(|list| list.models.len()), Some(2));
        assert_eq!(lists.of(&row("http://elsewhere/v1")), None);
        assert_eq!(lists.used(&[row("http://elsewhere/v1")]).count(), 0);
    }

    #[test]
    fn what_is_something_else_is_said() {
        let wrong = |text: &str| Lists::read(text).expect_err("refused");
        assert_eq!(
            wrong(&FIRST.replace("\"version\":1", "\"version\":2")),
            "has version 2, this program knows 1"
        );
        assert_eq!(wrong(r#"{"kind":"x","version":1}"#), "is no list of models but \"x\"");
        assert!(wrong("{").starts_with("is damaged"), "{}", wrong("{"));
    }
}

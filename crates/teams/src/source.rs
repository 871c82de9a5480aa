//! From text to a [`TeamFile`] and the places of its values.

use std::{collections::HashMap, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use serde::Deserialize;

use crate::{
    Error, ErrorKind, Place, Problem, TeamFile, VERSION,
    path::KeyPath,
    shape::{self, Node},
};

/// Where each value of a file stands.
#[derive(Debug, Default)]
pub(crate) struct Places {
    file: String,
    positions: HashMap<KeyPath, (usize, usize)>,
    keys: HashMap<KeyPath, (usize, usize)>,
    stages: Vec<Option<String>>,
}

impl Places {
    /// A problem with the value at `path`, or at the nearest place above it that the file has.
    pub(crate) fn problem(&self, kind: ErrorKind, path: &KeyPath, message: String) -> Problem {
        let mut at = Some(path.clone());
        let mut position = None;
        while let (None, Some(path)) = (position, &at) {
            position = self.positions.get(path).copied();
            at = path.parent();
        }
        let place = Place { file: self.file.clone(), position, path: path.to_string() };
        Problem { kind, place, message, remedy: None }
    }

    /// Where the key at `path` stands.
    pub(crate) fn key_position(&self, path: &KeyPath) -> Option<(usize, usize)> {
        self.keys.get(path).copied()
    }

    /// The path in a reader's words, where a stage is called by its id.
    pub(crate) fn words(&self, path: &KeyPath) -> String {
        path.words(|at| self.stages.get(at).cloned().flatten())
    }
}

/// Reads a team file's text; `name` is what errors call it.
pub(crate) fn read(text: &str, name: &str) -> Result<(TeamFile, Places), Error> {
    let lines = LineIndex::of(text);
    let at = |span: Option<Range<usize>>, kind, message: String| {
        let position = span.map(|span| lines.position(text, span.start));
        Problem {
            kind,
            place: Place { file: name.into(), position, path: String::new() },
            message,
            remedy: None,
        }
    };
    let (root, faults) = DeTable::parse_recoverable(text);
    let faults = faults.iter().map(|fault| at(fault.span(), ErrorKind::Syntax, fault.message().to_owned()));
    Error::unless_empty(faults.collect())?;
    let node = Node::of_table(root.get_ref());
    let mut places = Places { file: name.into(), stages: stage_ids(root.get_ref()), ..Places::default() };
    note(&node, &KeyPath::default(), &mut |path, key, value| {
        if let Some(key) = key {
            places.keys.insert(path.clone(), lines.position(text, key.start));
        }
        places.positions.insert(path, lines.position(text, value.start));
    });
    newer(&node, &places)?;
    Error::unless_empty(shape::check(&node, &places))?;
    let file = TeamFile::deserialize(toml::de::Deserializer::from(exact_amounts(root)))
        .map_err(|fault| misfit(&fault, &places, text, &lines))?;
    Ok((file, places))
}

/// Refuses a file of a newer version, before its unknown keys are held against it.
fn newer(root: &Node<'_>, places: &Places) -> Result<(), Error> {
    let version = root.entries().find(|(key, ..)| *key == "version").and_then(|(_, _, value)| value.number());
    match version {
        Some(version) if version > i128::from(VERSION) => {
            let path = KeyPath::default().key("version");
            let message = format!(
                "version {version} of the team format is newer than this program, which reads {VERSION}"
            );
            let problem = places.problem(ErrorKind::NewerVersion, &path, message);
            Err(Problem { remedy: Some("use a newer program".into()), ..problem }.into())
        }
        _ => Ok(()),
    }
}

/// A value that passed the shape and still does not fit, such as a number out of range.
fn misfit(fault: &toml::de::Error, places: &Places, text: &str, lines: &LineIndex) -> Error {
    let position = fault.span().map(|span| lines.position(text, span.start));
    let path = position.and_then(|position| {
        let here = places.positions.iter().filter(|(_, place)| **place == position);
        here.map(|(path, _)| path).max_by_key(|path| path.to_string().len())
    });
    let path = path.cloned().unwrap_or_default();
    let words = places.words(&path);
    let message = fault.message().replace('`', "");
    let message = if words.is_empty() { message } else { format!("{words}: {message}") };
    places.problem(ErrorKind::BadValue, &path, message).into()
}

/// Turns the number in `limits.cost_usd` into the text that was written, which is exact.
fn exact_amounts(mut root: Spanned<DeTable<'_>>) -> Spanned<DeTable<'_>> {
    let limits = root.get_mut().get_mut("limits").map(Spanned::get_mut);
    if let Some(DeValue::Table(limits)) = limits
        && let Some(value) = limits.get_mut("cost_usd")
        && let Some(text) = value.get_ref().as_float().map(|float| float.as_str().to_owned())
    {
        *value.get_mut() = DeValue::String(text.into());
    }
    root
}

fn stage_ids(root: &DeTable<'_>) -> Vec<Option<String>> {
    let stages = root.get("stages").and_then(|stages| stages.get_ref().as_array());
    let id = |stage: &Spanned<DeValue<'_>>| {
        Some(stage.get_ref().as_table()?.get("id")?.get_ref().as_str()?.to_owned())
    };
    stages.map(|stages| stages.iter().map(id).collect()).unwrap_or_default()
}

/// Calls `found` with path, place of the key (list items have none) and place of the value of everything below.
fn note(
    node: &Node<'_>,
    path: &KeyPath,
    found: &mut impl FnMut(KeyPath, Option<Range<usize>>, Range<usize>),
) {
    for (key, key_span, value) in node.entries() {
        let path = path.key(key);
        found(path.clone(), Some(key_span), value.span());
        note(&value, &path, found);
    }
    for (index, item) in node.items().enumerate() {
        let path = path.index(index);
        found(path.clone(), None, item.span());
        note(&item, &path, found);
    }
}

/// Byte offsets of the lines of a text.
#[derive(Debug)]
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn of(text: &str) -> Self {
        Self([0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Line and column from 1; columns count characters.
    fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.0.partition_point(|start| *start <= offset).max(1);
        let column = text.get(self.0[line - 1]..offset).map_or(0, |before| before.chars().count());
        (line, column + 1)
    }
}

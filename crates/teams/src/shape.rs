//! The shape of a file, checked against the JSON Schema of the structs: unknown keys, missing keys, types.
//!
//! Reading with serde alone stops at the first fault; this finds all of them, each with its place.

use std::ops::{Range, RangeInclusive};

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{ErrorKind, Problem, file, near, path::KeyPath, source::Places};

/// A value of a parsed file.
#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    Root(&'a DeTable<'a>),
    Value(&'a Spanned<DeValue<'a>>),
}

impl<'a> Node<'a> {
    pub(crate) fn of_table(table: &'a DeTable<'a>) -> Self {
        Self::Root(table)
    }

    pub(crate) fn span(&self) -> Range<usize> {
        match self {
            Self::Root(_) => 0..0,
            Self::Value(value) => value.span(),
        }
    }

    fn table(&self) -> Option<&'a DeTable<'a>> {
        match self {
            Self::Root(table) => Some(table),
            Self::Value(value) => value.get_ref().as_table(),
        }
    }

    pub(crate) fn is_table(&self) -> bool {
        self.table().is_some()
    }

    /// Key, place of the key, value.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a str, Range<usize>, Self)> + use<'a> {
        let entries = self.table().map(|table| table.iter());
        entries
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), Self::Value(value)))
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let array = match self {
            Self::Root(_) => None,
            Self::Value(value) => value.get_ref().as_array(),
        };
        array.map(|array| array.iter()).into_iter().flatten().map(Self::Value)
    }

    /// The type as JSON Schema calls it.
    fn kind(&self) -> &'static str {
        match self {
            Self::Root(_) => "object",
            Self::Value(value) => match value.get_ref() {
                DeValue::String(_) => "string",
                DeValue::Integer(_) => "integer",
                DeValue::Float(_) => "number",
                DeValue::Boolean(_) => "boolean",
                DeValue::Datetime(_) => "date",
                DeValue::Array(_) => "array",
                DeValue::Table(_) => "object",
            },
        }
    }

    pub(crate) fn number(&self) -> Option<i128> {
        match self {
            Self::Root(_) => None,
            Self::Value(value) => {
                let number = value.get_ref().as_integer()?;
                i128::from_str_radix(number.as_str(), number.radix()).ok()
            }
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Self::Root(_) => None,
            Self::Value(value) => value.get_ref().as_str(),
        }
    }
}

/// All faults of the file's shape.
pub(crate) fn check(root: &Node<'_>, places: &Places) -> Vec<Problem> {
    let schema = file::schema();
    let mut walk = Walk { schema: schema.as_value(), places, problems: Vec::new() };
    walk.visit(root, schema.as_value(), &KeyPath::default());
    walk.problems
}

struct Walk<'a> {
    schema: &'a Value,
    places: &'a Places,
    problems: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: &Node<'_>, schema: &'a Value, path: &KeyPath) {
        let forms = self.forms(schema);
        let Some(form) = forms.iter().find(|form| fits(form, node.kind())) else {
            self.wrong_type(node, &forms, path);
            return;
        };
        if let Some(choices) = choices(form)
            && let Some(text) = node.text()
            && !choices.contains(&text)
        {
            let message = format!("unknown {} {text:?}", self.places.words(path));
            let remedy = near::suggest(text, choices);
            self.report(ErrorKind::Unknown, path, message, remedy);
        }
        if let (Some(number), Some(range)) = (node.number(), range(form))
            && !range.contains(&number)
        {
            let (words, least, most) = (self.places.words(path), range.start(), range.end());
            let message = format!("{words} must be from {least} to {most}, not {number}");
            self.report(ErrorKind::BadValue, path, message, None);
        }
        if node.is_table() {
            self.table(node, form, path);
        }
        if let Some(items) = form.get("items") {
            for (index, item) in node.items().enumerate() {
                self.visit(&item, items, &path.index(index));
            }
        }
    }

    fn table(&mut self, node: &Node<'_>, form: &'a Map<String, Value>, path: &KeyPath) {
        let known = form.get("properties").and_then(Value::as_object);
        let others = form.get("additionalProperties").filter(|schema| schema.is_object());
        for (key, _, value) in node.entries() {
            let path = path.key(key);
            match known.and_then(|known| known.get(key)).or(others) {
                Some(schema) => self.visit(&value, schema, &path),
                None => self.unknown_key(key, known, &path),
            }
        }
        // A key that an unknown one was probably meant to be is not reported as missing on top.
        let meant: Vec<&str> = node
            .entries()
            .filter(|(key, ..)| known.is_some_and(|known| !known.contains_key(*key)))
            .filter_map(|(key, ..)| near::nearest(key, known?.keys().map(String::as_str)))
            .collect();
        let needed = form.get("required").and_then(Value::as_array).into_iter().flatten();
        let needed = needed.filter_map(Value::as_str).filter(|key| !meant.contains(key));
        for key in needed.filter(|key| node.entries().all(|(there, ..)| there != *key)) {
            let message = format!("missing key {key:?}{}", self.inside(path));
            self.report(ErrorKind::MissingKey, path, message, None);
        }
    }

    fn unknown_key(&mut self, key: &str, known: Option<&Map<String, Value>>, path: &KeyPath) {
        let parent = path.parent().unwrap_or_default();
        let message = format!("unknown key {key:?}{}", self.inside(&parent));
        let remedy = near::suggest(key, known.into_iter().flat_map(Map::keys).map(String::as_str));
        let mut problem = self.places.problem(ErrorKind::UnknownKey, path, message);
        problem.place.position = self.places.key_position(path).or(problem.place.position);
        problem.remedy = remedy;
        self.problems.push(problem);
    }

    fn wrong_type(&mut self, node: &Node<'_>, forms: &[&Map<String, Value>], path: &KeyPath) {
        let mut wanted: Vec<&str> =
            forms.iter().flat_map(|form| kinds(form)).filter(|kind| *kind != "null").map(named).collect();
        wanted.dedup();
        let message = format!(
            "{} must be {}, not {}",
            self.places.words(path),
            wanted.join(" or "),
            named(node.kind())
        );
        self.report(ErrorKind::WrongType, path, message, None);
    }

    fn inside(&self, path: &KeyPath) -> String {
        let words = self.places.words(path);
        if words.is_empty() { words } else { format!(" in {words}") }
    }

    fn report(&mut self, kind: ErrorKind, path: &KeyPath, message: String, remedy: Option<String>) {
        let problem = self.places.problem(kind, path, message);
        self.problems.push(Problem { remedy, ..problem });
    }

    /// The forms a value may have, references followed.
    fn forms(&self, schema: &'a Value) -> Vec<&'a Map<String, Value>> {
        let Some(object) = schema.as_object() else { return Vec::new() };
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.schema.pointer(pointer));
            return target.map(|target| self.forms(target)).unwrap_or_default();
        }
        match object.get("anyOf").and_then(Value::as_array) {
            Some(forms) => forms.iter().flat_map(|form| self.forms(form)).collect(),
            None => vec![object],
        }
    }
}

/// The types a form names; a choice among constants is a text.
fn kinds(form: &Map<String, Value>) -> Vec<&str> {
    match form.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string"],
    }
}

fn fits(form: &Map<String, Value>, kind: &str) -> bool {
    kinds(form).into_iter().any(|wanted| wanted == kind || (wanted == "number" && kind == "integer"))
}

/// The whole numbers that fit; the largest that a file can hold is an `i64`.
fn range(form: &Map<String, Value>) -> Option<RangeInclusive<i128>> {
    let most = match form.get("format")?.as_str()? {
        "uint32" => i128::from(u32::MAX),
        "uint64" => i128::from(i64::MAX),
        _ => return None,
    };
    Some(0..=most)
}

/// The constants among which a form chooses.
fn choices(form: &Map<String, Value>) -> Option<Vec<&str>> {
    if let Some(values) = form.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter_map(Value::as_str).collect());
    }
    let forms = form.get("oneOf")?.as_array()?;
    Some(forms.iter().filter_map(|form| form.get("const")?.as_str()).collect())
}

fn named(kind: &str) -> &'static str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        _ => "a date",
    }
}

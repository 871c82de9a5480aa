use std::{borrow::Cow, fmt, path::Path};

use indexmap::IndexMap;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_saphyr::{Options, budget, options};

use crate::{Fault, Rule};

/// The longest front matter, in bytes.
const LIMIT: usize = 64 * 1024;

/// The two halves of a `SKILL.md`.
pub(crate) struct Halves<'a> {
    /// Between the lines of `---`.
    pub(crate) front: &'a str,
    /// After them.
    pub(crate) body: &'a str,
    /// The line of the file on which the body begins, counted from 1.
    pub(crate) body_line: usize,
}

/// Parts a file at its two lines of `---`. A byte order mark in front and line ends of any kind are fine.
pub(crate) fn split<'a>(text: &'a str, path: &Path) -> Result<Halves<'a>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let remedy = "begin the file with a line `---`, then `name:` and `description:`, then a line `---`";
    let missing = |message| Fault::new(path, Rule::FrontMatter, message, remedy).at(1);
    let mut lines = text.split_inclusive('\n');
    let first = lines
        .next()
        .filter(|line| line.trim_end() == "---")
        .ok_or_else(|| missing("there is no front matter"))?;
    let (start, mut end, mut number) = (first.len(), first.len(), 1);
    for line in lines {
        number += 1;
        if line.trim_end() == "---" {
            if end - start > LIMIT {
                let message = format!("the front matter has {} bytes, {LIMIT} are allowed", end - start);
                return Err(Fault::new(path, Rule::Size, message, "move text into the body").at(1));
            }
            return Ok(Halves {
                front: &text[start..end],
                body: &text[end + line.len()..],
                body_line: number + 1,
            });
        }
        end += line.len();
    }
    Err(missing("the front matter has no end"))
}

/// The front matter as written, before any rule is applied.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) compatibility: Option<String>,
    pub(crate) metadata: IndexMap<String, String>,
    pub(crate) allowed_tools: Option<AllowedTools>,
    pub(crate) unknown: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AllowedTools {
    Line(String),
    List(Vec<String>),
}

/// The keys of the format.
pub(crate) const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Reads front matter. A value that holds `: ` without quotes is no YAML, and common: it is read as plain
/// text then, and the lines concerned are given back.
pub(crate) fn read(front: &str, path: &Path) -> Result<(FrontMatter, Vec<usize>), Fault> {
    if front.trim().is_empty() {
        return Ok((FrontMatter::default(), Vec::new()));
    }
    let error = match parse(front) {
        Ok(read) => return Ok((read, Vec::new())),
        Err(error) => error,
    };
    let (quoted, lines) = quote_plain_values(front);
    if !lines.is_empty()
        && let Ok(read) = parse(&quoted)
    {
        return Ok((read, lines));
    }
    let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).filter(|line| *line > 0);
    let message = format!("the front matter cannot be read: {}", error.without_snippet());
    let message = message.lines().next().unwrap_or_default().to_owned();
    Err(Fault::new(
        path,
        Rule::Yaml,
        message,
        "use `key: value` lines, indented by spaces, and quote unusual values",
    )
    .at(line))
}

fn parse(front: &str) -> Result<FrontMatter, serde_saphyr::Error> {
    // With the `---` in front, lines in messages are lines of the file.
    serde_saphyr::from_str_with_options(&format!("---\n{front}"), limits())
}

/// Front matter is small: anything that grows on reading is an attack or a mistake.
fn limits() -> Options {
    options! {
        budget: budget! {
            max_events: 4_000,
            max_nodes: 2_000,
            max_depth: 8,
            max_aliases: 8,
            max_anchors: 8,
            max_documents: 1,
            max_total_scalar_bytes: 2 * LIMIT,
        },
    }
}

/// Puts single quotes round the values that hold `: ` or end in `:`, continuation lines included. Gives
/// the lines of the file that were changed.
fn quote_plain_values(front: &str) -> (String, Vec<usize>) {
    let mut out: Vec<Cow<'_, str>> = Vec::new();
    let mut changed = Vec::new();
    let mut lines = front.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let mut deeper = || lines.next_if(|(_, next)| next.trim().is_empty() || indent(next) > indent(line));
        if let Some((key, value)) = plain_value(line) {
            let mut value = value.to_owned();
            while let Some((_, next)) = deeper() {
                value.push(' ');
                value.push_str(next.trim());
            }
            changed.push(at + 2);
            out.push(format!("{key}: '{}'", value.trim_end().replace('\'', "''")).into());
        } else {
            out.push(line.into());
            let value = line.split_once(':').map_or("", |(_, value)| value.trim_start());
            // What follows `|` or `>` is text already.
            while value.starts_with(['|', '>'])
                && let Some((_, next)) = deeper()
            {
                out.push(next.into());
            }
        }
    }
    (out.join("\n"), changed)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The key, with its indentation, and the value of a line whose value is plain text with a `: ` in it.
fn plain_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    let value = value.trim();
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let troubles = value.contains(": ") || value.ends_with(':');
    let marked = value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#', '%', '@', '`']);
    let named = !key.trim().is_empty() && key.trim().chars().all(plain);
    (named && troubles && !marked).then_some((key, value))
}

impl<'de> Deserialize<'de> for FrontMatter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

/// Reads key by key: unknown keys are remembered, and no value is buffered, so that `1.0` stays `1.0`.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = FrontMatter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`key: value` lines")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FrontMatter, A::Error> {
        let mut read = FrontMatter::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => read.name = Some(map.next_value()?),
                "description" => read.description = Some(map.next_value()?),
                "license" => read.license = Some(map.next_value()?),
                "compatibility" => read.compatibility = Some(map.next_value()?),
                "metadata" => read.metadata = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "allowed-tools" => read.allowed_tools = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    read.unknown.push(key);
                }
            }
        }
        Ok(read)
    }
}

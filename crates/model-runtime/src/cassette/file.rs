use std::path::{Path, PathBuf};

use thermidor_types::{FailureKind, ModelId, Timestamp};

use super::line::{Exchange, Header, KIND, VERSION};
use crate::Error;

/// Exchanges with providers, recorded to a file: see [`ModelRuntimeBuilder::record`](crate::ModelRuntimeBuilder::record).
///
/// The file is JSON, one value a line: a header, then one line for each exchange in the order they ended. Keys are
/// not in it; prompts and answers are. A last line that was cut off, by a crash for instance, is left out.
#[derive(Debug)]
pub struct Cassette {
    pub(super) path: PathBuf,
    recorded_at: Timestamp,
    pub(super) exchanges: Vec<Exchange>,
}

impl Cassette {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Configuration`](FailureKind::Configuration) when it cannot be read, is no cassette or a newer program's, or
    /// a line means nothing; the message names the file and the line.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|error| wrong(path, None, &format!("cannot be read: {error}")).with_source(error))?;
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
        let header = lines.next().map(|(_, line)| line).unwrap_or_default();
        let recorded_at = read_header(path, header)?;
        let mut exchanges = Vec::new();
        for (place, line) in lines {
            match serde_json::from_slice::<Exchange>(line) {
                Ok(exchange) => exchanges.push(exchange),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) if !line.ends_with(b"\n") => {
                    tracing::warn!(path = %path.display(), %error, "the last line was cut off; it is left out");
                }
                Err(error) => {
                    let message = format!("is no recorded exchange: {error}");
                    return Err(wrong(path, Some(place + 1), &message));
                }
            }
        }
        Ok(Self { path: path.to_owned(), recorded_at, exchanges })
    }

    /// When the recording began. Prompts that name the date are repeated by a clock that stands there.
    pub fn recorded_at(&self) -> Timestamp {
        self.recorded_at
    }

    /// The models that were called, each once, in the order they first answered.
    pub fn models(&self) -> Vec<ModelId> {
        let mut models = Vec::new();
        for exchange in self.exchanges.iter().filter(|exchange| !exchange.model.is_empty()) {
            let id = ModelId::new(exchange.provider.clone(), exchange.model.clone());
            if !models.contains(&id) {
                models.push(id);
            }
        }
        models
    }

    /// How many exchanges there are.
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }
}

/// The time in the first line, when that is a header that can be read.
pub(super) fn read_header(path: &Path, line: &[u8]) -> Result<Timestamp, Error> {
    let none = "is no cassette: its first line is no header of one";
    // The kind and the version first: the rest of a newer header may look otherwise.
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| wrong(path, None, none))?;
    if value.get("kind").and_then(serde_json::Value::as_str) != Some(KIND) {
        return Err(wrong(path, None, none));
    }
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version > u64::from(VERSION) => {
            let message = format!(
                "has version {version}, this program reads up to {VERSION}: update it, or record anew"
            );
            Err(wrong(path, None, &message))
        }
        _ => {
            let header: Header = serde_json::from_value(value)
                .map_err(|error| wrong(path, Some(1), &format!("is no header: {error}")))?;
            header.recorded_at.parse().map_err(|error| wrong(path, Some(1), &format!("recorded_at: {error}")))
        }
    }
}

pub(super) fn wrong(path: &Path, line: Option<usize>, what: &str) -> Error {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let message = format!("the cassette {}{line} {what}", path.display());
    Error::new(FailureKind::Configuration, ModelId::new("", ""), message).unsent().everywhere()
}

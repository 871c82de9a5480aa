use thermidor_types::Json;

use super::{
    edit::{Edit, EditKind},
    outer,
    walk::Walk,
};

/// The longest text that is looked at, in bytes.
pub const LONGEST_DOCUMENT: usize = 16 << 20;

/// How deep arrays and objects may be nested: what `serde_json` reads back without a setting.
pub const MOST_DEPTH: usize = 127;

/// A JSON value and what was done to the text to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The value. Key order, numbers and whitespace inside are those of the text.
    pub value: Json,
    /// What was changed, by place; empty exactly when the text was JSON already.
    pub edits: Vec<Edit>,
}

impl Repaired {
    /// Whether the text ended inside the document.
    ///
    /// The value then is the beginning of something: `{"cmd":"rm -rf /tm` closes to valid arguments that
    /// nobody asked for. A call with such arguments is never run.
    pub fn was_cut(&self) -> bool {
        self.edits.iter().any(|edit| edit.kind == EditKind::Closed)
    }

    /// Whether nothing but fences and words around the value was left out.
    pub fn is_exact_inside(&self) -> bool {
        self.edits.iter().all(|edit| edit.kind.is_framing())
    }
}

/// A text that holds no JSON value, however it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrepairable {
    /// There is nothing that begins like a value.
    #[error("the text holds no JSON value")]
    NoValue,
    /// The text is longer than [`LONGEST_DOCUMENT`].
    #[error("the text has {0} bytes, more than a JSON value may have")]
    TooLong(usize),
    /// Arrays and objects are nested deeper than [`MOST_DEPTH`].
    #[error("the value is nested too deeply at byte {0}")]
    TooDeep(usize),
}

/// Reads the first JSON value of `text`, the way a patient person would.
///
/// What stands around the value is left out: a byte-order mark, a code fence, words. Inside it the usual
/// faults of models are mended: see [`EditKind`]. Nothing is invented: a key without a value goes, it does
/// not become `null`. Each change is recorded, and keys, numbers and whitespace stay as they were written.
///
/// Of several values the first is kept; an edit of kind [`Further`](EditKind::Further) names the rest. A text
/// that begins with a bracket begins with the value; among words, an object or a list of texts or objects
/// is taken before a list of numbers (`[1]` is a footnote more often than an answer).
///
/// A quote inside a string is told from its end by what follows: a comma and a key, a bracket, the end. At
/// most 160 bytes are looked at to decide.
///
/// When to use it: on tool arguments or answers that are no JSON. Whether the value fits a schema is for the
/// caller to check, and a value that [was cut](Repaired::was_cut) is for display only.
///
/// Cost: one pass over the bytes, one copy, no recursion, and a check of the result.
///
/// ```
/// use thermidor_model_runtime::repair::{EditKind, repair};
///
/// let answer = "Sure!\n```json\n{'city': \"Oslo\", days: 3,}\n```";
/// let repaired = repair(answer)?;
/// assert_eq!(repaired.value.as_str(), r#"{"city": "Oslo", "days": 3}"#);
/// assert!(repaired.edits.iter().any(|edit| edit.kind == EditKind::ExtraComma));
/// assert!(!repaired.was_cut());
///
/// let cut = repair(r#"{"cmd":"rm -rf /tm"#)?;
/// assert_eq!(cut.value.as_str(), r#"{"cmd":"rm -rf /tm"}"#);
/// assert!(cut.was_cut());
/// # Ok::<(), thermidor_model_runtime::repair::Unrepairable>(())
/// ```
///
/// # Errors
/// See [`Unrepairable`].
pub fn repair(text: &str) -> Result<Repaired, Unrepairable> {
    repair_counted(text).0
}

/// The same, and how many bytes were looked at.
pub(super) fn repair_counted(text: &str) -> (Result<Repaired, Unrepairable>, usize) {
    if text.len() > LONGEST_DOCUMENT {
        return (Err(Unrepairable::TooLong(text.len())), 0);
    }
    let mut edits = Vec::new();
    let Some(start) = outer::start(text, &mut edits) else { return (Err(Unrepairable::NoValue), text.len()) };
    let mut walk = Walk::new(text, start, edits);
    let outcome = walk.run();
    let work = text.len() + walk.work;
    if let Err(error) = outcome {
        return (Err(error), work);
    }
    let Walk { at, out, mut edits, .. } = walk;
    outer::trailing(text, at, &mut edits);
    edits.sort_by_key(|edit| edit.at.start);
    // The walk writes JSON only. This is the proof, and it costs less than the doubt.
    let value = Json::parse(out).map_err(|_| Unrepairable::NoValue);
    (value.map(|value| Repaired { value, edits }), work)
}

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// One thing that was changed to make a text JSON.
///
/// It displays as a sentence's fragment with its place: `bytes 4..5: single quotes became double quotes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What was changed, in bytes of the input; empty where something was put in.
    pub at: Range<usize>,
    /// What was done.
    pub kind: EditKind,
    /// How often, within `at`: the raw line breaks of one string are one edit.
    pub count: usize,
}

/// What was done to a text to make it JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// A byte-order mark was left out.
    ByteOrderMark,
    /// The line that opens or closes a code fence was left out.
    Fence,
    /// Words before or after the value were left out.
    Prose,
    /// A further value after the first one was left out. The range names it.
    Further,
    /// A comment was left out.
    Comment,
    /// Single, typographic or backtick quotes became double quotes.
    Quotes,
    /// A key or a value without quotes got them.
    Unquoted,
    /// A word of another language became JSON's: `True`, `None`, `NaN`, `undefined`.
    Literal,
    /// A number was respelled: `+1`, `.5`, `5.`.
    Number,
    /// A raw control character inside a string was escaped.
    Control,
    /// A quote inside a string was escaped.
    InnerQuote,
    /// An escape that JSON does not know was respelled.
    Escape,
    /// A missing comma was put in.
    MissingComma,
    /// A comma too many was left out.
    ExtraComma,
    /// A missing colon was put in, or took the place of `=`.
    Colon,
    /// A bracket that was missing inside the document was put in.
    Closer,
    /// Characters that mean nothing in their place were left out.
    Stray,
    /// A key without a value was left out.
    Valueless,
    /// The text ended inside the document: what was open was closed, what was unfinished left out.
    Closed,
}

impl EditKind {
    /// Whether it concerns what stands around the value only.
    pub const fn is_framing(self) -> bool {
        matches!(self, Self::ByteOrderMark | Self::Fence | Self::Prose)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "a byte-order mark was left out",
            Self::Fence => "a code fence was left out",
            Self::Prose => "words around the value were left out",
            Self::Further => "a further value was left out",
            Self::Comment => "a comment was left out",
            Self::Quotes => "other quotes became double quotes",
            Self::Unquoted => "missing quotes were put in",
            Self::Literal => "a word of another language was translated",
            Self::Number => "a number was respelled",
            Self::Control => "a raw control character was escaped",
            Self::InnerQuote => "a quote inside a string was escaped",
            Self::Escape => "an unknown escape was respelled",
            Self::MissingComma => "a missing comma was put in",
            Self::ExtraComma => "a comma too many was left out",
            Self::Colon => "a missing colon was put in",
            Self::Closer => "a missing bracket was put in",
            Self::Stray => "characters without meaning were left out",
            Self::Valueless => "a key without a value was left out",
            Self::Closed => "the document was cut off and has been closed",
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Range { start, end }, words) = (self.at.clone(), self.kind.words());
        if start == end {
            write!(f, "byte {start}: {words}")?;
        } else {
            write!(f, "bytes {start}..{end}: {words}")?;
        }
        if self.count > 1 { write!(f, ", {} times", self.count) } else { Ok(()) }
    }
}

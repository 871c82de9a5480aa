use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Answers that go over the wire as they are written, each under a name.
///
/// For traffic that no script makes: recorded answers, broken ones, those of another format. A file of them is
/// TOML with one `[[answer]]` for each; the fields are those of [`WireAnswer`].
///
/// A client asks for one by the model `mock-wire-NAME`, or by a path below `/wire/NAME/`, whatever follows: a
/// base URL such as `http://127.0.0.1:PORT/wire/NAME/v1` serves clients of any format.
///
/// ```
/// use std::io::{Read, Write};
/// use thermidor_testing::mock::{MockOptions, MockProvider, WireAnswers};
///
/// let answers = WireAnswers::parse(
///     r#"
///     [[answer]]
///     name = "cut"
///     body = ["data: {\"choices\":[{\"delta\":{\"content\":\"", { hex = "f09fa6" }]
///     end = "cut"
///     "#,
/// )?;
/// let mock = MockProvider::start_with(MockOptions { answers, ..MockOptions::default() })?;
/// let mut socket = std::net::TcpStream::connect(mock.address())?;
/// write!(socket, "GET /wire/cut/v1/anything HTTP/1.1\r\n\r\n")?;
/// let mut answer = Vec::new();
/// socket.read_to_end(&mut answer)?;
/// assert!(answer.ends_with(b"\"content\":\"\r\n3\r\n\xf0\x9f\xa6\r\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireAnswers(BTreeMap<String, WireAnswer>);

/// One answer as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireAnswer {
    /// What it is asked for by: letters, digits, `-` and `_`.
    pub name: String,
    /// What is special about it, in a sentence.
    #[serde(default)]
    pub about: String,
    /// The HTTP status, 200 unless it says another.
    #[serde(default = "ok")]
    pub status: u16,
    /// The content type, that of an event stream unless it says another.
    #[serde(default = "event_stream")]
    pub content_type: String,
    /// More headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body: one piece, or a list of them.
    #[serde(default)]
    pub body: WireBody,
    /// How many bytes are written at a time; each piece is one write where it says none.
    #[serde(default)]
    pub write: Option<usize>,
    /// What comes after the body.
    #[serde(default)]
    pub end: WireEnd,
    /// Whatever the owner of the file wants to remember: expectations, reasons. The mock does not look at it.
    #[serde(default)]
    pub notes: Value,
}

/// The body of a [`WireAnswer`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum WireBody {
    /// One text.
    Text(String),
    /// Pieces, one after the other.
    Pieces(Vec<WirePiece>),
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum WirePiece {
    /// Text, as it is.
    Text(String),
    /// Bytes that need not be text, in hexadecimal digits.
    Bytes {
        /// Two digits a byte.
        hex: String,
    },
    /// A text many times over.
    Repeated {
        /// The text.
        text: String,
        /// How many times.
        times: usize,
    },
    /// Nothing for so many milliseconds.
    Pause {
        /// Milliseconds.
        pause: u64,
    },
}

/// What comes after a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireEnd {
    /// The proper end of an HTTP answer; the connection serves the next request.
    #[default]
    Whole,
    /// The connection closes without it.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Open,
}

/// A file of answers that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadWireAnswers {
    /// It is no TOML of this form.
    #[error("failed to read the answers: {0}")]
    Form(#[from] toml::de::Error),
    /// A name that no client could ask for, or one that is there twice.
    #[error("{0:?} is no name for an answer: use letters, digits, `-` and `_`, and each name once")]
    Name(String),
    /// Digits that are no bytes.
    #[error("the answer {0:?} has a body that is no hexadecimal")]
    Hex(String),
    /// A status that no answer has.
    #[error("the answer {0:?} has a status that is not between 200 and 599")]
    Status(String),
}

const fn ok() -> u16 {
    200
}

fn event_stream() -> String {
    "text/event-stream".to_owned()
}

/// The most bytes a body may have.
const LONGEST_BODY: usize = 64 << 20;

impl WireAnswers {
    /// Reads a file of answers.
    ///
    /// # Errors
    /// See [`BadWireAnswers`].
    pub fn parse(text: &str) -> Result<Self, BadWireAnswers> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default)]
            answer: Vec<WireAnswer>,
        }
        let mut answers = BTreeMap::new();
        for answer in toml::from_str::<File>(text)?.answer {
            let name = answer.name.clone();
            let speakable = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            if name.is_empty() || !name.chars().all(speakable) || answers.contains_key(&name) {
                return Err(BadWireAnswers::Name(name));
            }
            if !(200..600).contains(&answer.status) {
                return Err(BadWireAnswers::Status(name));
            }
            let written =
                |piece: &WirePiece| matches!(piece, WirePiece::Pause { .. }) || piece.bytes().is_some();
            if !answer.body.pieces().iter().all(written) {
                return Err(BadWireAnswers::Hex(name));
            }
            answers.insert(name, answer);
        }
        Ok(Self(answers))
    }

    /// The answer called `name`.
    pub fn get(&self, name: &str) -> Option<&WireAnswer> {
        self.0.get(name)
    }

    /// All answers, by name.
    pub fn iter(&self) -> impl Iterator<Item = &WireAnswer> {
        self.0.values()
    }

    /// The name that a model's name or a path asks for.
    pub(super) fn name_in<'a>(model: &'a str, path: &'a str) -> Option<&'a str> {
        let by_path = path.strip_prefix("/wire/").and_then(|rest| rest.split(['/', '?']).next());
        let by_model = || model.split_once("mock-wire-").map(|(_, name)| name);
        by_path.or_else(by_model)
    }
}

impl Default for WireBody {
    fn default() -> Self {
        Self::Pieces(Vec::new())
    }
}

impl WireAnswer {
    /// The body, without its pauses.
    pub fn bytes(&self) -> Vec<u8> {
        self.body.pieces().iter().filter_map(WirePiece::bytes).flatten().collect()
    }
}

impl WireBody {
    /// The pieces in order.
    pub(super) fn pieces(&self) -> Vec<WirePiece> {
        match self {
            Self::Text(text) => vec![WirePiece::Text(text.clone())],
            Self::Pieces(pieces) => pieces.clone(),
        }
    }
}

impl WirePiece {
    /// The bytes of the piece; `None` for a pause, and for digits that are no bytes.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Bytes { hex } => unhex(hex),
            Self::Repeated { text, times } => {
                let times = (*times).min(LONGEST_BODY / text.len().max(1));
                Some(text.repeat(times).into_bytes())
            }
            Self::Pause { .. } => None,
        }
    }
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair.first()?)? * 16 + digit(pair.get(1)?)?)).collect()
}

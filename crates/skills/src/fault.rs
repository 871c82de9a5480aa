use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Something about a skill that breaks a rule, with its place and what to do about it.
///
/// Serves as the error of this crate and as the remark about a skill that loads all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, counted from 1, when one is to blame.
    pub line: Option<usize>,
    /// The rule that is broken.
    pub rule: Rule,
    /// What is wrong, a fragment.
    pub message: String,
    /// What to do, a fragment.
    pub remedy: String,
}

/// The rules a skill can break, as a closed set to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The file begins with front matter between two lines of `---`.
    FrontMatter,
    /// The front matter is YAML of the expected shape, of bounded size and depth.
    Yaml,
    /// A value that holds `: ` is quoted. (Warning: it was read as plain text.)
    Quoting,
    /// Only keys of the format are used. (Warning)
    UnknownKey,
    /// The name: 1 to 64 of `a-z`, `0-9` and single hyphens inside; the folder has the same name.
    Name,
    /// The description: 1 to 1,024 characters.
    Description,
    /// The compatibility note: 1 to 500 characters.
    Compatibility,
    /// The allowed tools: one string, separated by spaces. (Warning)
    AllowedTools,
    /// The instructions: at most 500 lines. (Warning)
    Body,
    /// A linked file exists inside the folder, is no link out of it, and is text of bounded size.
    /// (Warning, and the link is left out.)
    Reference,
    /// Another language has the same name and the same outline of headings. (Warning)
    Translation,
    /// The file is named exactly `SKILL.md`.
    FileName,
    /// A file is of bounded size.
    Size,
    /// A file is UTF-8.
    Encoding,
    /// A file or folder can be read.
    Unreadable,
}

impl Fault {
    pub(crate) fn new(
        path: &Path,
        rule: Rule,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line: None, rule, message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn at(mut self, line: impl Into<Option<usize>>) -> Self {
        self.line = line.into();
        self
    }
}

impl Rule {
    /// The rule's stable name, for machines and for looking it up.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FrontMatter => "front-matter",
            Self::Yaml => "yaml",
            Self::Quoting => "quoting",
            Self::UnknownKey => "unknown-key",
            Self::Name => "name",
            Self::Description => "description",
            Self::Compatibility => "compatibility",
            Self::AllowedTools => "allowed-tools",
            Self::Body => "body",
            Self::Reference => "reference",
            Self::Translation => "translation",
            Self::FileName => "file-name",
            Self::Size => "size",
            Self::Encoding => "encoding",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Fault {
    /// `path:line: message; remedy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for Fault {}

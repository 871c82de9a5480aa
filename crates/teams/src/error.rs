use std::fmt;

use thermidor_types::{Failure, FailureKind};

/// What is wrong, as a closed set that programs can branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A file or folder cannot be read.
    Unreadable,
    /// The text is not TOML.
    Syntax,
    /// The file is of a newer version than this program reads.
    NewerVersion,
    /// A key that the format does not have.
    UnknownKey,
    /// A key that must be there is not.
    MissingKey,
    /// A value of the wrong type.
    WrongType,
    /// A value of the right type that cannot be meant.
    BadValue,
    /// Two things of one name.
    Duplicate,
    /// A team, agent, stage, skill or pattern that does not exist.
    Unknown,
    /// A skill that exists and cannot be used.
    FaultySkill,
    /// Stages that wait for each other.
    Cycle,
    /// A prompt that is no template, or asks for a value it is not given.
    Template,
}

/// Where a problem is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the caller named it; empty when the problem is in no file.
    pub file: String,
    /// Line and column, both from 1, the column in characters.
    pub position: Option<(usize, usize)>,
    /// The keys that lead there: `stages[1].needs[0]`; empty for the file as a whole.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        Ok(())
    }
}

/// One thing that is wrong: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The closed kind.
    pub kind: ErrorKind,
    /// Where.
    pub place: Place,
    /// What, as a lower-case fragment.
    pub message: String,
    /// What to do, if there is something to say beyond the message.
    pub remedy: Option<String>,
}

impl fmt::Display for Problem {
    /// `teams/x.toml:12:3: unknown key "need" in stage "plan"; did you mean "needs"?`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.file.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a team, in the order of its file, what has no place last; one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first}{}", Lines(rest))]
pub struct Error {
    first: Box<Problem>,
    rest: Vec<Problem>,
}

struct Lines<'a>(&'a [Problem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl Error {
    /// The kind of the first problem.
    pub fn kind(&self) -> ErrorKind {
        self.first.kind
    }

    /// All problems, at least one.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        [self.first.as_ref()].into_iter().chain(&self.rest)
    }

    /// `Ok` if there is no problem.
    pub(crate) fn unless_empty(mut problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| (problem.place.position.is_none(), problem.place.position));
        let first = Box::new(problems.remove(0));
        Err(Self { first, rest: problems })
    }
}

impl From<Problem> for Error {
    fn from(first: Problem) -> Self {
        Self { first: Box::new(first), rest: Vec::new() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(FailureKind::Configuration, error.to_string())
    }
}

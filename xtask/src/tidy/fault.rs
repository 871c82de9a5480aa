//! What tidy finds.

use std::fmt;

/// A broken rule: where, what, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    file: String,
    line: usize,
    what: String,
    mend: String,
}

impl Fault {
    /// A broken rule in `file`, at `line` counted from 1.
    pub(crate) fn new(file: &str, line: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into(), mend: mend.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.file, self.line, self.what, self.mend)
    }
}

/// Faults as a test reads them: one a line, without the remedy.
#[cfg(test)]
pub(crate) fn brief(faults: &[Fault]) -> String {
    let lines = faults.iter().map(|fault| format!("{}:{}: {}", fault.file, fault.line, fault.what));
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

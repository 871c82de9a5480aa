//! The two streams: the answer on standard output, everything else on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use crate::{settings::Environment, words};

/// What the two streams can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Whether standard error can show lines that change.
    pub(crate) live: bool,
    /// How standard error is coloured.
    pub(crate) paint: Paint,
    /// How standard output is coloured.
    pub(crate) out_paint: Paint,
    out_terminal: bool,
}

impl Screen {
    pub(crate) fn of(environment: &Environment) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            live: err && environment.can_move_the_cursor(),
            paint: Paint(environment.colour(err)),
            out_paint: Paint(environment.colour(out)),
            out_terminal: out,
        }
    }

    /// Writes to standard output, with a line end. On a terminal nothing in it can move the cursor.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub(crate) fn answer(self, text: &str) -> io::Result<()> {
        let text = if self.out_terminal { words::harmless(text) } else { text.into() };
        self.print(&format!("{}\n", text.trim_end_matches('\n')))
    }

    /// Writes our own text to standard output, as it is.
    ///
    /// # Errors
    /// When nobody reads any more.
    #[expect(clippy::unused_self, reason = "whoever prints holds the screen")]
    pub(crate) fn print(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Writes a line to standard error. When nobody can read it there, nobody can be told.
    #[expect(clippy::unused_self, reason = "whoever prints holds the screen")]
    pub(crate) fn note(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    fn in_code(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.in_code("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.in_code("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.in_code("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.in_code("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.in_code("33", text)
    }
}

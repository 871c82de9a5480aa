//! The one place that reads the environment and the clock. Everybody else is handed the values.

use std::{collections::BTreeMap, env, path::PathBuf};

use thermidor_types::Timestamp;

/// The environment as it was when the command started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    folder: PathBuf,
}

impl Environment {
    /// Reads it. What is not Unicode is passed over: no setting of ours can be.
    pub(crate) fn read() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the home of the environment: everybody else is handed it"
        )]
        let variables = env::vars_os();
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: variables.filter_map(text).collect(),
            home: env::home_dir().filter(|home| home.is_absolute()),
            folder: env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }

    /// A variable's value; a blank one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// A variable that names a folder; XDG says that relative ones are ignored.
    pub(crate) fn folder_in(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The user's home folder.
    pub(crate) fn home(&self) -> Option<&PathBuf> {
        self.home.as_ref()
    }

    /// The folder the command was started in.
    pub(crate) fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Whether a stream may be coloured: `NO_COLOR` says no, `CLICOLOR_FORCE` says yes, a terminal may unless
    /// it is dumb.
    pub(crate) fn colour(&self, terminal: bool) -> bool {
        if self.get("NO_COLOR").is_some() {
            return false;
        }
        self.get("CLICOLOR_FORCE").is_some_and(|value| value != "0")
            || (terminal && self.can_move_the_cursor())
    }

    /// Whether a terminal understands more than lines.
    pub(crate) fn can_move_the_cursor(&self) -> bool {
        self.get("TERM") != Some("dumb")
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)], folder: impl Into<PathBuf>) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { variables: variables.iter().map(pair).collect(), home: None, folder: folder.into() }
    }
}

/// The current moment, for people: how long ago something was.
pub(crate) fn now() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "the home of the clock: what is replayed never sees this one"
    )]
    let now = std::time::SystemTime::now();
    let millis = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |passed| passed.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_asked_for_forbidden_or_guessed() {
        let colour = |variables: &[(&str, &str)], terminal| Environment::of(variables, "/").colour(terminal);
        assert!(colour(&[("TERM", "xterm")], true));
        assert!(!colour(&[("TERM", "xterm")], false));
        assert!(!colour(&[("TERM", "dumb")], true));
        assert!(colour(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!colour(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!colour(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
        assert!(colour(&[("NO_COLOR", "")], true), "an empty NO_COLOR counts as not set");
    }
}

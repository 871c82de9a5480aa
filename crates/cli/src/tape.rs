//! `--record` and `--replay`: what is said of them before anything is called.

use std::path::{Path, PathBuf};

use thermidor_model_runtime::Cassette;
use thermidor_types::{Clock, ModelId};

use crate::{args::Tape, choose::REHEARSAL, exit::Trouble, settings::now};

/// The flags, checked.
#[derive(Clone, Debug, Default)]
pub(crate) enum Take {
    /// Providers are asked, and nothing is written down.
    #[default]
    Live,
    /// They are asked, and everything is written to this file.
    Record(PathBuf),
    /// This file answers.
    Replay(PathBuf),
}

/// Whether a recording may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is of this command alone.
    New,
    /// It goes on where it was.
    OnWith,
}

impl Take {
    /// Reads the flags.
    ///
    /// # Errors
    /// `Usage` when a file is no cassette, or a new recording would go after another.
    pub(crate) fn of(tape: &Tape, begin: Begin) -> Result<Self, Trouble> {
        if let Some(path) = &tape.replay {
            return opened("--replay", path).map(|_| Self::Replay(path.clone()));
        }
        let Some(path) = &tape.record else { return Ok(Self::Live) };
        let there = path.metadata().is_ok_and(|file| file.len() > 0);
        if there && !opened("--record", path)?.is_empty() && begin == Begin::New {
            let message =
                format!("--record: {} holds a recording already; name another file", path.display());
            return Err(Trouble::usage(message));
        }
        Ok(Self::Record(path.clone()))
    }

    /// The model that a recording begins with.
    ///
    /// # Errors
    /// As [`Take::of`].
    pub(crate) fn first_model(&self) -> Result<Option<ModelId>, Trouble> {
        match self {
            Self::Replay(path) => Ok(opened("--replay", path)?.models().into_iter().next()),
            Self::Live | Self::Record(_) => Ok(None),
        }
    }

    /// The clock for prompts: in a replay it goes on from the time of the recording, so that they name its date.
    ///
    /// # Errors
    /// As [`Take::of`].
    pub(crate) fn clock(&self) -> Result<Option<impl Clock + use<>>, Trouble> {
        let Self::Replay(path) = self else { return Ok(None) };
        let (recorded, began) = (opened("--replay", path)?.recorded_at(), now());
        Ok(Some(move || recorded.after(now().since(began))))
    }

    /// Refuses what has no exchange to record or replay: the built-in model answers by itself.
    ///
    /// # Errors
    /// `Usage` when no other model is used.
    pub(crate) fn holds(&self, models: &[&ModelId]) -> Result<(), Trouble> {
        let flag = match self {
            Self::Live => return Ok(()),
            Self::Record(_) => "--record",
            Self::Replay(_) => "--replay",
        };
        if models.iter().all(|id| id.provider() == REHEARSAL) {
            let message = format!(
                "{flag}: the rehearsal model asks no provider, so that there is no exchange to record or replay; \
                 choose another with -m PROVIDER/MODEL"
            );
            return Err(Trouble::usage(message));
        }
        Ok(())
    }
}

fn opened(flag: &str, path: &Path) -> Result<Cassette, Trouble> {
    Cassette::open(path).map_err(|error| Trouble::usage(format!("{flag}: {}", error.message())))
}

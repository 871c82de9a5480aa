use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{ErrorCode, ffi};
use thermidor_step_engine::{JournalError, JournalErrorKind as Kind};

/// Why one piece of work on the database did not succeed.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    /// The work was refused, and nothing was written for it.
    Refused(Kind, String),
    /// The file is not one that this program may use. The words go on after the file's name.
    Unfit(Kind, String),
    /// What is stored cannot be understood.
    Damaged(String),
    /// The database failed.
    Sql(Arc<rusqlite::Error>),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(Arc::new(error))
    }
}

impl Problem {
    pub(crate) fn refused(kind: Kind, words: impl Into<String>) -> Self {
        Self::Refused(kind, words.into())
    }

    pub(crate) fn damaged(what: impl fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }

    /// The error for the caller: names the file and the remedy.
    pub(crate) fn at(self, path: &Path) -> JournalError {
        let place = path.display();
        match self {
            Self::Refused(kind, words) if words.is_empty() => JournalError::new(kind),
            Self::Refused(kind, words) => JournalError::new(kind).with_message(words),
            Self::Unfit(kind, words) => JournalError::new(kind).with_message(format!("{place} {words}")),
            Self::Damaged(what) => JournalError::new(Kind::Corrupt).with_message(format!(
                "{place}: {what}; restore the file from a backup, or move it away to start anew"
            )),
            Self::Sql(error) => {
                let (kind, remedy) = judge(&error);
                JournalError::new(kind).with_message(format!("{place}: {error}; {remedy}")).with_source(error)
            }
        }
    }
}

fn judge(error: &rusqlite::Error) -> (Kind, &'static str) {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..) => {
                (Kind::Corrupt, "restore the file from a backup, or move it away to start anew")
            }
            _ => (Kind::Unavailable, "try again"),
        };
    };
    match (failure.code, failure.extended_code) {
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => {
            (Kind::Full, "make room there and try again; what was kept before is safe")
        }
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => {
            (Kind::ReadOnly, "make the file and its folder writable, or choose another data folder")
        }
        (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => {
            (Kind::Corrupt, "restore the file from a backup, or move it away to start anew")
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
            (Kind::Unavailable, "another process is writing to it: try again, or end that process")
        }
        (ErrorCode::CannotOpen, _) => (Kind::Unavailable, "check that its folder exists and may be entered"),
        _ => (Kind::Unavailable, "check the disk and try again"),
    }
}

/// Why a database could not be opened, found out without touching the file itself.
pub(crate) fn cannot_open(path: &Path, error: Arc<rusqlite::Error>) -> JournalError {
    let folder = folder(path);
    let place = path.display();
    if !folder.is_dir() {
        return JournalError::new(Kind::Unavailable)
            .with_message(format!("{place}: there is no folder {}; create it", folder.display()))
            .with_source(error);
    }
    if path.is_dir() {
        return JournalError::new(Kind::Unavailable)
            .with_message(format!("{place} is a folder; name a file"))
            .with_source(error);
    }
    let mut probe = path.as_os_str().to_owned();
    probe.push(".probe");
    let probe = PathBuf::from(probe);
    // SQLite says only that it cannot open: a file beside it says why.
    match std::fs::File::create_new(&probe) {
        Ok(_) => {
            if let Err(left) = std::fs::remove_file(&probe) {
                tracing::debug!(path = %probe.display(), error = %left, "a probe file was left behind");
            }
            Problem::Sql(error).at(path)
        }
        Err(reason) => from_io(path, reason),
    }
}

/// The error for a file operation that failed.
pub(crate) fn from_io(path: &Path, error: io::Error) -> JournalError {
    crate::file_error::describe(path, error)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

use std::{io, path::Path};

use thermidor_step_engine::{JournalError, JournalErrorKind as Kind};

/// The error for a file operation that failed: names the file and the remedy.
pub(crate) fn describe(path: &Path, error: io::Error) -> JournalError {
    let (kind, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (Kind::ReadOnly, "make its folder writable, or choose another data folder")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (Kind::Full, "make room there and try again")
        }
        io::ErrorKind::NotFound => (Kind::Unavailable, "create its folder"),
        _ => (Kind::Unavailable, "check the disk and try again"),
    };
    JournalError::new(kind).with_message(format!("{}: {error}; {remedy}", path.display())).with_source(error)
}

//! Opening connections: what is checked, and in which order, so that a refused file is left as it was.

use std::{fmt::Write, path::Path, thread, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};
use thermidor_step_engine::{JournalError, JournalErrorKind as Kind};

use super::{
    options::{Durability, Options},
    problem::{Problem, cannot_open},
    schema,
};

/// Statements kept prepared per connection: all that there are.
const STATEMENTS: usize = 48;

/// What the write-ahead log is cut back to once its content is in the database.
const LOG_BYTES: i64 = 4 << 20;

/// Opens the connection that writes; creates the file or brings it up to date.
pub(crate) fn writer(path: &Path, options: &Options) -> Result<Connection, JournalError> {
    if path.exists() {
        peek(path, options)?;
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|db| prepare(&db, options).map(|()| db));
    let mut db = opened.map_err(|error| explain(path, error))?;
    let set_up = |db: &mut Connection| {
        // SQLite opens what it may not write for reading, without a word.
        if db.is_readonly("main")? {
            let words = "may not be written; make it and its folder writable, or choose another data folder";
            return Err(Problem::Unfit(Kind::ReadOnly, words.into()));
        }
        schema::identify(db)?;
        write_ahead(db, options.busy_timeout)?;
        schema::migrate(db)?;
        tune(db, options)
    };
    set_up(&mut db).map_err(|problem| problem_at(path, problem))?;
    Ok(db)
}

/// Opens a connection that reads beside the writer.
pub(crate) fn reader(path: &Path, options: &Options) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let db = Connection::open_with_flags(path, flags)?;
        prepare(&db, options)?;
        db.pragma_update(None, "query_only", true)?;
        Ok(db)
    };
    open().map_err(|error| explain(path, error))
}

/// Opens a connection to a file that may not be changed.
pub(crate) fn spectator(path: &Path, options: &Options) -> Result<Connection, JournalError> {
    if !path.exists() {
        return Err(Problem::Unfit(Kind::Unavailable, "does not exist; start a run first".into()).at(path));
    }
    match read_only(path, options, Medium::Shared).and_then(|db| schema::require_current(&db).map(|()| db)) {
        // On a read-only medium the files that readers and writers share cannot be made. When there is no
        // log either, nobody writes: the file can be read as it is.
        Err(problem) if cannot_share(&problem) && !has_log(path) => {
            read_only(path, options, Medium::Immutable)
                .and_then(|db| schema::require_current(&db).map(|()| db))
        }
        other => other,
    }
    .map_err(|problem| problem_at(path, problem))
}

/// Looks at a file through a connection that changes nothing, whatever it finds.
fn peek(path: &Path, options: &Options) -> Result<(), JournalError> {
    match read_only(path, options, Medium::Shared).and_then(|db| schema::identify(&db)) {
        // What a reader cannot look at, the writer looks at again.
        Err(problem) if cannot_share(&problem) => Ok(()),
        Err(problem) => Err(problem_at(path, problem)),
        Ok(_) => Ok(()),
    }
}

#[derive(Clone, Copy)]
enum Medium {
    Shared,
    Immutable,
}

fn read_only(path: &Path, options: &Options, medium: Medium) -> Result<Connection, Problem> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match medium {
        Medium::Shared => Connection::open_with_flags(path, flags)?,
        Medium::Immutable => {
            Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    prepare(&db, options)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

fn immutable(path: &Path) -> String {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    address.push_str("?immutable=1");
    address
}

fn cannot_share(problem: &Problem) -> bool {
    let Problem::Sql(error) = problem else { return false };
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn prepare(db: &Connection, options: &Options) -> rusqlite::Result<()> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.busy_timeout(options.busy_timeout)
}

/// Switches to a write-ahead log. The switch does not wait for other processes by itself.
fn write_ahead(db: &Connection, patience: Duration) -> Result<(), Problem> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        let switched = db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let words = format!(
                    "is on a file system that cannot share memory between processes (journal mode {mode}); \
                     choose a data folder on a local disk"
                );
                return Err(Problem::Unfit(Kind::Unavailable, words));
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < patience => {
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn tune(db: &Connection, options: &Options) -> Result<(), Problem> {
    let synchronous = match options.durability {
        Durability::Normal => "normal",
        Durability::Full => "full",
    };
    db.pragma_update(None, "synchronous", synchronous)?;
    // Elsewhere than on Apple's systems this changes nothing; there a plain sync stops at the disk's cache.
    db.pragma_update(None, "fullfsync", options.durability == Durability::Full)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    if let Some(bytes) = options.max_bytes {
        let page: u64 =
            db.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0).map(u64::from))?;
        let pages = i64::try_from((bytes / page).max(1)).unwrap_or(i64::MAX);
        db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}

fn problem_at(path: &Path, problem: Problem) -> JournalError {
    match problem {
        Problem::Sql(error) if path.is_dir() || error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            cannot_open(path, error)
        }
        problem => problem.at(path),
    }
}

fn explain(path: &Path, error: rusqlite::Error) -> JournalError {
    problem_at(path, error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if the stronger promise were not asked of the database, or if the log were not used.
    #[test]
    fn what_was_promised_is_asked_of_the_database() {
        let folder = tempfile::tempdir().expect("a folder");
        for (durability, expected) in [(Durability::Normal, 1), (Durability::Full, 2)] {
            let options = Options { durability, ..Options::default() };
            let db = writer(&folder.path().join("journal.sqlite"), &options).expect("it opens");
            let number: i64 = db.pragma_query_value(None, "synchronous", |row| row.get(0)).expect("a number");
            assert_eq!(number, expected);
            let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("a word");
            assert_eq!(mode, "wal");
        }
    }

    #[test]
    fn every_byte_of_a_path_is_itself_in_an_address() {
        assert_eq!(
            immutable(Path::new("/a b/50%?#é.sqlite")),
            "file:/a%20b/50%25%3F%23%C3%A9.sqlite?immutable=1"
        );
    }
}

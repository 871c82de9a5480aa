//! What a journal's file says of itself, and how an older one becomes a current one.

use rusqlite::{Connection, TransactionBehavior};
use thermidor_step_engine::JournalErrorKind as Kind;

use super::problem::Problem;

/// `THMD` in the file's header: a journal of ours, and no other program's database.
const APPLICATION: i32 = i32::from_be_bytes(*b"THMD");

/// Step n brings a file from version n to n + 1. Steps are only ever added: files of every version exist.
const STEPS: [&str; 1] = [include_str!("0001.sql")];

/// The version of the file's form, or `None` when nothing is in it yet.
///
/// Reads only. Fails for a file of a newer program and for another program's database.
pub(crate) fn identify(db: &Connection) -> Result<Option<usize>, Problem> {
    // One statement sees one moment: another process may be setting the file up.
    let (application, version, tables) = db.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i32>(1)?, row.get::<_, i64>(2)?)),
    )?;
    if application == APPLICATION {
        return match usize::try_from(version) {
            Ok(version) if version > STEPS.len() => {
                let words = format!(
                    "has format version {version}, this program knows versions up to {}; \
                     update this program, or choose another data folder",
                    STEPS.len()
                );
                Err(Problem::Unfit(Kind::Newer, words))
            }
            Ok(version) if version > 0 => Ok(Some(version)),
            _ => Err(Problem::damaged(format!("format version {version} never existed"))),
        };
    }
    if application == 0 && version == 0 && tables == 0 {
        return Ok(None);
    }
    let words = "is an SQLite database, but another program's; choose another file or data folder";
    Err(Problem::Unfit(Kind::Corrupt, words.into()))
}

/// Brings the file to the current version, a transaction per step. A current file is only read.
pub(crate) fn migrate(db: &mut Connection) -> Result<(), Problem> {
    while identify(db)? != Some(STEPS.len()) {
        // Another process may be at the same: whoever comes second finds the step done.
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = identify(&transaction)?.unwrap_or(0);
        if let Some(step) = STEPS.get(version) {
            transaction.execute_batch(step)?;
            transaction.pragma_update(
                None,
                "user_version",
                i32::try_from(version + 1).unwrap_or(i32::MAX),
            )?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Checks a file that may not be changed.
pub(crate) fn require_current(db: &Connection) -> Result<(), Problem> {
    match identify(db)? {
        Some(version) if version == STEPS.len() => Ok(()),
        Some(version) => {
            let words = format!(
                "has format version {version} and must be brought to {}; open it once with write access",
                STEPS.len()
            );
            Err(Problem::Unfit(Kind::ReadOnly, words))
        }
        None => Err(Problem::Unfit(Kind::Unavailable, "holds no journal yet; start a run first".into())),
    }
}

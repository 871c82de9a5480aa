//! What is written, one function per kind of work.
//!
//! Each decides from what it reads whether to refuse, and writes only after that: a refusal leaves nothing
//! behind in a transaction that it shares with others.

use rusqlite::{Connection, OptionalExtension, params};
use thermidor_step_engine::{Append, JournalErrorKind as Kind, Posted, Snapshot, TreeStatus};
use thermidor_types::{Timestamp, TreeId};

use super::{
    form::{command_bytes, integer, record_id, state_word, tree_bytes, wake_at, write_cuts},
    problem::Problem,
    read::{Stem, stem},
};

/// Adds records to a tree and returns its new version.
pub(crate) fn append(db: &Connection, tree: TreeId, append: &Append) -> Result<u64, Problem> {
    let (Some(first), Some(last)) = (append.records.first(), append.records.last()) else {
        return Err(Problem::refused(Kind::Conflict, "an append holds at least one record"));
    };
    let version = append.expected + append.records.len() as u64;
    if append.expected == 0 {
        open(db, tree, first.at)?;
    }
    let Some(number) = advance(db, tree, append.expected, version, last.at, &append.status)? else {
        let stands = db
            .prepare_cached("SELECT version FROM tree WHERE id = ?1")?
            .query_row([tree_bytes(tree)], |row| row.get::<_, i64>(0))
            .optional()?
            .unwrap_or(0);
        let words = format!("the journal stands at {stands}, not at {}", append.expected);
        return Err(Problem::refused(Kind::Conflict, words));
    };

    let mut blob =
        db.prepare_cached("INSERT INTO blob (hash, content) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING")?;
    for (hash, content) in &append.blobs {
        blob.execute(params![hash.as_bytes(), content.as_ref()])?;
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO record (id, at, node, kind, version, border, body, cuts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (record, at) in append.records.iter().zip(append.expected + 1..) {
        insert.execute(params![
            record_id(number, at)?,
            record.at.as_millis(),
            record.node.0,
            record.kind.as_str(),
            record.version,
            at == version,
            record.body,
            write_cuts(&record.cuts)?,
        ])?;
    }
    let mut handled =
        db.prepare_cached("UPDATE inbox SET request = NULL WHERE tree = ?1 AND command = ?2")?;
    for command in &append.handled {
        handled.execute(params![number, command_bytes(command)])?;
    }
    Ok(version)
}

/// Creates the row of a tree without records, unless there is a row.
fn open(db: &Connection, tree: TreeId, opened_at: Timestamp) -> Result<(), Problem> {
    let mut insert = db.prepare_cached(
        "INSERT INTO tree (id, version, opened_at, changed_at, title, kind, state, steps, turns, tokens)
         VALUES (?1, 0, ?2, ?2, '', '', 'new', 0, 0, 0) ON CONFLICT (id) DO NOTHING",
    )?;
    insert.execute(params![tree_bytes(tree), opened_at.as_millis()])?;
    Ok(())
}

/// Moves the tree's row on; `None` when the tree does not stand at `expected`.
fn advance(
    db: &Connection,
    tree: TreeId,
    expected: u64,
    version: u64,
    changed_at: Timestamp,
    status: &TreeStatus,
) -> Result<Option<i64>, Problem> {
    let mut update = db.prepare_cached(
        "UPDATE tree SET version = ?3, changed_at = ?4, title = ?5, kind = ?6, state = ?7, wake_at = ?8,
                steps = ?9, turns = ?10, tokens = ?11, micros = ?12, currency = ?13
         WHERE id = ?1 AND version = ?2 RETURNING number",
    )?;
    let TreeStatus { title, kind, state, spent } = status;
    let number = update.query_row(
        params![
            tree_bytes(tree),
            integer(expected)?,
            integer(version)?,
            changed_at.as_millis(),
            title.as_str(),
            kind.as_str(),
            state_word(*state),
            wake_at(*state),
            integer(spent.steps)?,
            integer(spent.turns)?,
            integer(spent.tokens.0)?,
            spent.money.map(|money| money.micros()),
            spent.money.as_ref().map(|money| money.currency().code().to_owned()),
        ],
        |row| row.get(0),
    );
    Ok(number.optional()?)
}

/// Puts a command into a tree's inbox. Returns whether it is a new one.
pub(crate) fn post(db: &Connection, tree: TreeId, posted: &Posted) -> Result<bool, Problem> {
    let number = number(db, tree)?;
    let request = serde_json::to_string(&posted.request).map_err(|error| {
        Problem::refused(Kind::Unavailable, format!("the command has no JSON form: {error}"))
    })?;
    let mut insert = db.prepare_cached(
        "INSERT INTO inbox (tree, command, node, request) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (tree, command) DO NOTHING",
    )?;
    Ok(insert.execute(params![number, command_bytes(&posted.id), posted.node.0, request])? > 0)
}

/// Keeps a tree's snapshot in place of its older one.
pub(crate) fn save_snapshot(db: &Connection, tree: TreeId, snapshot: &Snapshot) -> Result<(), Problem> {
    let number = number(db, tree)?;
    let version = integer(snapshot.version)?;
    let mut replace = db.prepare_cached(
        "INSERT INTO snapshot (tree, version, fingerprint, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (tree) DO UPDATE SET version = ?2, fingerprint = ?3, body = ?4",
    )?;
    replace.execute(params![number, version, snapshot.fingerprint.as_bytes(), snapshot.body.as_ref()])?;
    Ok(())
}

/// Makes `to` a tree that shares the first `at` records of `from`. Copies no record, whatever their number.
pub(crate) fn fork(db: &Connection, from: TreeId, at: u64, to: TreeId) -> Result<(), Problem> {
    if db.prepare_cached("SELECT 1 FROM tree WHERE id = ?1")?.exists([tree_bytes(to)])? {
        return Err(Problem::refused(Kind::Conflict, format!("there is a run {to} already")));
    }
    let stem = stem(db, from)?.ok_or_else(not_found)?;
    let changed_at = border(db, &stem, at)?;
    let number: i64 = db
        .prepare_cached(
            "INSERT INTO tree (id, version, shared, opened_at, changed_at,
                               title, kind, state, wake_at, steps, turns, tokens, micros, currency)
             SELECT ?2, ?3, ?3, opened_at, ?4, title, kind, state, wake_at, steps, turns, tokens, micros, currency
             FROM tree WHERE number = ?1 RETURNING number",
        )?
        .query_row(params![stem.number, tree_bytes(to), integer(at)?, changed_at], |row| row.get(0))?;
    let mut insert = db.prepare_cached("INSERT INTO part (tree, until, source) VALUES (?1, ?2, ?3)")?;
    for part in stem.parts.iter().filter(|part| part.after < at) {
        insert.execute(params![number, integer(part.until.min(at))?, part.source])?;
    }
    Ok(())
}

/// Checks that an append ended at `at`; returns the time of its last record.
fn border(db: &Connection, stem: &Stem, at: u64) -> Result<i64, Problem> {
    let Some(part) = stem.parts.iter().find(|part| part.after < at && at <= part.until) else {
        let words = format!("the run has no step {at}; its last one ends at {}", stem.version());
        return Err(Problem::refused(Kind::NotABorder, words));
    };
    let mut find = db.prepare_cached(
        "SELECT id, at FROM record WHERE id > ?1 AND id <= ?2 AND border ORDER BY id DESC LIMIT 1",
    )?;
    let bounds = [record_id(part.source, part.after)?, record_id(part.source, at)?];
    let before = find.query_row(bounds, |row| Ok((row.get::<_, i64>(0)?, row.get(1)?))).optional()?;
    match before {
        Some((id, time)) if id == bounds[1] => Ok(time),
        before => {
            // A part ends at a border of the tree it was forked from.
            let nearest = before.map_or(part.after, |(id, _)| part.after + (id - bounds[0]).unsigned_abs());
            let hint =
                if nearest == 0 { String::new() } else { format!("; the nearest place before is {nearest}") };
            Err(Problem::refused(Kind::NotABorder, format!("{at} lies inside a step{hint}")))
        }
    }
}

fn not_found() -> Problem {
    Problem::refused(Kind::NotFound, String::new())
}

fn number(db: &Connection, tree: TreeId) -> Result<i64, Problem> {
    let mut find = db.prepare_cached("SELECT number FROM tree WHERE id = ?1")?;
    find.query_row([tree_bytes(tree)], |row| row.get(0)).optional()?.ok_or_else(not_found)
}

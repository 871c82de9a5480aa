//! What is read, one function per question.

use std::collections::BTreeMap;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use thermidor_step_engine::{JournalErrorKind as Kind, Loaded, NodeId, Posted, Snapshot, TreeRow};
use thermidor_types::{ContentHash, TreeId};

use super::{
    form::{self, command_id, record_id, tree_bytes, tree_id, tree_row, unsigned},
    problem::Problem,
};

/// Where a tree's records are.
pub(crate) struct Stem {
    /// The tree's number.
    pub(crate) number: i64,
    /// The parts in order, the tree's own last; none is empty.
    pub(crate) parts: Vec<Part>,
}

/// Records that lie side by side: those after version `after` up to version `until`.
pub(crate) struct Part {
    pub(crate) after: u64,
    pub(crate) until: u64,
    pub(crate) source: i64,
}

impl Stem {
    pub(crate) fn version(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.until)
    }
}

pub(crate) fn stem(db: &Connection, tree: TreeId) -> Result<Option<Stem>, Problem> {
    let mut find = db.prepare_cached("SELECT number, version, shared FROM tree WHERE id = ?1")?;
    let found =
        find.query_row([tree_bytes(tree)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((number, version, shared)) = found else { return Ok(None) };
    let (version, shared) = (unsigned(version)?, unsigned(shared)?);
    let mut parts = Vec::new();
    let mut after = 0;
    if shared > 0 {
        let mut list = db.prepare_cached("SELECT until, source FROM part WHERE tree = ?1 ORDER BY until")?;
        let mut rows = list.query([number])?;
        while let Some(row) = rows.next()? {
            let until = unsigned(row.get(0)?)?;
            parts.push(Part { after, until, source: row.get(1)? });
            after = until;
        }
    }
    if after != shared {
        return Err(Problem::damaged(format!(
            "the run {tree} shares {shared} records, but is told of {after}"
        )));
    }
    if version > shared {
        parts.push(Part { after: shared, until: version, source: number });
    }
    Ok(Some(Stem { number, parts }))
}

/// A tree's records after the first `after`, with the blobs that they refer to, as of one moment.
pub(crate) fn load(db: &Connection, tree: TreeId, after: u64) -> Result<Loaded, Problem> {
    let moment = db.unchecked_transaction()?;
    let stem = stem(&moment, tree)?.ok_or_else(|| Problem::refused(Kind::NotFound, String::new()))?;
    let mut loaded = Loaded::default();
    let mut list = moment.prepare_cached(
        "SELECT at, node, kind, version, body, cuts FROM record WHERE id > ?1 AND id <= ?2 ORDER BY id",
    )?;
    for part in stem.parts.iter().filter(|part| part.until > after) {
        let from = part.after.max(after);
        let before = loaded.records.len() as u64;
        let mut rows = list.query([record_id(part.source, from)?, record_id(part.source, part.until)?])?;
        while let Some(row) = rows.next()? {
            loaded.records.push(form::record(row)?);
        }
        let missing = (part.until - from).saturating_sub(loaded.records.len() as u64 - before);
        if missing > 0 {
            return Err(Problem::damaged(format!("{missing} records of the run {tree} are missing")));
        }
    }
    loaded.blobs =
        blobs(&moment, loaded.records.iter().flat_map(|record| record.cuts.iter().map(|cut| cut.hash)))?;
    Ok(loaded)
}

fn blobs(
    db: &Connection,
    hashes: impl Iterator<Item = ContentHash>,
) -> Result<BTreeMap<ContentHash, Bytes>, Problem> {
    let mut blobs = BTreeMap::new();
    for hash in hashes {
        if !blobs.contains_key(&hash)
            && let Some(content) = blob(db, hash)?
        {
            blobs.insert(hash, content);
        }
    }
    Ok(blobs)
}

/// A blob.
pub(crate) fn blob(db: &Connection, hash: ContentHash) -> Result<Option<Bytes>, Problem> {
    let mut find = db.prepare_cached("SELECT content FROM blob WHERE hash = ?1")?;
    Ok(find.query_row([hash.as_bytes()], |row| row.get::<_, Vec<u8>>(0)).optional()?.map(Bytes::from))
}

/// The commands of a tree that were not handled.
pub(crate) fn inbox(db: &Connection, tree: TreeId) -> Result<Vec<Posted>, Problem> {
    let moment = db.unchecked_transaction()?;
    let mut find = moment.prepare_cached("SELECT number FROM tree WHERE id = ?1")?;
    let number: Option<i64> = find.query_row([tree_bytes(tree)], |row| row.get(0)).optional()?;
    let number = number.ok_or_else(|| Problem::refused(Kind::NotFound, String::new()))?;
    let mut list = moment.prepare_cached(
        "SELECT command, node, request FROM inbox WHERE tree = ?1 AND request IS NOT NULL ORDER BY seq",
    )?;
    let mut rows = list.query([number])?;
    let mut inbox = Vec::new();
    while let Some(row) = rows.next()? {
        let request: String = row.get(2)?;
        let request = serde_json::from_str(&request).map_err(|error| {
            Problem::damaged(format!("a command to the run {tree} cannot be read: {error}"))
        })?;
        inbox.push(Posted { id: command_id(row.get(0)?), node: NodeId(unsigned(row.get(1)?)?), request });
    }
    Ok(inbox)
}

/// The snapshot of a tree, if it fits.
pub(crate) fn snapshot(
    db: &Connection,
    tree: TreeId,
    fingerprint: ContentHash,
    at_most: u64,
) -> Result<Option<Snapshot>, Problem> {
    let mut find = db.prepare_cached(
        "SELECT snapshot.version, body FROM snapshot JOIN tree ON tree.number = snapshot.tree
         WHERE tree.id = ?1 AND fingerprint = ?2 AND snapshot.version <= ?3",
    )?;
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    let found = find
        .query_row(params![tree_bytes(tree), fingerprint.as_bytes(), at_most], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let Some((version, body)) = found else { return Ok(None) };
    Ok(Some(Snapshot { version: unsigned(version)?, fingerprint, body: body.into() }))
}

/// Trees, newest first.
pub(crate) fn list(db: &Connection, before: Option<TreeId>, limit: usize) -> Result<Vec<TreeRow>, Problem> {
    let mut list =
        db.prepare_cached("SELECT * FROM tree WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = list.query(params![before.map(tree_bytes), limit])?;
    let mut trees = Vec::new();
    while let Some(row) = rows.next()? {
        trees.push(tree_row(tree_id(row.get("id")?), row)?);
    }
    Ok(trees)
}

/// The version a tree stands at, 0 when there is none.
pub(crate) fn version(db: &Connection, tree: TreeId) -> Result<u64, Problem> {
    let mut find = db.prepare_cached("SELECT version FROM tree WHERE id = ?1")?;
    find.query_row([tree_bytes(tree)], |row| row.get(0)).optional()?.map_or(Ok(0), unsigned)
}

/// Whether a command waits for a tree.
pub(crate) fn awaits(db: &Connection, tree: TreeId) -> Result<bool, Problem> {
    let mut find = db.prepare_cached(
        "SELECT 1 FROM inbox WHERE tree = (SELECT number FROM tree WHERE id = ?1) AND request IS NOT NULL",
    )?;
    Ok(find.exists([tree_bytes(tree)])?)
}

/// The number of the newest post, and the trees that were posted to after the one numbered `since`.
pub(crate) fn posts(db: &Connection, since: Option<i64>) -> Result<(i64, Vec<TreeId>), Problem> {
    let Some(since) = since else {
        let mut newest = db.prepare_cached("SELECT coalesce(max(seq), 0) FROM inbox")?;
        return Ok((newest.query_row([], |row| row.get(0))?, Vec::new()));
    };
    let mut list = db.prepare_cached(
        "SELECT seq, tree.id FROM inbox JOIN tree ON tree.number = inbox.tree WHERE seq > ?1 ORDER BY seq",
    )?;
    let mut rows = list.query([since])?;
    let (mut newest, mut trees) = (since, Vec::new());
    while let Some(row) = rows.next()? {
        newest = row.get(0)?;
        trees.push(tree_id(row.get(1)?));
    }
    Ok((newest, trees))
}

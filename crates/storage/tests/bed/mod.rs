//! What the tests of the storage share: small appends, and where journals live.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::Arc;

use bytes::Bytes;
use tempfile::TempDir;
use thermidor_step_engine::{
    Append, Cut, Journal, MemoryJournal, NodeId, Posted, Request, Spent, StoredRecord, TreeState, TreeStatus,
};
use thermidor_storage::{Options, SqliteJournal};
use thermidor_types::{CommandId, ContentHash, Currency, Json, Money, Timestamp, Tokens, TreeId, Uuid};

pub(crate) fn tree(number: u128) -> TreeId {
    TreeId::from(Uuid::from_u128(number))
}

pub(crate) fn command(number: u128) -> CommandId {
    CommandId::from(Uuid::from_u128(number))
}

pub(crate) fn record(body: &str, at: i64) -> StoredRecord {
    StoredRecord {
        at: Timestamp::from_millis(at),
        node: NodeId(7),
        kind: "happened".into(),
        version: 1,
        body: body.into(),
        cuts: Vec::new(),
    }
}

pub(crate) fn status(state: TreeState) -> TreeStatus {
    let money = Some(Money::from_micros(1_250_000, Currency::CNY));
    let spent = Spent { steps: 3, turns: 1, tokens: Tokens(42), money };
    TreeStatus { title: "标题 and title".into(), kind: "crew".into(), state, spent }
}

/// An append of one record per body.
pub(crate) fn append(expected: u64, bodies: &[&str]) -> Append {
    let at = 1_000 * i64::try_from(expected).expect("small");
    Append {
        expected,
        records: bodies.iter().zip(at..).map(|(body, at)| record(body, at)).collect(),
        blobs: Vec::new(),
        handled: Vec::new(),
        status: status(TreeState::Running),
    }
}

/// An append of a record that refers to two blobs.
pub(crate) fn append_cut(expected: u64, one: &[u8], other: &[u8]) -> Append {
    let mut append = append(expected, &[r#"[,"short",]"#]);
    let hashes = [one, other].map(ContentHash::of);
    append.records[0].cuts = vec![Cut { at: 1, hash: hashes[0] }, Cut { at: 10, hash: hashes[1] }];
    append.blobs = vec![(hashes[0], Bytes::copy_from_slice(one)), (hashes[1], Bytes::copy_from_slice(other))];
    append
}

pub(crate) fn posted(number: u128, text: &str) -> Posted {
    let request = Request::Command(Json::of(text).expect("a string"));
    Posted { id: command(number), node: NodeId(2), request }
}

pub(crate) async fn bodies(journal: &dyn Journal, tree: TreeId, after: u64) -> Vec<String> {
    let loaded = journal.load(tree, after).await.expect("it loads");
    loaded.records.into_iter().map(|record| record.body).collect()
}

/// A file in a folder of its own.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.0.path().join("journal.sqlite")
    }

    pub(crate) fn open(&self) -> SqliteJournal {
        SqliteJournal::open(self.file(), Options::default()).expect("it opens")
    }
}

/// Runs a check against every journal there is.
pub(crate) fn everywhere(check: impl AsyncFn(Arc<dyn Journal>)) {
    run(async {
        check(Arc::new(MemoryJournal::new())).await;
        let place = Place::new();
        check(Arc::new(place.open())).await;
    });
}

pub(crate) fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work);
}

impl Place {
    /// The bytes of the file, and of its log if there is one.
    pub(crate) fn bytes(&self) -> Vec<Vec<u8>> {
        let log = self.file().with_extension("sqlite-wal");
        let files = [self.file(), log].into_iter().filter(|file| file.exists());
        files.map(|file| std::fs::read(file).expect("it reads")).collect()
    }

    /// The names of all files in its folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A connection past the journal.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).expect("it opens")
    }
}

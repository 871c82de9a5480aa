//! What goes wrong around a journal in a file, and that it harms nothing.

#![cfg(feature = "sqlite")]

mod bed;

use std::{fs, time::Duration};

use bed::{Place, append, append_cut, bodies, posted, run, tree};
use thermidor_step_engine::{Journal, JournalError, JournalErrorKind as Kind};
use thermidor_storage::{Access, Options, SqliteJournal};
use thermidor_types::ContentHash;

fn refused(place: &Place, options: Options) -> JournalError {
    SqliteJournal::open(place.file(), options).expect_err("it is refused")
}

/// A journal with one run, closed.
fn written() -> Place {
    let place = Place::new();
    let journal = place.open();
    run(async {
        journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept");
    });
    place
}

#[test]
fn a_closed_journal_is_one_file() {
    assert_eq!(written().names(), ["journal.sqlite"]);
}

#[test]
fn a_newer_journal_is_refused_and_left_as_it_was() {
    let place = written();
    // As a newer program would leave it when it is killed: with a log that nobody has put away.
    let newer = place.raw();
    newer.pragma_update(None, "user_version", 9).expect("it is set");
    newer.execute_batch("CREATE TABLE later (x)").expect("it is made");
    let before = place.bytes();
    assert_eq!(before.len(), 2, "the log is there");
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = refused(&place, Options { access, ..Options::default() });
        assert_eq!(error.kind(), Kind::Newer);
        let words = error.to_string();
        for part in ["journal.sqlite", "version 9", "up to 1", "update this program"] {
            assert!(words.contains(part), "{words}");
        }
    }
    assert_eq!(place.bytes(), before);
    drop(newer);
    let before = place.bytes();
    refused(&place, Options::default());
    assert_eq!(place.bytes()[0], before[0]);
}

#[test]
fn another_program_s_database_is_refused_and_left_as_it_was() {
    let check = |make: &dyn Fn(&Place), part: &str| {
        let place = Place::new();
        make(&place);
        let before = place.bytes();
        let error = refused(&place, Options::default());
        assert_eq!(error.kind(), Kind::Corrupt);
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(place.bytes(), before);
    };
    let foreign = "another program's";
    check(&|place| place.raw().execute_batch("CREATE TABLE mine (x)").expect("it is made"), foreign);
    check(&|place| place.raw().pragma_update(None, "application_id", 7).expect("it is set"), foreign);
    check(&|place| place.raw().pragma_update(None, "user_version", 1).expect("it is set"), foreign);
    check(&|place| fs::write(place.file(), "notes\n".repeat(200)).expect("it is written"), "not a database");
}

#[test]
fn an_empty_file_becomes_a_journal() {
    let place = Place::new();
    fs::write(place.file(), "").expect("it is written");
    let journal = place.open();
    run(async {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
    });
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    let check = |path: std::path::PathBuf, access, part: &str| {
        let error = SqliteJournal::open(&path, Options { access, ..Options::default() })
            .expect_err("it is not there");
        assert_eq!(error.kind(), Kind::Unavailable);
        let words = error.to_string();
        assert!(words.contains(part) && words.contains(&path.display().to_string()), "{words}");
    };
    let folder = place.file().parent().expect("a folder").to_owned();
    check(folder.join("no/where.sqlite"), Access::ReadWrite, "there is no folder");
    check(folder.clone(), Access::ReadWrite, "is a folder; name a file");
    check(place.file(), Access::ReadOnly, "does not exist");
    assert_eq!(place.names(), [""; 0], "nothing was left behind");
}

#[test]
fn a_journal_opened_for_reading_reads_and_changes_nothing() {
    let place = written();
    let options = Options { access: Access::ReadOnly, ..Options::default() };
    let before = place.bytes();
    run(async {
        let journal = SqliteJournal::open(place.file(), options).expect("it opens");
        assert_eq!(journal.list(None, 9).await.expect("it lists").len(), 1);
        assert_eq!(bodies(&journal, tree(1), 0).await, ["a", "b"]);
        let error = journal.append(tree(1), append(2, &["c"])).await.expect_err("it may not");
        assert_eq!(error.kind(), Kind::ReadOnly);
        assert_eq!(
            journal.post(tree(1), posted(1, "do")).await.expect_err("it may not").kind(),
            Kind::ReadOnly
        );

        // It follows what somebody else writes.
        let writer = place.open();
        writer.append(tree(1), append(2, &["c"])).await.expect("it is kept");
        journal.appended(tree(1), 2).await;
        assert_eq!(bodies(&journal, tree(1), 2).await, ["c"]);
    });
    assert_ne!(place.bytes()[0], before[0]);
}

#[test]
fn a_full_journal_keeps_what_it_has_and_nothing_of_what_did_not_fit() {
    let place = written();
    let big: Vec<u8> = (0_u32..400_000).flat_map(u32::to_le_bytes).collect();
    run(async {
        let options = Options { max_bytes: Some(512 << 10), ..Options::default() };
        let journal = SqliteJournal::open(place.file(), options).expect("it opens");
        let error =
            journal.append(tree(1), append_cut(2, &big, b"small")).await.expect_err("it does not fit");
        assert_eq!(error.kind(), Kind::Full);
        assert!(error.to_string().contains("make room"), "{error}");
        assert_eq!(bodies(&journal, tree(1), 0).await, ["a", "b"]);
        assert_eq!(journal.blob(ContentHash::of(b"small")).await.expect("it reads"), None);

        // In one group with what fits: the others do not suffer for it.
        let (fits, too_big, fits_too) = tokio::join!(
            journal.append(tree(2), append(0, &["x"])),
            journal.append(tree(1), append_cut(2, &big, b"small")),
            journal.append(tree(3), append(0, &["y"])),
        );
        assert_eq!((fits.expect("it fits"), fits_too.expect("it fits")), (1, 1));
        assert_eq!(too_big.expect_err("it does not fit").kind(), Kind::Full);
        drop(journal);

        let roomier = place.open();
        assert_eq!(roomier.append(tree(1), append_cut(2, &big, b"small")).await.expect("it fits"), 3);
    });
}

#[test]
fn a_conflict_in_a_group_is_nobody_else_s() {
    let place = written();
    let journal = place.open();
    run(async {
        // All are sent before the writer's answer to the first one is read: most share a transaction.
        let results = futures_join((10..60).map(|number| {
            let expected = u64::from(number % 7 == 0);
            journal.append(tree(number), append(expected, &["x"]))
        }))
        .await;
        for (number, result) in (10..60_u128).zip(results) {
            if number % 7 == 0 {
                assert_eq!(result.expect_err("it is wrong").kind(), Kind::Conflict);
            } else {
                assert_eq!(result.expect("it is right"), 1);
                assert_eq!(bodies(&journal, tree(number), 0).await, ["x"]);
            }
        }
        assert_eq!(journal.list(None, 100).await.expect("it lists").len(), 1 + 50 - 7);
    });
}

async fn futures_join<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (one, done) in &mut all {
            if done.is_none()
                && let std::task::Poll::Ready(value) = one.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if all.iter().all(|(_, done)| done.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

#[test]
fn a_store_that_is_held_by_another_is_unavailable_until_it_is_let_go() {
    let place = written();
    let options = Options { busy_timeout: Duration::from_millis(30), ..Options::default() };
    let journal = SqliteJournal::open(place.file(), options).expect("it opens");
    let other = place.raw();
    other.execute_batch("BEGIN IMMEDIATE").expect("it begins");
    run(async {
        let error = journal.append(tree(1), append(2, &["c"])).await.expect_err("it is held");
        assert_eq!(error.kind(), Kind::Unavailable);
        assert!(error.to_string().contains("another process"), "{error}");
        assert_eq!(bodies(&journal, tree(1), 0).await, ["a", "b"]);
        other.execute_batch("ROLLBACK").expect("it ends");
        assert_eq!(journal.append(tree(1), append(2, &["c"])).await.expect("it is free"), 3);
    });
}

#[test]
fn damage_is_told() {
    let check = |sql: &str, part: &str| {
        let place = written();
        place.raw().execute_batch(sql).expect("it is done");
        let journal = place.open();
        run(async {
            let error = journal.load(tree(1), 0).await.expect_err("it is damaged");
            assert_eq!(error.kind(), Kind::Corrupt);
            let words = error.to_string();
            assert!(words.contains(part) && words.contains("journal.sqlite"), "{words}");
        });
    };
    check("UPDATE record SET cuts = x'00'", "cuts of a record are incomplete");
    check("DELETE FROM record WHERE border", "1 records of the run");
    check("UPDATE tree SET shared = 1", "shares 1 records");

    let place = written();
    let mut bytes = fs::read(place.file()).expect("it reads");
    for page in bytes.chunks_mut(4096).skip(1) {
        page[..100].fill(0xAA);
    }
    fs::write(place.file(), bytes).expect("it is written");
    let journal = place.open();
    run(async {
        let error = journal.list(None, 9).await.expect_err("it is damaged");
        assert_eq!(error.kind(), Kind::Corrupt);
        assert!(error.to_string().contains("restore the file"), "{error}");
    });
}

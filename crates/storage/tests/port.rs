//! What a journal promises, checked against the one in memory and the one in a file alike.

#![cfg(feature = "sqlite")]

mod bed;

use std::{sync::Arc, time::Duration};

use bed::{append, append_cut, bodies, everywhere, posted, run, status, tree};
use proptest::prelude::*;
use thermidor_step_engine::{
    EndStatus, Journal, JournalErrorKind, MemoryJournal, NodeId, Posted, Request, Snapshot, TreeState,
};
use thermidor_types::{ContentHash, Timestamp};
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(5);

#[test]
fn what_is_appended_comes_back_in_order() {
    everywhere(async |journal| {
        assert_eq!(journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept"), 2);
        assert_eq!(journal.append(tree(1), append(2, &["c"])).await.expect("it is kept"), 3);
        assert_eq!(journal.append(tree(2), append(0, &["other"])).await.expect("it is kept"), 1);
        let loaded = journal.load(tree(1), 0).await.expect("it loads");
        let mut expected = append(0, &["a", "b"]).records;
        expected.extend(append(2, &["c"]).records);
        assert_eq!(loaded.records, expected);
        assert_eq!(bodies(&*journal, tree(1), 1).await, ["b", "c"]);
        assert_eq!(bodies(&*journal, tree(1), 3).await, [""; 0]);
        assert_eq!(bodies(&*journal, tree(1), u64::MAX).await, [""; 0]);
    });
}

#[test]
fn an_append_at_another_version_is_refused_and_leaves_nothing() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept");
        journal.post(tree(1), posted(1, "do")).await.expect("it is posted");
        for expected in [0, 1, 3] {
            let mut late = append_cut(expected, b"left", b"behind");
            late.handled = vec![bed::command(1)];
            late.status = status(TreeState::Suspended);
            let error = journal.append(tree(1), late).await.expect_err("it is late");
            assert_eq!(error.kind(), JournalErrorKind::Conflict);
        }
        let early = journal.append(tree(9), append(1, &["x"])).await.expect_err("there is no such tree");
        assert_eq!(early.kind(), JournalErrorKind::Conflict);
        let empty = journal.append(tree(9), append(0, &[])).await.expect_err("it is empty");
        assert_eq!(empty.kind(), JournalErrorKind::Conflict);
        assert_eq!(bodies(&*journal, tree(1), 0).await, ["a", "b"]);
        assert_eq!(journal.blob(ContentHash::of(b"left")).await.expect("it reads"), None);
        assert_eq!(journal.inbox(tree(1)).await.expect("it reads"), [posted(1, "do")]);
        let rows = journal.list(None, 9).await.expect("it lists");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].status.state, TreeState::Running);
    });
}

#[test]
fn what_is_not_there_is_not_found() {
    everywhere(async |journal| {
        let not_found =
            |error: thermidor_step_engine::JournalError| error.kind() == JournalErrorKind::NotFound;
        let snapshot = Snapshot { version: 1, fingerprint: ContentHash::of(b""), body: "".into() };
        assert!(journal.load(tree(1), 0).await.is_err_and(not_found));
        assert!(journal.post(tree(1), posted(1, "do")).await.is_err_and(not_found));
        assert!(journal.inbox(tree(1)).await.is_err_and(not_found));
        assert!(journal.save_snapshot(tree(1), snapshot).await.is_err_and(not_found));
        assert!(journal.fork(tree(1), 1, tree(2)).await.is_err_and(not_found));
        assert_eq!(journal.blob(ContentHash::of(b"")).await.expect("it reads"), None);
        assert_eq!(journal.snapshot(tree(1), ContentHash::of(b""), 9).await.expect("it reads"), None);
        assert_eq!(journal.list(None, 9).await.expect("it lists"), []);
    });
}

#[test]
fn a_post_counts_once_and_goes_away_with_the_append_that_handles_it() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        journal.append(tree(2), append(0, &["a"])).await.expect("it is kept");
        let stop = Posted { id: bed::command(2), node: NodeId::ROOT, request: Request::Stop };
        for post in [posted(3, "first"), stop.clone(), posted(3, "again"), posted(1, "last")] {
            journal.post(tree(1), post).await.expect("it is posted");
        }
        journal.post(tree(2), posted(3, "another tree's")).await.expect("it is posted");
        let all = [posted(3, "first"), stop.clone(), posted(1, "last")];
        assert_eq!(journal.inbox(tree(1)).await.expect("it reads"), all);

        let mut handling = append(1, &["b"]);
        handling.handled = vec![bed::command(3), bed::command(1), bed::command(77)];
        journal.append(tree(1), handling).await.expect("it is kept");
        assert_eq!(journal.inbox(tree(1)).await.expect("it reads"), std::slice::from_ref(&stop));
        journal.post(tree(1), posted(3, "once more")).await.expect("it is posted");
        assert_eq!(journal.inbox(tree(1)).await.expect("it reads"), [stop]);
        assert_eq!(journal.inbox(tree(2)).await.expect("it reads"), [posted(3, "another tree's")]);
    });
}

#[test]
fn the_bytes_of_a_command_are_not_rewritten() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        let exact = thermidor_types::Json::parse(r#"{"b":1.10,  "a":[2e0]}"#).expect("valid");
        let post = Posted { id: bed::command(1), node: NodeId::ROOT, request: Request::Command(exact) };
        journal.post(tree(1), post.clone()).await.expect("it is posted");
        assert_eq!(journal.inbox(tree(1)).await.expect("it reads"), [post]);
    });
}

#[test]
fn blobs_come_with_the_records_that_refer_to_them() {
    everywhere(async |journal| {
        let (one, other) = ([0, 255, 1].as_slice(), "text".as_bytes());
        journal.append(tree(1), append_cut(0, one, other)).await.expect("it is kept");
        journal.append(tree(1), append_cut(1, other, other)).await.expect("it is kept twice");
        let loaded = journal.load(tree(1), 0).await.expect("it loads");
        assert_eq!(loaded.records[0].cuts, append_cut(0, one, other).records[0].cuts);
        assert_eq!(loaded.blobs.len(), 2);
        let rest = journal.load(tree(1), 1).await.expect("it loads");
        assert_eq!(rest.blobs.into_iter().collect::<Vec<_>>(), [(ContentHash::of(other), "text".into())]);
        let read = journal.blob(ContentHash::of(one)).await.expect("it reads");
        assert_eq!(read.as_deref(), Some(one));
    });
}

#[test]
fn a_fork_shares_what_came_before_and_nothing_after() {
    everywhere(async |journal| {
        journal.append(tree(1), append_cut(0, b"one", b"two")).await.expect("it is kept");
        journal.append(tree(1), append(1, &["b", "c"])).await.expect("it is kept");
        journal.append(tree(1), append(3, &["d"])).await.expect("it is kept");
        journal.post(tree(1), posted(1, "do")).await.expect("it is posted");
        let original = journal.load(tree(1), 0).await.expect("it loads");

        journal.fork(tree(1), 3, tree(2)).await.expect("a border");
        assert_eq!(journal.load(tree(2), 0).await.expect("it loads").records, original.records[..3]);
        assert_eq!(journal.load(tree(2), 0).await.expect("it loads").blobs, original.blobs);
        assert_eq!(bodies(&*journal, tree(2), 2).await, ["c"]);
        assert_eq!(journal.inbox(tree(2)).await.expect("it reads"), []);
        let row = journal.list(None, 1).await.expect("it lists").remove(0);
        assert_eq!((row.tree, row.version, row.changed_at), (tree(2), 3, original.records[2].at));

        assert_eq!(journal.append(tree(2), append(3, &["x", "y"])).await.expect("it is kept"), 5);
        assert_eq!(bodies(&*journal, tree(2), 1).await, ["b", "c", "x", "y"]);
        assert_eq!(bodies(&*journal, tree(1), 1).await, ["b", "c", "d"]);
        journal.post(tree(2), posted(1, "a command of its own")).await.expect("it is posted");
        assert_eq!(journal.inbox(tree(2)).await.expect("it reads").len(), 1);
    });
}

#[test]
fn a_fork_inside_a_step_is_refused_with_the_place_before() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept");
        journal.append(tree(1), append(2, &["c", "d", "e"])).await.expect("it is kept");
        for at in [0, 1, 3, 4, 6, u64::MAX] {
            let error = journal.fork(tree(1), at, tree(2)).await.expect_err("no border");
            assert_eq!(error.kind(), JournalErrorKind::NotABorder, "{at}");
        }
        let error = journal.fork(tree(1), 4, tree(2)).await.expect_err("no border");
        assert!(error.to_string().contains("the nearest place before is 2"), "{error}");
        journal.fork(tree(1), 2, tree(2)).await.expect("a border");
        let taken = journal.fork(tree(1), 5, tree(2)).await.expect_err("it exists");
        assert_eq!(taken.kind(), JournalErrorKind::Conflict);
        let inside =
            journal.fork(tree(2), 1, tree(3)).await.expect_err("no border of the one it was forked from");
        assert_eq!(inside.kind(), JournalErrorKind::NotABorder);
    });
}

#[test]
fn a_snapshot_is_found_by_its_fingerprint_and_never_from_the_future() {
    everywhere(async |journal| {
        let (mine, other) = (ContentHash::of(b"mine"), ContentHash::of(b"other"));
        let snapshot =
            |version, fingerprint| Snapshot { version, fingerprint, body: format!("at {version}").into() };
        journal.append(tree(1), append(0, &["a", "b", "c"])).await.expect("it is kept");
        journal.save_snapshot(tree(1), snapshot(2, mine)).await.expect("it is kept");
        let found = async |fingerprint, at_most| {
            journal
                .snapshot(tree(1), fingerprint, at_most)
                .await
                .expect("it reads")
                .map(|found| found.version)
        };
        assert_eq!(journal.snapshot(tree(1), mine, 2).await.expect("it reads"), Some(snapshot(2, mine)));
        assert_eq!(found(mine, u64::MAX).await, Some(2));
        assert_eq!(found(mine, 1).await, None);
        assert_eq!(found(other, 2).await, None);
        journal.save_snapshot(tree(1), snapshot(3, mine)).await.expect("it is kept");
        assert_eq!(found(mine, 3).await, Some(3));
        assert_eq!(found(mine, 2).await, None);
        journal.fork(tree(1), 3, tree(2)).await.expect("a border");
        assert_eq!(journal.snapshot(tree(2), mine, 3).await.expect("it reads"), None);
    });
}

#[test]
fn lists_are_newest_first_and_paged() {
    everywhere(async |journal| {
        for number in [2, 5, 1, 4, 3] {
            journal.append(tree(number), append(0, &["a"])).await.expect("it is kept");
        }
        let page = async |before: Option<u128>, limit| {
            let rows = journal.list(before.map(tree), limit).await.expect("it lists");
            rows.into_iter().map(|row| row.tree.as_uuid().as_u128()).collect::<Vec<_>>()
        };
        assert_eq!(page(None, 2).await, [5, 4]);
        assert_eq!(page(Some(4), 2).await, [3, 2]);
        assert_eq!(page(Some(2), 2).await, [1]);
        assert_eq!(page(Some(1), 2).await, [0; 0]);
        assert_eq!(page(None, usize::MAX).await, [5, 4, 3, 2, 1]);
    });
}

#[test]
fn lists_show_what_the_last_append_said() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept");
        let wake_at = Some(Timestamp::from_millis(9_000));
        let states = [
            TreeState::New,
            TreeState::Parked { wake_at },
            TreeState::Parked { wake_at: None },
            TreeState::Suspended,
            TreeState::Ended(EndStatus::Limit),
        ];
        for (state, expected) in states.into_iter().zip(2..) {
            let mut next = append(expected, &["x"]);
            next.status = status(state);
            next.status.spent.money = None;
            let at = next.records[0].at;
            let status = next.status.clone();
            journal.append(tree(1), next).await.expect("it is kept");
            let row = journal.list(None, 1).await.expect("it lists").remove(0);
            assert_eq!(row.status, status);
            assert_eq!(
                (row.version, row.opened_at, row.changed_at),
                (expected + 1, Timestamp::from_millis(0), at)
            );
        }
    });
}

#[test]
fn a_post_wakes_whoever_waits_or_comes_to_wait() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        let waiting = async {
            timeout(SOON, journal.posted(tree(1))).await.expect("it is woken");
        };
        let posting = async {
            tokio::task::yield_now().await;
            journal.post(tree(1), posted(1, "do")).await.expect("it is posted");
        };
        tokio::join!(waiting, posting);
        journal.post(tree(1), posted(2, "more")).await.expect("it is posted");
        timeout(SOON, journal.posted(tree(1))).await.expect("the post before counts");
    });
}

#[test]
fn an_append_wakes_whoever_waits_for_its_version() {
    everywhere(async |journal| {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        timeout(SOON, journal.appended(tree(1), 0)).await.expect("it stands there already");
        let waiting = async {
            timeout(SOON, journal.appended(tree(1), 2)).await.expect("it is woken");
            assert_eq!(bodies(&*journal, tree(1), 2).await, ["c"]);
        };
        let appending = async {
            for (expected, body) in [(1, "b"), (2, "c")] {
                tokio::task::yield_now().await;
                journal.append(tree(1), append(expected, &[body])).await.expect("it is kept");
            }
        };
        tokio::join!(waiting, appending);
    });
}

/// Two writers with their own idea of the version, in any order, at once: would fail if both could append at
/// one version, or if a refused append left something.
async fn race(journals: [Arc<dyn Journal>; 2], turns: &[(bool, u8)]) {
    journals[0].append(tree(1), append(0, &["start"])).await.expect("it is kept");
    let mut known = [1_u64; 2];
    let mut kept = vec!["start".to_owned()];
    for (number, (who, size)) in turns.iter().enumerate() {
        let who = usize::from(*who);
        let texts: Vec<_> = (0..=*size % 3).map(|part| format!("{who} {number} {part}")).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let mine = append(known[who], &texts);
        let stands = kept.len() as u64;
        match journals[who].append(tree(1), mine).await {
            Ok(version) => {
                assert_eq!(known[who], stands, "it was late");
                kept.extend(texts.iter().map(|text| (*text).to_owned()));
                assert_eq!(version, kept.len() as u64);
                known[who] = version;
            }
            Err(error) => {
                assert_eq!(error.kind(), JournalErrorKind::Conflict);
                assert_ne!(known[who], stands, "it was in time");
                known[who] = stands;
            }
        }
    }
    for journal in journals {
        assert_eq!(bodies(&*journal, tree(1), 0).await, kept);
    }
}

/// A tree of forks and appends against a model that copies everything.
async fn grow(journal: &dyn Journal, moves: &[(u8, u8, u8)]) {
    journal.append(tree(0), append(0, &["0"])).await.expect("it is kept");
    let mut model = vec![(vec!["0".to_owned()], vec![1_usize])];
    for (number, (which, what, size)) in moves.iter().enumerate() {
        let which = usize::from(*which) % model.len();
        let id = tree(which as u128);
        let (texts, borders) = model[which].clone();
        if what % 2 == 0 {
            let new: Vec<_> = (0..=*size % 4).map(|part| format!("{number} {part}")).collect();
            let refs: Vec<_> = new.iter().map(String::as_str).collect();
            journal.append(id, append(texts.len() as u64, &refs)).await.expect("it is kept");
            model[which].0.extend(new);
            let border = model[which].0.len();
            model[which].1.push(border);
        } else {
            let at = usize::from(*size) % (texts.len() + 2);
            let forked = journal.fork(id, at as u64, tree(model.len() as u128)).await;
            if borders.contains(&at) {
                forked.expect("a border");
                let before = borders.into_iter().filter(|border| *border <= at).collect();
                model.push((texts[..at].to_vec(), before));
            } else {
                assert_eq!(forked.expect_err("no border").kind(), JournalErrorKind::NotABorder);
            }
        }
    }
    for (which, (texts, _)) in model.iter().enumerate() {
        for after in [0, texts.len() / 2] {
            assert_eq!(bodies(journal, tree(which as u128), after as u64).await, texts[after..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_two_writers_one_wins(turns in prop::collection::vec((any::<bool>(), any::<u8>()), 1..12)) {
        run(async {
            let memory: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
            race([memory.clone(), memory], &turns).await;
            let place = bed::Place::new();
            race([Arc::new(place.open()), Arc::new(place.open())], &turns).await;
        });
    }

    #[test]
    fn forks_of_forks_hold_what_copies_would(
        moves in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..40),
    ) {
        run(async {
            grow(&MemoryJournal::new(), &moves).await;
            grow(&bed::Place::new().open(), &moves).await;
        });
    }
}

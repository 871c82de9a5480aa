//! Files of every version that was ever released open and read back.
//!
//! A new version adds a file to `testdata`, made once by `makes_the_golden_file`, and a line to the table below.

#![cfg(feature = "sqlite")]

mod bed;

use bed::{Place, append, append_cut, bodies, posted, run, status, tree};
use thermidor_step_engine::{Journal, Posted, Request, Snapshot, TreeState};
use thermidor_types::{ContentHash, Timestamp};

const FILES: [&str; 1] = ["journal-v1.sqlite"];

fn testdata(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn snapshot() -> Snapshot {
    Snapshot { version: 2, fingerprint: ContentHash::of(b"shape"), body: "state".into() }
}

/// A bit of everything.
async fn fill(journal: &dyn Journal) {
    journal.append(tree(1), append(0, &["a", "b"])).await.expect("it is kept");
    journal.append(tree(1), append_cut(2, b"one text", "另一个".as_bytes())).await.expect("it is kept");
    journal.post(tree(1), posted(1, "handled")).await.expect("it is posted");
    journal.post(tree(1), posted(2, "waits")).await.expect("it is posted");
    let stop = Posted { request: Request::Stop, ..posted(3, "") };
    journal.post(tree(1), stop).await.expect("it is posted");
    let mut last = append(3, &[r#"{"b":1.10,  "a":[2e0]}"#]);
    last.handled = vec![bed::command(1)];
    last.status = status(TreeState::Parked { wake_at: Some(Timestamp::from_millis(99)) });
    journal.append(tree(1), last).await.expect("it is kept");
    journal.save_snapshot(tree(1), snapshot()).await.expect("it is kept");
    journal.fork(tree(1), 2, tree(2)).await.expect("a border");
    journal.append(tree(2), append(2, &["other"])).await.expect("it is kept");
}

#[test]
fn a_file_of_every_version_reads_back_and_goes_on() {
    for name in FILES {
        let place = Place::new();
        std::fs::copy(testdata(name), place.file()).expect("it is there");
        run(async {
            let fresh = Place::new();
            let (old, new) = (place.open(), fresh.open());
            fill(&new).await;
            for number in [1, 2] {
                let loaded = [old.load(tree(number), 0).await, new.load(tree(number), 0).await];
                let [old, new] = loaded.map(|loaded| loaded.expect("it loads"));
                assert_eq!((old.records, old.blobs), (new.records, new.blobs), "{name}");
            }
            assert_eq!(
                old.list(None, 9).await.expect("it lists"),
                new.list(None, 9).await.expect("it lists")
            );
            let inbox = old.inbox(tree(1)).await.expect("it reads");
            assert_eq!(inbox, new.inbox(tree(1)).await.expect("it reads"));
            assert_eq!(inbox.len(), 2);
            let found = old.snapshot(tree(1), ContentHash::of(b"shape"), 2).await.expect("it reads");
            assert_eq!(found, Some(snapshot()));
            assert_eq!(old.append(tree(2), append(3, &["more"])).await.expect("it is kept"), 4);
            assert_eq!(bodies(&old, tree(2), 0).await, ["a", "b", "other", "more"]);
        });
    }
}

#[test]
#[ignore = "writes testdata: run it once for a new version, before anything is released with it"]
fn makes_the_golden_file() {
    let place = Place::new();
    let journal = place.open();
    run(async {
        fill(&journal).await;
    });
    drop(journal);
    let newest = testdata(FILES[FILES.len() - 1]);
    assert!(!newest.exists(), "{} stands: it is never written again", newest.display());
    std::fs::create_dir_all(testdata("")).expect("a folder");
    std::fs::copy(place.file(), newest).expect("it is kept");
}

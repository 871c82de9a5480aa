//! Several hands on one file: handles that share it, and a process that is killed while it writes.

#![cfg(feature = "sqlite")]

mod bed;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use bed::{Place, append, bodies, posted, run, tree};
use thermidor_step_engine::{Journal, JournalErrorKind};
use tokio::{task::JoinSet, time::timeout};

/// Far more than the 250 ms promised: what fails here waits for ever.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn what_another_handle_writes_wakes_those_that_wait() {
    let place = Place::new();
    let (here, there) = (place.open(), place.open());
    run(async {
        there.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        timeout(SOON, here.appended(tree(1), 0)).await.expect("what stood there before is found");
        there.post(tree(1), posted(1, "do")).await.expect("it is posted");
        timeout(SOON, here.posted(tree(1))).await.expect("what was posted before is found");
        for round in 1_u32..4 {
            let waiting = async {
                timeout(SOON, here.posted(tree(1))).await.expect("it is woken");
                timeout(SOON, here.appended(tree(1), u64::from(round))).await.expect("it is woken");
            };
            let writing = async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                there.post(tree(1), posted(10 + u128::from(round), "do")).await.expect("it is posted");
                there.append(tree(1), append(u64::from(round), &["b"])).await.expect("it is kept");
            };
            tokio::join!(waiting, writing);
        }
        assert_eq!(here.inbox(tree(1)).await.expect("it reads").len(), 4);
    });
}

/// Bells that nobody listened to may be taken down: what was posted meanwhile must be found all the same.
#[test]
fn a_post_to_one_of_many_trees_is_not_missed() {
    let place = Place::new();
    let journal = place.open();
    run(async {
        journal.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        journal.post(tree(1), posted(1, "do")).await.expect("it is posted");
        for number in 2..2_100 {
            journal.append(tree(number), append(0, &["a"])).await.expect("it is kept");
        }
        timeout(SOON, journal.posted(tree(1))).await.expect("it is found");
        timeout(SOON, journal.appended(tree(2), 0)).await.expect("it is found");
    });
}

#[test]
fn two_handles_at_once_never_both_append_at_one_version() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        place.open().append(tree(1), append(0, &["start"])).await.expect("it is kept");
        let mut writers = JoinSet::new();
        for who in 0..4 {
            let journal = Arc::new(place.open());
            writers.spawn(async move {
                let (mut version, mut kept, name) = (1, Vec::new(), who.to_string());
                while kept.len() < 25 {
                    match journal.append(tree(1), append(version, &[&name])).await {
                        Ok(new) => {
                            kept.push(new);
                            version = new;
                        }
                        Err(error) => {
                            assert_eq!(error.kind(), JournalErrorKind::Conflict);
                            version = bodies(&*journal, tree(1), 0).await.len() as u64;
                        }
                    }
                }
                (name, kept)
            });
        }
        let records = {
            let all = writers.join_all().await;
            let records = bodies(&place.open(), tree(1), 0).await;
            for (name, kept) in all {
                for version in kept {
                    assert_eq!(records[usize::try_from(version).expect("small") - 1], name);
                }
            }
            records
        };
        assert_eq!(records.len(), 101);
    });
}

#[test]
fn many_open_a_new_file_at_once() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for number in 1..=6 {
            let place = &place;
            scope.spawn(move || {
                let journal = place.open();
                run(async {
                    journal.append(tree(number), append(0, &["a"])).await.expect("it is kept");
                });
            });
        }
    });
    run(async {
        assert_eq!(place.open().list(None, 99).await.expect("it lists").len(), 6);
    });
}

/// Would fail if an acknowledged append were lost with its process, or half of one were kept.
#[test]
fn what_a_killed_process_was_told_is_kept_is_kept() {
    let place = Place::new();
    for round in 1..=3_u128 {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["--ignored", "--exact", "writes_until_it_is_killed", "--nocapture", "--test-threads=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        writeln!(stdin, "{round} {}", place.file().display()).expect("it listens");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut kept = 0;
        let mut acknowledge = |line: String| {
            if let Some(version) = line.strip_prefix("kept ") {
                kept = version.parse().expect("a number");
            }
            kept
        };
        while acknowledge(lines.next().expect("it goes on").expect("it reads"))
            < 300 * u64::try_from(round).expect("small")
        {}
        child.kill().expect("it is killed");
        child.wait().expect("it is gone");
        // What it said before it died counts too.
        for line in lines.map_while(Result::ok) {
            acknowledge(line);
        }
        run(async {
            let journal = place.open();
            let records = bodies(&journal, tree(round), 0).await;
            assert!(records.len() as u64 >= kept, "{} records, {kept} acknowledged", records.len());
            assert_eq!(records.len() % 3, 0, "half an append");
            for (number, record) in records.iter().enumerate() {
                assert_eq!(*record, format!("{} of {}", number % 3, number / 3));
            }
            let row = journal.list(Some(tree(round + 1)), 1).await.expect("it lists").remove(0);
            assert_eq!(row.version, records.len() as u64);
        });
    }
}

#[test]
#[ignore = "the child process of the test above: it reads from its standard input where to write"]
fn writes_until_it_is_killed() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("it reads");
    let Some((number, path)) = line.trim_end().split_once(' ') else { return };
    let journal = thermidor_storage::SqliteJournal::open(path, thermidor_storage::Options::default());
    let journal = journal.expect("it opens");
    let tree = tree(number.parse().expect("a number"));
    run(async {
        for step in 0_u64.. {
            let texts = [0, 1, 2].map(|part| format!("{part} of {step}"));
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            let version = journal.append(tree, append(3 * step, &texts)).await.expect("it is kept");
            let mut out = std::io::stdout().lock();
            writeln!(out, "kept {version}").expect("it is heard");
        }
    });
}

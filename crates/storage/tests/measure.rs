//! What an append, a load and a byte cost.
//!
//! Prints; `cargo test --release -p thermidor-storage --test measure -- --ignored --nocapture --test-threads=1`.

#![cfg(feature = "sqlite")]

mod bed;

use std::{
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use bed::{Place, append, posted, run, status, tree};
use thermidor_step_engine::{Append, Journal, TreeState};
use thermidor_storage::{Durability, Options, SqliteJournal};
use tokio::task::JoinSet;

#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
fn now() -> Instant {
    Instant::now()
}

fn say(words: &str) {
    writeln!(std::io::stderr(), "\n  {words}").expect("somebody listens");
}

fn open(place: &Place, durability: Durability) -> SqliteJournal {
    SqliteJournal::open(place.file(), Options { durability, ..Options::default() }).expect("it opens")
}

/// Two records of 600 bytes.
fn step(expected: u64) -> Append {
    let body = format!(r#"{{"Happened":{{"version":1,"event":"{}"}}}}"#, "x".repeat(560));
    append(expected, &[&body, &body])
}

/// One message of 400 characters, as the engine writes it: started, ended, happened.
fn message(expected: u64) -> Append {
    let text =
        format!(r#"{{"Happened":{{"version":1,"event":{{"Said":{{"text":"{}"}}}}}}}}"#, "word ".repeat(80));
    let started = r#"{"Started":{"key":"call_llm:12","attempt":1,"recovery":"Repeat","reserve":1200}}"#;
    let ended = r#"{"Ended":{"key":"call_llm:12","how":"Done","spent":{"steps":1,"tokens":420}}}"#;
    append(expected, &[started, ended, &text])
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
#[ignore = "a measurement"]
fn appends() {
    for durability in [Durability::Normal, Durability::Full] {
        let place = Place::new();
        let journal = open(&place, durability);
        run(async {
            let mut times = Vec::new();
            for number in 0..1_020 {
                let append = step(2 * number);
                let begin = now();
                journal.append(tree(1), append).await.expect("it is kept");
                times.push(begin.elapsed());
            }
            let (early, late) = (median(times[..20].to_vec()), median(times[980..].to_vec()));
            let worst = times.iter().max().expect("some");
            say(&format!(
                "append of 2 x 600 B, {durability:?}: at 10 {early:?}, at 1,000 {late:?}, slowest {worst:?}"
            ));
        });
    }
}

#[test]
#[ignore = "a measurement"]
fn groups() {
    const TREES: u128 = 50;
    for (durability, each) in [(Durability::Normal, 200_u64), (Durability::Full, 60)] {
        let place = Place::new();
        let journal = Arc::new(open(&place, durability));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let begin = now();
            let mut drivers = JoinSet::new();
            for number in 0..TREES {
                let journal = journal.clone();
                drivers.spawn(async move {
                    for step_number in 0..each {
                        journal.append(tree(number), step(2 * step_number)).await.expect("it is kept");
                    }
                });
            }
            drivers.join_all().await;
            let all = (u64::try_from(TREES).expect("few") * each) as f64;
            let rate = all / begin.elapsed().as_secs_f64();
            say(&format!("{TREES} trees at once, {durability:?}: {rate:.0} appends/s"));
        });
        drop(journal);
        let bytes = std::fs::metadata(place.file()).expect("a file").len();
        say(&format!(
            "  {} bytes per record of 600 B",
            bytes / (2 * u64::try_from(TREES).expect("few") * each)
        ));
    }
}

#[test]
#[ignore = "a measurement"]
fn thousand_steps() {
    let place = Place::new();
    let journal = place.open();
    run(async {
        for number in 0..1_000 {
            journal.append(tree(1), message(3 * number)).await.expect("it is kept");
        }
    });
    let open_bytes: usize = place.bytes().iter().map(Vec::len).sum();
    drop(journal);
    let bytes = std::fs::metadata(place.file()).expect("a file").len();
    let begin = now();
    let journal = place.open();
    say(&format!(
        "1,000 steps on disk: {bytes} bytes closed, {open_bytes} with the log while open; opened in {:?}",
        begin.elapsed()
    ));
    run(async {
        let mut times = Vec::new();
        for _ in 0..20 {
            let begin = now();
            assert_eq!(journal.load(tree(1), 0).await.expect("it loads").records.len(), 3_000);
            times.push(begin.elapsed());
        }
        say(&format!("load of 1,000 steps: first {:?}, median {:?}", times[0], median(times.clone())));
        let begin = now();
        journal.inbox(tree(1)).await.expect("it reads");
        say(&format!("an empty inbox: {:?}", begin.elapsed()));
    });
}

#[test]
#[ignore = "a measurement"]
fn wakes() {
    let place = Place::new();
    let (here, there) = (place.open(), place.open());
    run(async {
        there.append(tree(1), append(0, &["a"])).await.expect("it is kept");
        here.appended(tree(1), 0).await;
        for (name, journal) in [("this", &here), ("another", &there)] {
            let mut times = Vec::new();
            let base: u128 = if name == "this" { 0 } else { 1_000 };
            for number in 0..20 {
                let posting = async {
                    tokio::time::sleep(Duration::from_millis(37)).await;
                    journal.post(tree(1), posted(base + number, "do")).await.expect("it is posted");
                    now()
                };
                let waiting = async {
                    here.posted(tree(1)).await;
                    now()
                };
                let (sent, woken) = tokio::join!(posting, waiting);
                times.push(woken.saturating_duration_since(sent));
            }
            let slowest = times.iter().max().expect("some");
            say(&format!(
                "a post of {name} handle wakes after {:?}, slowest {slowest:?}",
                median(times.clone())
            ));
        }
        let mut parked = append(1, &["b"]);
        parked.status = status(TreeState::Suspended);
        there.append(tree(1), parked).await.expect("it is kept");
        let begin = now();
        here.appended(tree(1), 1).await;
        say(&format!("an append of another handle is seen after {:?}", begin.elapsed()));
    });
}

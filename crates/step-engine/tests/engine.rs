//! What the engine promises beyond surviving: limits as a tree, stop, suspension, fork, one writer, watching.

mod crew;

use std::{sync::Arc, time::Duration};

use crew::{WorkerCommand, job, kinds, start};
use thermidor_step_engine::{
    Driven, EndStatus, Engine, ErrorKind, Fact, Journal, JournalErrorKind, LimitKind, Limits, LiveEvent,
    MemoryJournal, NodeId, Posted, Record, Request, Start,
};
use thermidor_testing::{TokioClock, World};
use thermidor_types::{CommandId, Ids, Json, SequentialIds, Tokens, TreeId};
use tokio_util::sync::CancellationToken;

fn engine(journal: &Arc<MemoryJournal>) -> Arc<Engine> {
    let engine = Engine::new(journal.clone(), kinds(&World::new(1)), TokioClock::new()).audited();
    Arc::new(engine)
}

async fn opened(start: Start) -> (Arc<Engine>, TreeId) {
    let engine = engine(&Arc::new(MemoryJournal::new()));
    let tree = TreeId::from(SequentialIds::default().next());
    engine.start(tree, start).await.expect("it starts");
    (engine, tree)
}

async fn drive(engine: &Engine, tree: TreeId) -> Driven {
    engine.drive(tree, &CancellationToken::new()).await.expect("it is driven")
}

/// Drives a tree to its end, approving whatever is asked.
async fn finish(engine: &Engine, tree: TreeId) -> thermidor_step_engine::End {
    loop {
        match drive(engine, tree).await {
            Driven::Ended(end) => return end,
            Driven::Parked { waits, wake_at } => {
                for wait in waits {
                    let answer = match wait.question.kind.as_str() {
                        "lost" => WorkerCommand::Resolve { again: false },
                        _ => WorkerCommand::Answer(true),
                    };
                    let answer = Json::of(&answer).expect("a command");
                    engine.send(tree, wait.node, Request::Command(answer)).await.expect("it is posted");
                }
                if wake_at.is_some() {
                    tokio::time::sleep(Duration::from_secs(20)).await;
                }
            }
            Driven::Suspended => panic!("nobody asked for it"),
        }
    }
}

fn facts(records: &[Record]) -> Vec<&Fact> {
    records.iter().map(|record| &record.fact).collect()
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_the_root_counts_what_grandchildren_do() {
    let check = async |limits: Limits, expected: LimitKind| {
        let (engine, tree) = opened(start(limits)).await;
        let end = finish(&engine, tree).await;
        assert_eq!(end.status, EndStatus::Limit, "{expected}");
        let records = engine.records(tree, 0).await.expect("they read back");
        let limited: Vec<_> = records
            .iter()
            .filter_map(|record| match record.fact {
                Fact::Limited { limit } => Some((record.node, limit)),
                _ => None,
            })
            .collect();
        assert_eq!(limited, [(NodeId::ROOT, expected)]);
    };
    check(Limits { steps: Some(6), ..Limits::default() }, LimitKind::Steps).await;
    check(Limits { turns: Some(5), ..Limits::default() }, LimitKind::Turns).await;
    check(Limits { tokens: Some(Tokens(33)), ..Limits::default() }, LimitKind::Tokens).await;
    check(Limits { depth: Some(1), ..Limits::default() }, LimitKind::Depth).await;
    check(Limits { millis: Some(5), ..Limits::default() }, LimitKind::Time).await;
}

/// A limit is crossed by what would exceed it, not by what reaches it: limit N allows N.
#[tokio::test(start_paused = true)]
async fn limits_are_exact() {
    // Six workers study and act once each; two crews and six workers below the root.
    let exact = Limits { steps: Some(12), turns: Some(7), depth: Some(2), ..Limits::default() };
    let (engine, tree) = opened(start(exact)).await;
    assert_eq!(finish(&engine, tree).await.status, EndStatus::Done);
    let (engine, tree) = opened(start(Limits { steps: Some(11), ..exact })).await;
    assert_eq!(finish(&engine, tree).await.status, EndStatus::Limit);
    let (engine, tree) = opened(start(Limits { turns: Some(6), ..exact })).await;
    assert_eq!(finish(&engine, tree).await.status, EndStatus::Limit);
}

#[tokio::test(start_paused = true)]
async fn fan_out_waits_for_a_place() {
    let crew = (0..10).map(|number| job(&format!("w{number}"), &[])).collect();
    let spec = Json::of(&crew::Job { crew, ..job("root", &[]) }).expect("a job");
    let limits = Limits { fan_out: Some(3), ..Limits::default() };
    let (engine, tree) = opened(Start { spec, ..start(limits) }).await;
    assert_eq!(finish(&engine, tree).await.status, EndStatus::Done);
    let (mut open, mut most) = (0_u32, 0);
    for record in engine.records(tree, 0).await.expect("they read back") {
        match record.fact {
            Fact::Opened(opened) if opened.parent.is_some() => open += 1,
            Fact::Ended { .. } if record.node == NodeId::ROOT => open -= 1,
            _ => {}
        }
        most = most.max(open);
    }
    assert_eq!(most, 3);
}

/// Would fail if a driver let go of a tree for a moment, or held on to one for long.
#[tokio::test(start_paused = true)]
async fn a_near_moment_is_waited_for_and_a_far_one_is_not() {
    let check = async |pause: u64, waited: u64| {
        let worker = crew::Job { pause, ..job("w", &[]) };
        let spec = Json::of(&worker).expect("a job");
        let (engine, tree) = opened(Start { kind: "worker".into(), spec, ..start(Limits::default()) }).await;
        let began = tokio::time::Instant::now();
        let driven = drive(&engine, tree).await;
        match (&driven, waited) {
            (Driven::Ended(end), 1..) => assert_eq!(end.status, EndStatus::Done),
            (Driven::Parked { waits, wake_at: Some(_) }, 0) => assert_eq!(waits, &[]),
            _ => panic!("{pause} ms: {driven:?}"),
        }
        let took = u64::try_from(began.elapsed().as_millis()).expect("short");
        assert!((waited..waited + 100).contains(&took), "{pause} ms: {took} ms");
        finish(&engine, tree).await;
    };
    check(500, 500).await;
    check(4_900, 4_900).await;
    check(20_000, 0).await;

    // A stop does not sit it out.
    let spec = Json::of(&crew::Job { pause: 4_000, ..job("w", &[]) }).expect("a job");
    let (engine, tree) = opened(Start { kind: "worker".into(), spec, ..start(Limits::default()) }).await;
    let began = tokio::time::Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        engine.send(tree, NodeId::ROOT, Request::Stop).await.expect("it is posted");
    };
    let (driven, ()) = tokio::join!(drive(&engine, tree), stop);
    assert!(matches!(driven, Driven::Ended(end) if end.status == EndStatus::Stopped));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_suspended_tree_goes_on_where_it_was() {
    let (engine, tree) = opened(start(Limits::default())).await;
    let suspend = CancellationToken::new();
    let driving = engine.drive(tree, &suspend);
    let suspending = async {
        tokio::time::sleep(Duration::from_millis(3)).await;
        suspend.cancel();
    };
    let (driven, ()) = tokio::join!(driving, suspending);
    assert_eq!(driven.expect("it lets go"), Driven::Suspended);
    assert_eq!(finish(&engine, tree).await.status, EndStatus::Done);
}

#[tokio::test(start_paused = true)]
async fn a_fork_shares_the_past_and_goes_its_own_way() {
    let (engine, tree) = opened(start(Limits::default())).await;
    let end = finish(&engine, tree).await;
    let records = engine.records(tree, 0).await.expect("they read back");
    let (mut forked, mut refused) = (0, 0);
    for at in 1..records.len() as u64 {
        match engine.fork(tree, at).await {
            Ok(fork) => {
                assert_eq!(finish(&engine, fork).await, end, "a fork at {at} ends otherwise");
                let shared = engine.records(fork, 0).await.expect("they read back");
                let at = usize::try_from(at).expect("small");
                assert_eq!(shared[..at], records[..at]);
                assert!(matches!(shared[at].fact, Fact::Forked { .. }));
                forked += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Journal(JournalErrorKind::NotABorder));
                refused += 1;
            }
        }
    }
    assert!(forked > 8 && refused > 8, "{forked} forked, {refused} refused");
    assert_eq!(engine.records(tree, 0).await.expect("they read back"), records, "the source changed");
}

/// Invariant 3: the second driver fences the first.
#[tokio::test(start_paused = true)]
async fn two_drivers_never_both_append() {
    let journal = Arc::new(MemoryJournal::new());
    let (first, second) = (engine(&journal), engine(&journal));
    let tree = TreeId::from(SequentialIds::default().next());
    first.start(tree, start(Limits::default())).await.expect("it starts");
    let late = async {
        tokio::time::sleep(Duration::from_millis(4)).await;
        finish(&second, tree).await
    };
    let never = CancellationToken::new();
    let (fenced, end) = tokio::join!(first.drive(tree, &never), late);
    assert_eq!(fenced.expect_err("it is fenced").kind(), ErrorKind::Journal(JournalErrorKind::Conflict));
    assert_eq!(end.status, EndStatus::Done);
}

#[tokio::test(start_paused = true)]
async fn a_command_posted_twice_takes_effect_once_and_a_late_one_is_refused() {
    let (engine, tree) = opened(start(Limits::default())).await;
    let Driven::Parked { waits, .. } = drive(&engine, tree).await else { panic!("it asks") };
    let yes = Json::of(&WorkerCommand::Answer(true)).expect("a command");
    let id = CommandId::from(SequentialIds::default().next());
    for _ in 0..2 {
        let posted = Posted { id, node: waits[0].node, request: Request::Command(yes.clone()) };
        engine.post(tree, posted).await.expect("it is posted");
    }
    engine.send(tree, waits[0].node, Request::Command(yes)).await.expect("it is posted");
    finish(&engine, tree).await;
    let records = engine.records(tree, 0).await.expect("they read back");
    let handled: Vec<_> = facts(&records)
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::Handled { command, refused } => Some((*command == id, refused.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(handled, [(true, false), (false, true)]);
}

/// A watcher sees every record once and in order, whenever it comes and however slow it is.
#[tokio::test(start_paused = true)]
async fn watchers_miss_nothing() {
    let (engine, tree) = opened(start(Limits::default())).await;
    let mut watchers = tokio::task::JoinSet::new();
    for (after, delay) in [(0, 0), (0, 7), (3, 2), (0, 1)] {
        let engine = engine.clone();
        watchers.spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            let mut subscription = engine.subscribe(tree, after).await.expect("it watches");
            let (mut seen, mut texts) = (Vec::new(), Vec::new());
            loop {
                tokio::time::sleep(Duration::from_millis(delay)).await;
                match subscription.next().await.expect("it goes on") {
                    LiveEvent::Records(_, records) => seen.extend(records.iter().cloned()),
                    LiveEvent::Delta(delta) => texts.push(delta.text),
                }
                let ended = |record: &Record| matches!(record.fact, Fact::Released { why } if why == thermidor_step_engine::Release::Ended);
                if seen.last().is_some_and(ended) {
                    return (after, seen, texts);
                }
            }
        });
    }
    finish(&engine, tree).await;
    let records = engine.records(tree, 0).await.expect("they read back");
    while let Some(watched) = watchers.join_next().await {
        let (after, seen, texts) = watched.expect("it watched");
        assert_eq!(seen, records[usize::try_from(after).expect("small")..]);
        assert!(texts.iter().all(|text| text == "study" || text == "act"));
    }
}

/// Would fail if a child that cannot be made stranded the whole tree: nobody could ever drive it again.
#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_be_opened_has_failed_and_the_others_go_on() {
    let broken = crew::Job { name: String::new(), ..crew::Job::default() };
    let crew = vec![job("first", &[]), broken, job("last", &["first", ""])];
    let spec = Json::of(&crew::Job { crew, ..job("root", &[]) }).expect("a job");
    let (engine, tree) = opened(Start { spec, ..start(Limits::default()) }).await;
    let end = finish(&engine, tree).await;
    assert_eq!(end.status, EndStatus::Done);
    let results: std::collections::BTreeMap<String, thermidor_step_engine::End> =
        end.output.read().expect("results");
    let statuses: Vec<_> = results.iter().map(|(name, end)| (name.as_str(), end.status)).collect();
    assert_eq!(statuses, [("", EndStatus::Failed), ("first", EndStatus::Done), ("last", EndStatus::Done)]);
    let reason = results[""].reason.clone().expect("a reason");
    assert!(reason.contains("a job has a name"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn bad_configuration_is_refused_before_anything_is_stored() {
    let journal = Arc::new(MemoryJournal::new());
    let engine = engine(&journal);
    let tree = TreeId::from(SequentialIds::default().next());
    let bad = Start { spec: Json::default(), ..start(Limits::default()) };
    let error = engine.start(tree, bad).await.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let unknown = Start { kind: "unheard-of".into(), ..start(Limits::default()) };
    assert_eq!(engine.start(tree, unknown).await.expect_err("it is refused").kind(), ErrorKind::Newer);
    assert!(journal.list(None, 10).await.expect("it lists").is_empty());
}

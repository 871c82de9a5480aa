//! Groups over the real engine, with agents that speak without a model and time that is paused.

#![expect(clippy::needless_raw_string_hashes, reason = "as expect-test writes them")]

mod support;

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use support::{Hands, kinds, pipeline, start};
use thermidor_group_orchestration::{
    GroupCommand, GroupFact, GroupOutput, GroupSpec, MemberSpec, Supervisors, facts,
};
use thermidor_step_engine::{Driven, End, EndStatus, Engine, Fact, Limits, MemoryJournal, NodeId, Request};
use thermidor_testing::TokioClock;
use thermidor_types::{Ids, Json, SequentialIds, Timestamp, TreeId};
use tokio_util::sync::CancellationToken;

struct Stage {
    engine: Arc<Engine>,
    tree: TreeId,
    began: Timestamp,
    failing: Arc<std::sync::Mutex<BTreeSet<smol_str::SmolStr>>>,
}

/// `a` takes 10 ms, `b` 20, and so on.
fn millis(member: &str) -> u64 {
    member.bytes().next().map_or(0, |letter| u64::from(letter - b'a' + 1) * 10)
}

impl Stage {
    async fn new(spec: &GroupSpec, limits: Limits) -> Self {
        let failing = Arc::default();
        let clock = TokioClock::new();
        let kinds = kinds(&Hands::Script(millis, Arc::clone(&failing)), Supervisors::new());
        let began = clock.read();
        let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds, clock)
            .with_ids(SequentialIds::default())
            .audited();
        let tree = TreeId::from(SequentialIds::default().next());
        engine.start(tree, start(spec, limits)).await.expect("it starts");
        Self { engine: Arc::new(engine), tree, began, failing }
    }

    async fn drive(&self) -> End {
        match self.engine.drive(self.tree, &CancellationToken::new()).await.expect("it drives") {
            Driven::Ended(end) => end,
            other => panic!("it did not end: {other:?}"),
        }
    }

    async fn send(&self, request: Request) {
        self.engine.send(self.tree, NodeId::ROOT, request).await.expect("it is posted");
    }

    async fn resume(&self) {
        self.send(Request::Command(Json::of(&GroupCommand::Resume).expect("serialises"))).await;
    }

    /// What the outside sees, with the milliseconds since the start; nested groups are indented.
    async fn timeline(&self) -> String {
        let mut shown = String::new();
        let mut groups = BTreeSet::new();
        for record in self.engine.records(self.tree, 0).await.expect("it reads") {
            let at = record.at.since(self.began).as_millis();
            match record.fact {
                Fact::Opened(opened) if opened.kind == "group" => {
                    groups.insert(record.node);
                }
                Fact::Happened { version, event } if groups.contains(&record.node) => {
                    let indent = if record.node == NodeId::ROOT { "" } else { "  " };
                    for fact in facts(&event, version).expect("a group's event") {
                        if let Some(fact) = show(&fact) {
                            writeln!(shown, "{at:<3} {indent}{fact}").expect("writes");
                        }
                    }
                }
                _ => {}
            }
        }
        shown
    }
}

fn show(fact: &GroupFact) -> Option<String> {
    Some(match fact {
        GroupFact::Began { finished, .. } if finished.is_empty() => return None,
        GroupFact::Began { finished, .. } => {
            let kept: Vec<_> =
                finished.iter().map(|output| format!("{} as {}", output.stage, output.turn)).collect();
            format!("keeps {}", kept.join(", "))
        }
        GroupFact::Decided { .. } => return None,
        GroupFact::DecisionUnfit { failure } => format!("unfit: {failure}"),
        GroupFact::TurnBegan { turn, stage, .. } => format!("{turn} {stage} …"),
        GroupFact::TurnEnded { turn, text, status: EndStatus::Done, spent, .. } => {
            format!("{turn} {text} {}", spent.tokens)
        }
        GroupFact::TurnEnded { turn, stage, status, node, .. } => {
            format!("{turn} {stage} {status:?}{}", if node.is_some() { "" } else { ", never opened" })
        }
        GroupFact::Stopping => "stopping".into(),
        GroupFact::LimitReached => "limit reached".into(),
        GroupFact::Resumed => "resumed".into(),
        GroupFact::Ended { status, reason, answer, .. } => {
            format!(
                "{status:?} ({})",
                answer.map_or_else(
                    || reason.as_deref().unwrap_or_default().to_owned(),
                    |turn| turn.to_string()
                )
            )
        }
    })
}

fn output(end: &End) -> GroupOutput {
    end.output.read().expect("a group's output")
}

const DIAMOND: &str = "a\nc: a\nd: a\nb: c\ne: b d *";

async fn check(spec: &GroupSpec, expected: Expect) {
    let stage = Stage::new(spec, Limits::default()).await;
    stage.drive().await;
    expected.assert_eq(&stage.timeline().await);
}

/// Would fail if stages of a relay overlapped or did not see what they need.
#[tokio::test(start_paused = true)]
async fn relay() {
    check(
        &pipeline("a\nb: a\nc@a: b *"),
        expect![[r#"
            0   1 a …
            10  1 a() 11
            10  2 b …
            30  2 b(a) 11
            30  3 c …
            40  3 a(a b) 11
            40  Done (3)
        "#]],
    )
    .await;
}

/// Would fail if `c` and `d` did not overlap, or `b` waited for `d`: there is no barrier between waves.
#[tokio::test(start_paused = true)]
async fn parallel_stages_overlap() {
    check(
        &pipeline(DIAMOND),
        expect![[r#"
            0   1 a …
            10  1 a() 11
            10  2 c …
            10  3 d …
            40  2 c(a) 11
            40  4 b …
            50  3 d(a) 11
            60  4 b(c) 11
            60  5 e …
            110 5 e(a c d b) 11
            110 Done (5)
        "#]],
    )
    .await;
}

fn nested() -> GroupSpec {
    let mut spec = pipeline("a\nb@crew: a\nd: a\ne: b d");
    spec.members.insert("crew".into(), MemberSpec::from(pipeline("a\nc: a\nb: a\nf: c b")));
    spec
}

/// Would fail if a nested group did not run as a member, did not see what it was given, or its answer were lost.
#[tokio::test(start_paused = true)]
async fn a_group_is_a_member() {
    check(
        &nested(),
        expect![[r#"
            0   1 a …
            10  1 a() 11
            10  2 b …
            10  3 d …
            10    1 a …
            20    1 a(a) 11
            20    2 c …
            20    3 b …
            40    3 b(a a) 11
            50  3 d(a) 11
            50    2 c(a a) 11
            50    4 f …
            110   4 f(a c b) 11
            110   Done (4)
            110 2 f(a c b) 44
            110 4 e …
            160 4 e(b d) 11
            160 Done (4)
        "#]],
    )
    .await;
}

/// Would fail if a stop took long, lost what was finished, or the run could not go on from there, in nested
/// groups too, without repeating anything.
#[tokio::test(start_paused = true)]
async fn stop_and_resume() {
    let stage = Stage::new(&nested(), Limits::default()).await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(45)).await;
        stage.send(Request::Stop).await;
    };
    let (end, ()) = tokio::join!(stage.drive(), stop);
    assert_eq!(end.status, EndStatus::Stopped);
    assert_eq!(output(&end).outputs.len(), 1);
    stage.resume().await;
    assert_eq!(stage.drive().await.status, EndStatus::Done);
    expect![[r#"
        0   1 a …
        10  1 a() 11
        10  2 b …
        10  3 d …
        10    1 a …
        20    1 a(a) 11
        20    2 c …
        20    3 b …
        40    3 b(a a) 11
        45  stopping
        45    stopping
        45  3 d Stopped
        45    2 c Stopped
        45    Stopped (it was asked to stop)
        45  2 b Stopped
        45  Stopped (it was asked to stop)
        45  resumed
        45  4 b …
        45  5 d …
        45    keeps a as 1, b as 2
        45    3 c …
        75    3 c(a a) 11
        75    4 f …
        85  5 d(a) 11
        135   4 f(a c b) 11
        135   Done (4)
        135 4 f(a c b) 22
        135 6 e …
        185 6 e(b d) 11
        185 Done (6)
    "#]]
    .assert_eq(&stage.timeline().await);
}

/// Would fail if a failed member cut others short, the reason were lost, or resuming repeated what was done.
#[tokio::test(start_paused = true)]
async fn failure_and_resume() {
    let stage = Stage::new(&pipeline(DIAMOND), Limits::default()).await;
    stage.failing.lock().expect("no panic").insert("c".into());
    let end = stage.drive().await;
    assert_eq!(
        (end.status, end.reason.as_deref()),
        (EndStatus::Failed, Some("C (c): server error: c is down"))
    );
    assert_eq!(output(&end).failure.map(|failure| failure.message), Some("c is down".into()));
    assert_eq!((&*output(&end).text, output(&end).outputs.len()), ("", 2));
    stage.failing.lock().expect("no panic").clear();
    stage.resume().await;
    let end = stage.drive().await;
    assert_eq!((end.status, &*output(&end).text), (EndStatus::Done, "e(a c d b)"));
    expect![[r#"
        0   1 a …
        10  1 a() 11
        10  2 c …
        10  3 d …
        40  2 c Failed
        50  3 d(a) 11
        50  Failed (C (c): server error: c is down)
        50  resumed
        50  4 c …
        80  4 c(a) 11
        80  5 b …
        100 5 b(c) 11
        100 6 e …
        150 6 e(a c d b) 11
        150 Done (6)
    "#]]
    .assert_eq(&stage.timeline().await);
}

/// Would fail if a crossed limit left the run hanging, lost what was finished, or could not be raised.
#[tokio::test(start_paused = true)]
async fn limit_and_resume() {
    let stage = Stage::new(&pipeline(DIAMOND), Limits { turns: Some(3), ..Limits::default() }).await;
    let end = stage.drive().await;
    assert_eq!(end.status, EndStatus::Limit);
    stage.send(Request::Limits(Box::default())).await;
    stage.resume().await;
    assert_eq!(stage.drive().await.status, EndStatus::Done);
    expect![[r#"
        0   1 a …
        10  1 a() 11
        10  2 c …
        10  3 d …
        40  2 c(a) 11
        40  4 b …
        40  limit reached
        40  3 d Stopped
        40  4 b Limit, never opened
        40  Limit (it reached a limit)
        40  resumed
        40  5 d …
        40  6 b …
        60  6 b(c) 11
        80  5 d(a) 11
        80  7 e …
        130 7 e(a c d b) 11
        130 Done (7)
    "#]]
    .assert_eq(&stage.timeline().await);
}

/// Would fail if a broken configuration were found only when its turn comes, or not named.
#[tokio::test]
async fn broken_groups_are_refused_at_the_start() {
    let refused = async |spec: &GroupSpec| {
        let kinds = kinds(
            &Hands::Script(millis, Arc::default()),
            Supervisors::new().with("host", |_| {
                Ok(|_: &thermidor_group_orchestration::GroupView<'_>| {
                    thermidor_group_orchestration::Decision::wait()
                })
            }),
        );
        let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds, TokioClock::new());
        let tree = TreeId::from(SequentialIds::default().next());
        let error = engine.start(tree, start(spec, Limits::default())).await.expect_err("it is broken");
        error.to_string().split_once("configuration is unusable: ").expect("a reason").1.to_owned()
    };
    let nested = |inner: &str| {
        let mut spec = pipeline("a");
        spec.members.insert("crew".into(), MemberSpec::from(pipeline(inner)));
        spec
    };
    let mut shown = String::new();
    let mut lost = pipeline("a");
    lost.members.clear();
    let mut custom = pipeline("a");
    custom.supervisor = thermidor_group_orchestration::SupervisorSpec::Custom {
        name: "hosts".into(),
        config: Json::default(),
    };
    let mut stranger = pipeline("a\nb: a");
    stranger.members.shift_remove("b");
    for spec in [pipeline("a: b\nb: a"), nested("x: y"), nested(""), lost, custom, stranger] {
        writeln!(shown, "{}", refused(&spec).await).expect("writes");
    }
    expect![[r#"
        group "team": nodes need each other in a circle: a → b → a
        group "team": group "team": "x" needs "y", which is no node
        group "team": group "team": nobody is a member
        group "team": nobody is a member
        group "team": this program has no supervisor "hosts"; it has host
        group "team": stage "b" is for "b", who is no member
    "#]]
    .assert_eq(&shown);
}

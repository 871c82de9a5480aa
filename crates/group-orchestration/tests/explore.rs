//! Five stages, two of them parallel, one a nested group: every crash, random timing, stops, suspensions.

mod support;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use support::{Hands, kinds, pipeline, start};
use thermidor_group_orchestration::{
    Call, Decide, Decision, GroupFact, GroupSpec, GroupView, MemberSpec, SupervisorSpec, Supervisors, facts,
};
use thermidor_step_engine::{Driven, End, EndStatus, Engine, Fact, Limits, MemoryJournal, NodeId, Record};
use thermidor_testing::{Crash, CrashingJournal, Explored, Script, TokioClock, World, explore};
use thermidor_types::{Ids, Json, SequentialIds, TreeId};
use tokio_util::sync::CancellationToken;

fn script(spec: &GroupSpec, supervisors: Supervisors, seeds: u64) -> Script {
    Script {
        kinds: Box::new(move |world: &World| kinds(&Hands::World(world.clone()), supervisors.clone())),
        start: start(spec, Limits::default()),
        answer: Box::new(|_| None),
        seeds,
    }
}

fn check_cover(explored: &Explored) {
    assert!(explored.appends > 8, "{explored:?}");
    assert_eq!(explored.crashes, 2 * explored.appends);
    let ends: BTreeMap<_, _> = explored.ends.iter().map(|(name, times)| (*name, *times > 0)).collect();
    assert_eq!(ends, [("done", true), ("stopped", true)].into(), "{explored:?}");
}

/// Would fail if a crash at any append, a stop or a suspension lost or repeated anything, or the end
/// depended on the timing.
#[test]
fn a_group_survives_everything() {
    let mut spec =
        pipeline("analysis@boss\nplan@crew: analysis\nfront: plan\nback: plan\nsummary@boss: front back *");
    spec.members.insert(
        "crew".into(),
        MemberSpec::from(pipeline("draft\ncheck: draft\nrisk: draft\nmerge: check risk")),
    );
    check_cover(&explore(&script(&spec, Supervisors::new(), 120)));
}

/// Makes a supervisor that answers differently each time it is asked the same.
fn fickle() -> Supervisors {
    let asked = Arc::new(AtomicUsize::new(0));
    Supervisors::new().with("fickle", move |_| {
        let asked = asked.clone();
        Ok(move |group: &GroupView<'_>| -> Decision {
            let asked = asked.fetch_add(1, Ordering::Relaxed);
            let members = ["ann", "bob", "cid"];
            let one = || Call::new(members[asked % 3]);
            match group.round() {
                0 => vec![Decide::from(one()), Decide::CallParallel(vec![one(), one()])].into(),
                1 | 2 => Decide::from(one()).into(),
                round => Decide::finish(format!("asked {round} times")).into(),
            }
        })
    })
}

/// Would fail if a supervisor's second thoughts after a crash could change what it had decided before.
#[tokio::test(start_paused = true)]
async fn a_decision_stands_through_every_crash() {
    let mut spec = pipeline("ann\nbob\ncid");
    spec.supervisor = SupervisorSpec::Custom { name: "fickle".into(), config: Json::default() };
    let (supervisors, mut at, mut crashed) = (fickle(), 0, true);
    while crashed {
        for crash in [Crash::before(at), Crash::after(at)] {
            let journal = Arc::new(CrashingJournal::new(MemoryJournal::new()));
            let engine = || {
                let kinds = kinds(&Hands::World(World::new(at)), supervisors.clone());
                Engine::new(journal.clone(), kinds, TokioClock::new())
                    .with_ids(SequentialIds::default())
                    .audited()
            };
            let tree = TreeId::from(SequentialIds::default().next());
            engine().start(tree, start(&spec, Limits::default())).await.expect("it starts");
            journal.arm(Some(crash));
            if engine().drive(tree, &CancellationToken::new()).await.is_err() {
                crashed = journal.crashed();
                assert!(crashed, "something else went wrong");
                journal.arm(None);
                let driven = engine().drive(tree, &CancellationToken::new()).await.expect("it goes on");
                assert!(matches!(driven, Driven::Ended(End { status: EndStatus::Done, .. })), "{driven:?}");
            } else {
                crashed = false;
            }
            check_decisions(&engine().records(tree, 0).await.expect("it reads"));
        }
        at += 1;
    }
    assert!(at > 5, "only {at} crash points");
}

fn check_decisions(records: &[Record]) {
    let (mut rounds, mut began, mut ended) = (Vec::new(), Vec::new(), BTreeMap::new());
    for record in records.iter().filter(|record| record.node == NodeId::ROOT) {
        let Fact::Happened { version, event } = &record.fact else { continue };
        for fact in facts(event, *version).expect("a group's event") {
            match fact {
                GroupFact::Decided { round, .. } => rounds.push(round),
                GroupFact::TurnBegan { turn, member, .. } => began.push((turn, member)),
                GroupFact::TurnEnded { turn, member, text, status, .. } => {
                    let own = status != EndStatus::Done || text.starts_with(member.as_str());
                    assert!(own, "{member} did not say {text:?}");
                    assert!(ended.insert(turn, member).is_none(), "turn {turn} ended twice");
                }
                _ => {}
            }
        }
    }
    let last = u32::try_from(rounds.len()).expect("small");
    assert_eq!(rounds, (1..=last).collect::<Vec<_>>(), "a question was answered twice");
    assert_eq!(began, ended.into_iter().collect::<Vec<_>>(), "somebody else spoke than was called");
}

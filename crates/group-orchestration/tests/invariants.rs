//! What holds whatever the graph, whoever ends first, whatever goes wrong.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use support::{group, room::Room};
use thermidor_group_orchestration::{
    ContextView, GraphSpec, GroupEvent, GroupMachine, GroupSpec, StageOutput, StageSpec, SupervisorSpec,
    Supervisors,
};
use thermidor_step_engine::{EndStatus, Machine};

/// Graphs of up to six stages, in an order of declaration that is not that of the needs.
fn specs() -> impl Strategy<Value = GroupSpec> {
    let rows = prop::collection::vec(
        (prop::collection::vec(prop::bool::weighted(0.35), 6), 0..3usize, any::<bool>()),
        1..=6,
    );
    rows.prop_flat_map(|rows| (Just(rows.clone()), Just((0..rows.len()).collect::<Vec<_>>()).prop_shuffle()))
        .prop_map(|(rows, places)| {
            let mut stages = vec![None; rows.len()];
            for (node, (needs, member, all)) in rows.iter().enumerate() {
                let needs = (0..node).filter(|need| needs[*need]).map(|need| format!("s{}", places[need]));
                let mut stage =
                    StageSpec::new(format!("s{}", places[node]), format!("m{member}"), "").after(needs);
                stage.view = if *all { ContextView::All } else { ContextView::Needs };
                stages[places[node]] = Some(stage);
            }
            let stages = stages.into_iter().flatten().collect();
            group("team", &["m0", "m1", "m2"], SupervisorSpec::Graph(GraphSpec { stages }))
        })
}

/// What happens next: the first number picks a turn in flight, the second what becomes of it.
type Moves = Vec<(usize, u8)>;

fn act(room: &mut Room, (pick, what): (usize, u8)) {
    let turn = |room: &Room| room.open.get(pick % room.open.len().max(1)).map(|open| open.0);
    match (turn(room), what) {
        (_, 0) => room.input("stop"),
        (_, 1) => room.input("limit"),
        (_, 2) | (None, _) => room.input("resume"),
        (Some(turn), 3) => room.input(&format!("failed {turn}")),
        (Some(turn), 4) => room.input(&format!("limit {turn}")),
        (Some(turn), _) if room.open.iter().any(|open| open.0 == turn && open.1) && pick % 2 == 0 => {
            room.input(&format!("stopped {turn}"));
        }
        (Some(turn), _) => room.input(&format!("done {turn}")),
    }
}

/// Lets everything go well to the end, undoing ends that came before.
fn finish(room: &mut Room) {
    for _ in 0..100 {
        let ended = GroupMachine::end(&room.state).map(|end| end.status);
        match (room.open.first().copied(), ended) {
            (Some((turn, stopping)), _) => {
                room.input(&format!("{} {turn}", if stopping { "stopped" } else { "done" }));
            }
            (None, Some(EndStatus::Done)) => return,
            (None, Some(_)) => room.input("resume"),
            (None, None) => panic!("it hangs:\n{}", room.log),
        }
    }
    panic!("it does not end:\n{}", room.log);
}

fn outputs(room: &Room) -> Vec<(String, String)> {
    let (status, output) = room.output();
    assert_eq!(status, EndStatus::Done, "{}", room.log);
    let last = output.outputs.last();
    assert_eq!(last.map(|last: &StageOutput| &last.text), Some(&output.text));
    output.outputs.iter().map(|output| (output.stage.to_string(), output.text.to_string())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Invariant 1 (in [`Room::give`], after every input), and: each stage is finished exactly once and never
    /// taken again, nothing begins before what it needs, numbers are never used twice, the result is that of
    /// an undisturbed run in the order of the stages, and nothing hangs.
    #[test]
    fn whatever_happens(spec in specs(), moves in prop::collection::vec((any::<usize>(), 0..12u8), 0..30)) {
        let SupervisorSpec::Graph(graph) = spec.supervisor.clone() else { panic!("a graph") };
        let mut calm = Room::new(spec.clone(), &Supervisors::new());
        calm.input("start");
        finish(&mut calm);
        let mut room = Room::new(spec, &Supervisors::new());
        room.input("start");
        let moves: Moves = moves;
        for what in moves {
            act(&mut room, what);
        }
        finish(&mut room);
        let declared: Vec<_> = graph.stages.iter().map(|stage| (stage.id.to_string(), format!("{}'s words", stage.id))).collect();
        prop_assert_eq!(outputs(&room), declared.clone());
        prop_assert_eq!(outputs(&calm), declared);
        let (mut done, mut numbers) = (BTreeMap::new(), 1..);
        for event in &room.events {
            match event {
                GroupEvent::TurnBegan { turn, call, sees, .. } => {
                    prop_assert_eq!(Some(*turn), numbers.next());
                    prop_assert!(!done.contains_key(&call.stage), "{} is done again", call.stage);
                    let stage = graph.stages.iter().find(|stage| stage.id == call.stage).expect("a stage");
                    let needs: BTreeSet<_> = stage.needs.iter().map(|need| done.get(need).copied()).collect();
                    prop_assert!(!needs.contains(&None), "{} began too early", call.stage);
                    let seen: BTreeSet<_> = sees.iter().copied().map(Some).collect();
                    if stage.view == ContextView::All {
                        prop_assert!(needs.is_subset(&seen));
                    } else {
                        prop_assert_eq!(needs, seen);
                    }
                }
                GroupEvent::AgentSpoke { turn, stage, status: EndStatus::Done, .. } => {
                    prop_assert!(done.insert(stage.clone(), *turn).is_none(), "{} was done twice", stage);
                }
                _ => {}
            }
        }
    }
}

//! The decision table: each result that reaches a supervisor, each instruction that comes of it.

mod support;

use support::group;
use support::room::Room;
use thermidor_group_orchestration::{
    Call, Decide, Decision, GroupSpec, GroupView, MemberSpec, News, SupervisorSpec, Supervisors,
};
use thermidor_types::{Json, MemberId};

fn supervised(
    decide: impl Fn(&GroupView<'_>) -> Decision + Clone + Send + Sync + 'static,
) -> (GroupSpec, Supervisors) {
    let supervisors = Supervisors::new().with("rules", move |_| Ok(decide.clone()));
    let rules = SupervisorSpec::Custom { name: "rules".into(), config: Json::default() };
    let mut spec = group("team", &["ann", "bob"], rules);
    let crew = group("crew", &["cid"], spec.supervisor.clone());
    spec.members.insert("crew".into(), MemberSpec::from(crew));
    (spec, supervisors)
}

/// After `before`, the supervisor is asked with news `result` and answers `decision`: that comes to `log`.
fn check(before: &'static str, result: &News, decision: &Decision, log: &[&str]) {
    let (asked, answer) = (std::sync::Arc::new(std::sync::Mutex::new(Vec::new())), decision.clone());
    let heard = asked.clone();
    let (spec, supervisors) = supervised(move |group: &GroupView<'_>| {
        heard.lock().expect("no panic").push(group.news().to_vec());
        let first: Decision = match before {
            "start" => return answer.clone(),
            "start, done 1" => Decide::from(Call::new("ann")).into(),
            _ => Decide::CallParallel(vec![Call::new("ann"), Call::new("bob")]).into(),
        };
        if group.round() == 0 { first } else { answer.clone() }
    });
    let mut room = Room::new(spec, &supervisors);
    room.inputs(before.split(", "));
    let asked = asked.lock().expect("no panic");
    assert_eq!(asked.last().map(Vec::as_slice), Some(std::slice::from_ref(result)));
    assert_eq!(asked.len(), if before == "start" { 1 } else { 2 }, "asked too often");
    let end: Vec<_> = room.log.lines().skip(room.log.lines().count() - log.len()).collect();
    assert_eq!(end, log, "in\n{}", room.log);
}

fn call(member: &str) -> Call {
    Call::new(member)
}

/// Each row would fail if that result, or that decision, came to something else.
#[test]
fn decision_table() {
    let init = News::Init;
    check(
        "start",
        &init,
        &Decide::from(call("ann").saying("speak")).into(),
        &["decided (1): call_agent 1 []", "turn 1: turn_1 by ann sees []", "  opens turn:1: agent"],
    );
    check(
        "start",
        &init,
        &Decide::from(call("crew")).into(),
        &["decided (1): call_agent 1 []", "turn 1: turn_1 by crew sees []", "  opens turn:1: group"],
    );
    check(
        "start",
        &init,
        &Decide::CallParallel(vec![call("bob"), call("ann")]).into(),
        &[
            "decided (1): parallel_call_agents [1, 2] []",
            "turn 1: turn_1 by bob sees []",
            "turn 2: turn_2 by ann sees []",
            "  opens turn:1: agent",
            "  opens turn:2: agent",
        ],
    );
    check(
        "start",
        &init,
        &Decide::finish("nothing to do").into(),
        &["decided (1): finish \"nothing to do\" []", "ended Done []: nothing to do"],
    );
    check(
        "start, done 1",
        &News::AgentSpoke { turn: 1 },
        &Decide::from(call("bob").stage("reply", "Reply")).into(),
        &[
            "> done 1",
            "spoke 1: Done",
            "decided (2): call_agent 2 []",
            "turn 2: reply by bob sees [1]",
            "  opens turn:2: agent",
        ],
    );
    check(
        "start, done 1",
        &News::AgentSpoke { turn: 1 },
        &Decide::finish("said enough").into(),
        &["spoke 1: Done", "decided (2): finish \"said enough\" []", "ended Done [1]: said enough"],
    );
    check(
        "start, done 2, done 1",
        &News::AgentsBroadcasted { turns: vec![1, 2] },
        &Decide::finish("all heard").into(),
        &[
            "> done 2",
            "spoke 2: Done",
            "> done 1",
            "spoke 1: Done",
            "decided (2): finish \"all heard\" []",
            "ended Done [1, 2]: all heard",
        ],
    );
}

/// Would fail if a decision that cannot be carried out were carried out in part, or left the run hanging.
#[test]
fn decisions_that_cannot_be() {
    let init = News::Init;
    check(
        "start",
        &init,
        &vec![Decide::from(call("ann")), Decide::from(call("eve"))].into(),
        &[
            "decided (1): nothing []",
            "unfit: configuration error: stage \"turn_2\" is for \"eve\", who is no member",
            "ended Failed []: configuration error: stage \"turn_2\" is for \"eve\", who is no member",
        ],
    );
    check(
        "start",
        &init,
        &Decide::from(call("crew").saying("hurry")).into(),
        &[
            "decided (1): nothing []",
            "unfit: configuration error: stage \"turn_1\" is for the group \"crew\", which has instructions and contracts of its own",
            "ended Failed []: configuration error: stage \"turn_1\" is for the group \"crew\", which has instructions and contracts of its own",
        ],
    );
    for empty in [Decision::wait(), Decide::CallParallel(Vec::new()).into()] {
        check(
            "start",
            &init,
            &empty,
            &[
                "decided (1): nothing []",
                "unfit: internal error: the supervisor neither called anybody nor finished",
                "ended Failed []: internal error: the supervisor neither called anybody nor finished",
            ],
        );
    }
}

/// Would fail if a finish let somebody go on speaking, began a turn beside it, or waited for an answer.
#[test]
fn finish_wins_and_stops_who_speaks() {
    let (spec, supervisors) = supervised(|group: &GroupView<'_>| match group.round() {
        0 => vec![Decide::from(call("ann")), Decide::from(call("bob"))].into(),
        _ => vec![Decide::from(call("bob")), Decide::finish("ann is right")].into(),
    });
    let mut room = Room::new(spec, &supervisors);
    room.inputs(["start", "done 1", "stop", "stopped 2"]);
    let end = room.log.split("> done 1\n").nth(1).expect("the end");
    assert_eq!(
        end,
        "spoke 1: Done\ndecided (2): finish \"ann is right\" []\n  stops turn:2\n> stop\n> stopped 2\nspoke 2: Stopped\n\
         ended Done [1]: ann is right\n"
    );
    let (_, output) = room.output();
    assert_eq!((output.turn, output.member, &*output.text), (Some(1), Some("ann".into()), "turn_1's words"));
}

/// Would fail if a broadcast with a failed member were reported complete, or a resume did not complete it.
#[test]
fn a_broadcast_goes_on_after_a_resume() {
    let (spec, supervisors) = supervised(|group: &GroupView<'_>| match group.news() {
        [News::AgentsBroadcasted { turns }] => Decide::finish(format!("{turns:?} have spoken")).into(),
        [News::Init] if group.round() == 0 => Decide::CallParallel(vec![call("ann"), call("bob")]).into(),
        [News::Init] => Decision::wait(),
        other => panic!("asked about {other:?}"),
    });
    let mut room = Room::new(spec, &supervisors);
    room.inputs(["start", "done 1", "failed 2", "resume", "done 3"]);
    assert!(room.log.ends_with("ended Done [1, 3]: [1, 3] have spoken\n"), "{}", room.log);
}

/// Would fail if notes were lost, or a supervisor could not know who takes part and who speaks.
#[test]
fn a_supervisor_knows_the_group() {
    let (spec, supervisors) = supervised(|group: &GroupView<'_>| {
        let roster: Vec<(&MemberId, _)> = group.roster().collect();
        let names: Vec<_> = roster.iter().map(|(id, name)| format!("{id}={name}")).collect();
        assert_eq!(names, ["ann=ANN", "bob=BOB", "crew=CREW"]);
        assert_eq!(group.request(), &"a trainer");
        let count = group.notes().get("count").map_or(0, |count| count.read::<u32>().expect("a number"));
        assert_eq!(count, group.round());
        assert_eq!(group.turns().len(), usize::try_from(count).expect("small"));
        assert_eq!(group.speaking().count(), 0);
        let mut decision = match roster.get(group.turns().len()) {
            Some((member, _)) => Decision::from(Decide::from(call(member.as_str()).stage("talk", "Talk"))),
            None => Decide::finish("round over").into(),
        };
        assert_eq!(group.stage("talk").map(|turn| turn.number), (count > 0).then_some(count));
        decision.notes.insert("count".into(), Json::of(&(count + 1)).expect("serialises"));
        decision
    });
    let mut room = Room::new(spec, &supervisors);
    room.inputs(["start", "done 1", "done 2", "done 3"]);
    let (_, output) = room.output();
    assert_eq!(output.outputs.len(), 3);
    assert_eq!(output.finish_reason, Some("round over".into()));
    assert_eq!(output.usage.total().0, 33);
}

use std::collections::BTreeSet;

use expect_test::expect_file;
use thermidor_step_engine::{How, Input, Machine, Signal};
use thermidor_types::{Failure, FailureKind, Json, Usage};

use super::sim::{Sim, broken, message, model};
use crate::{
    Agent, AgentCommand, AgentMachine, AgentState, AgentView, ChatAgent, Cut, Decision, FinishReason,
    Instruction, Phase, Reply, Resolution, event::AgentEvent, facts,
};

/// One event of every variant, as it is stored.
fn every_event() -> Vec<Json> {
    let unfit = r#""contract":{"sections":["Goal"]}"#;
    let mut events = Vec::new();
    let mut take = |sim: Sim| events.extend(sim.events);

    let mut sim = Sim::new(unfit).start("plan");
    sim.settle("model:1", broken("half"));
    sim.fire("wait:1");
    sim.say("model:2", "look [add {\"b\":1.10}] [send 2]");
    sim.answer("tool:1", "2");
    sim.settle("tool:2", How::Unknown);
    let resolution = Resolution::Retry;
    let retry = AgentCommand::ResolveUnknown { call: "c2.1".into(), resolution };
    sim.input(Input::Command(retry)).expect("it was asked");
    sim.answer("tool:3", "sent");
    sim.say("model:3", "no heading");
    sim.say("model:4", "## Goal");
    take(sim);

    let mut sim = Sim::new("").start("计划");
    sim.say("model:1", "[send 2]");
    sim.settle("tool:1", How::Unknown);
    sim.signal(Signal::Stop);
    take(sim);

    let mut sim = Sim::new("").start("plan");
    sim.signal(Signal::Limit);
    sim.settle("model:1", model(Reply::CutOff(message(""), Cut::Cancelled)));
    take(sim);

    let mut sim = Sim::new("").start("plan");
    sim.settle(
        "model:1",
        model(Reply::Failed(Failure::new(FailureKind::Quota, "no money"), Usage::default())),
    );
    take(sim);

    let gives_up = |agent: &AgentView<'_>| match agent.phase() {
        Phase::Answered(_) => {
            let failure = Failure::new(FailureKind::Unfit, "not what was asked");
            Decision::of(Instruction::Finish { reason: FinishReason::Failed(failure) })
        }
        _ => ChatAgent.decide(agent),
    };
    let mut sim = Sim::new("").deciding(gives_up).start("plan");
    sim.say("model:1", "hm");
    take(sim);
    before_waits(&mut events);
    events
}

/// Breaks were stored without a moment at first: the first one stands so where it always stood, and at the end as
/// it is stored today.
fn before_waits(events: &mut Vec<Json>) {
    let place = events.iter().position(|event| event.as_str().starts_with(r#"{"BrokeOff""#));
    let place = place.expect("an answer broke off");
    let today: AgentEvent = events[place].read().expect("it reads");
    let AgentEvent::BrokeOff { spoke, counts, wait_until: Some(_) } = today else {
        panic!("a break that waits, not {today:?}")
    };
    let earlier = Json::of(&AgentEvent::BrokeOff { spoke, counts, wait_until: None });
    let today = std::mem::replace(&mut events[place], earlier.expect("it has a form"));
    events.push(today);
}

/// Would fail if the stored form of an event changed without a new version: old journals could not be read.
#[test]
fn the_stored_form_is_a_promise() {
    let events = every_event();
    let lines: String = events.iter().flat_map(|event| [event.as_str(), "\n"]).collect();
    expect_file!["../../testdata/agent-events-1.jsonl"].assert_eq(&lines);
    let names: BTreeSet<&str> = events.iter().filter_map(|event| event.as_str().split('"').nth(1)).collect();
    assert_eq!(names.len(), 18, "not every event is in it: {names:?}");
    for line in include_str!("../../testdata/agent-events-1.jsonl").lines() {
        let event = Json::parse(line).expect("JSON");
        let read: AgentEvent = event.read().expect("it reads");
        assert_eq!(Json::of(&read).expect("it has a form").as_str(), line);
        assert!(facts(&event, 1).is_ok());
        AgentMachine::apply(&mut AgentState::default(), &read);
    }
    let newer = facts(&events[0], 2).expect_err("unknown").to_string();
    assert_eq!(newer, "agent events of version 2 are unknown to this program");
}

use proptest::prelude::*;
use thermidor_step_engine::{EndStatus, How, Input, Machine, Signal};
use thermidor_types::{Ending, Failure, FailureKind, Message, ToolOutcome, ToolResult, Usage};

use super::sim::{Sim, broken, message, model, unpaired};
use crate::{AgentCommand, AgentMachine, AgentOutcome, Cut, Reply, Resolution, ToolReply, state::Stage};

/// One thing that happens to a run. The number picks among what is in flight.
#[derive(Clone, Debug)]
enum Step {
    Say(usize, &'static str),
    Break(usize, &'static str),
    Cancel(usize, &'static str),
    Fail(usize),
    Answer(usize),
    CutTool(usize, ToolOutcome),
    Lose(usize, u8),
    Signal(Signal),
    Resolve(Resolution),
    Fire,
    Snapshot,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = prop::sample::select(vec![
        "done",
        "[add 1]",
        "a [send 1] [add 2] b",
        "[send 1] [send 2] [nothing 3]",
        "cut [send 1]~length",
        "",
        "long~length",
    ]);
    let outcome =
        prop::sample::select(vec![ToolOutcome::Interrupted, ToolOutcome::Unknown, ToolOutcome::Success]);
    let step = prop_oneof![
        6 => (any::<usize>(), words.clone()).prop_map(|(n, text)| Step::Say(n, text)),
        1 => (any::<usize>(), words.clone()).prop_map(|(n, text)| Step::Break(n, text)),
        1 => (any::<usize>(), words).prop_map(|(n, text)| Step::Cancel(n, text)),
        1 => any::<usize>().prop_map(Step::Fail),
        6 => any::<usize>().prop_map(Step::Answer),
        2 => (any::<usize>(), outcome).prop_map(|(n, outcome)| Step::CutTool(n, outcome)),
        2 => (any::<usize>(), 0u8..3).prop_map(|(n, how)| Step::Lose(n, how)),
        1 => prop::bool::ANY.prop_map(|stop| Step::Signal(if stop { Signal::Stop } else { Signal::Limit })),
        1 => Just(Step::Resolve(Resolution::Retry)),
        1 => Just(Step::Resolve(Resolution::Done("it happened".into()))),
        4 => Just(Step::Fire),
        1 => Just(Step::Snapshot),
    ];
    prop::collection::vec(step, 0..40)
}

/// Settles one of the pieces of work called `name`, if there is any.
fn settle(sim: &mut Sim, name: &str, n: usize, how: How<AgentOutcome>) {
    let keys: Vec<String> =
        sim.in_flight.iter().filter(|key| key.name() == name).map(ToString::to_string).collect();
    if !keys.is_empty() {
        sim.settle(&keys[n % keys.len()], how);
    }
}

fn take(sim: &mut Sim, step: Step) {
    match step {
        Step::Say(n, text) => settle(sim, "model", n, model(Reply::Said(message(text)))),
        Step::Break(n, text) => settle(sim, "model", n, broken(text)),
        Step::Cancel(n, text) => {
            settle(sim, "model", n, model(Reply::CutOff(message(text), Cut::Cancelled)));
        }
        Step::Fail(n) => {
            let failure = Failure::new(FailureKind::Quota, "");
            settle(sim, "model", n, model(Reply::Failed(failure, Usage::default())));
        }
        Step::Answer(n) => {
            let answer = ToolReply::Answered(ToolResult::text("2"));
            settle(sim, "tool", n, How::Done(AgentOutcome::Tool(answer)));
        }
        Step::CutTool(n, outcome) => {
            let cut = ToolReply::CutOff(ToolResult::failed(outcome, "cut"));
            settle(sim, "tool", n, How::Done(AgentOutcome::Tool(cut)));
        }
        Step::Lose(n, how) => {
            let how = match how {
                0 => How::Abandoned,
                1 => How::Unknown,
                _ => How::TimedOut,
            };
            settle(sim, if n % 2 == 0 { "tool" } else { "model" }, n, how);
        }
        Step::Signal(signal) => sim.signal(signal),
        Step::Resolve(resolution) => {
            let lost = sim.state.open.iter().find(|open| matches!(open.stage, Stage::Lost(_)));
            let call = lost.map_or_else(|| "c1.0".into(), |open| open.call.id.clone());
            // A refusal is fine too: nothing was asked, or the run is stopping.
            let _ = sim.input(Input::Command(AgentCommand::ResolveUnknown { call, resolution }));
        }
        Step::Fire => {
            if let Some(key) = sim.timers.keys().next().cloned() {
                sim.fire(&key.to_string());
            }
        }
        Step::Snapshot => {
            let image = serde_json::to_string(&sim.state).expect("a state has a JSON form");
            sim.state = serde_json::from_str(&image).expect("a state reads back");
        }
    }
}

proptest! {
    /// Invariants 1 (folding gives the live state), 2 (no key twice: the simulation refuses it), 4 (one result for
    /// every call), 7 (no finished answer from a broken stream), 10 (bounded), on any path whatever; and that
    /// a stop always comes to its end.
    #[test]
    fn invariants_1_2_4_7_10(steps in steps(), contract in prop::bool::ANY) {
        let spec = if contract { r#""max_calls":4,"contract":{"sections":["Goal"]}"# } else { r#""max_calls":4"# };
        let mut sim = Sim::new(spec).start("plan");
        for step in steps {
            if sim.state.end.is_some() {
                break;
            }
            take(&mut sim, step);
            prop_assert!(sim.refolded() == sim.state, "{}", sim.log);
            let (open, double) = unpaired(&sim.state);
            prop_assert_eq!(open.len(), sim.state.open.len(), "{}", sim.log);
            prop_assert!(double.is_empty(), "{:?}\n{}", double, sim.log);
            prop_assert!(sim.state.turns <= 4, "{}", sim.log);
            let waits = !(sim.in_flight.is_empty() && sim.asked.is_empty() && sim.timers.is_empty());
            // Nothing is done while it waits, and it never waits longer than it may.
            prop_assert!(sim.timers.is_empty() || (sim.in_flight.is_empty() && sim.timers.len() == 1), "{}", sim.log);
            prop_assert!(sim.timers.values().all(|moment| moment.since(sim.now).as_millis() <= 2_000), "{}", sim.log);
            prop_assert!(waits || sim.state.end.is_some(), "it is stuck:\n{}", sim.log);
            for message in sim.state.history.iter() {
                if let Message::Assistant(answer) = &**message && answer.ending != Ending::Finished {
                    prop_assert!(answer.exchanges().all(|exchange| exchange.result.is_some()), "{}", sim.log);
                }
            }
        }
        if sim.state.end.is_none() {
            sim.signal(Signal::Stop);
            while let Some(key) = sim.in_flight.first().cloned() {
                sim.settle(&key.to_string(), How::Abandoned);
            }
        }
        let end = AgentMachine::end(&sim.state);
        prop_assert!(end.is_some(), "it did not stop:\n{}", sim.log);
        prop_assert_eq!(unpaired(&sim.state), (vec![], vec![]), "{}", sim.log);
        if end.is_some_and(|end| end.status == EndStatus::Done) {
            let cut = sim.state.said.as_ref().is_some_and(|said| said.ending == Ending::CutOff);
            prop_assert!(!cut, "a broken answer counts as done:\n{}", sim.log);
        }
    }
}

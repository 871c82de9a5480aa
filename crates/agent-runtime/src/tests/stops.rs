use expect_test::expect;
use thermidor_step_engine::{EndStatus, How, Signal};
use thermidor_types::{ToolOutcome, ToolResult};

use super::sim::{Sim, broken, check, message, model};
use crate::{AgentCommand, AgentOutcome, Cut, Reply, Resolution, ToolReply};

#[test]
fn a_stop_while_the_model_speaks_keeps_what_it_said() {
    let sim = check(
        "",
        |sim| {
            sim.signal(Signal::Stop);
            sim.signal(Signal::Limit);
            sim.settle("model:1", model(Reply::CutOff(message("half a [send 1]"), Cut::Cancelled)));
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            StopAsked
            - model:1
            - model:1
            Spoke 1: "half a" [c1.0 send(1) Interrupted] CutOff
            Ended Stopped: it was stopped
        "#]],
    );
    assert_eq!(&*sim.output().1.text, "half a");
    check(
        "",
        |sim| {
            sim.signal(Signal::Stop);
            sim.settle("model:1", How::Abandoned);
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            StopAsked
            - model:1
            TurnStopped 1
            Ended Stopped: it was stopped
        "#]],
    );
}

#[test]
fn a_stop_while_tools_run_settles_every_call() {
    check(
        "",
        |sim| {
            sim.say("model:1", "[add 1] [send 2] [send 3] [add 4]");
            sim.answer("tool:1", "one");
            sim.settle("tool:3", How::Unknown);
            sim.signal(Signal::Stop);
            sim.settle("tool:4", How::Done(AgentOutcome::Tool(ToolReply::NotBegun)));
            sim.settle("tool:2", How::Unknown);
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open] [c1.2 send(3) open] [c1.3 add(4) open]
            CallsBegan c1.0 c1.1 c1.2 c1.3
            + tool:1 add(1)
            + tool:2 send(2), once
            + tool:3 send(3), once
            + tool:4 add(4)
            CallSettled c1.0: one
            CallLost c1.2
            ? unknown:3 unknown_outcome
            StopAsked
            - tool:2
            - tool:4
            CallSettled c1.3: Interrupted
            - tool:2
            CallSettled c1.1: Unknown
            CallsSettled c1.2: Unknown
            Ended Stopped: it was stopped
        "#]],
    );
}

/// Would fail if somebody who stops a run had to sit out its wait.
#[test]
fn a_wait_ends_with_the_run() {
    check(
        "",
        |sim| {
            sim.settle("model:1", broken("half"));
            sim.signal(Signal::Stop);
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            BrokeOff 1: "half" CutOff
            @ wait:1 in 500 ms
            StopAsked
            Ended Stopped: it was stopped
        "#]],
    );
    check(
        r#""contract":{"sections":["Goal"]}"#,
        |sim| {
            sim.say("model:1", "first");
            sim.settle("model:2", broken("half"));
            sim.fire("wait:2");
            sim.settle("model:3", broken("hal"));
            sim.signal(Signal::Limit);
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "first"
            Unfit: The heading "Goal" is missing.
            RepairAsked: 3 lines
            TurnBegan 2 (turn 2, Nothing)
            + model:2 Nothing
            BrokeOff 2: "half" CutOff
            @ wait:2 in 500 ms
            TurnBegan 3 (turn 2, Nothing)
            + model:3 Nothing
            BrokeOff 3: "hal" CutOff
            @ wait:3 in 2000 ms
            LimitReached
            RepairJudged First: The heading "Goal" is missing.
            Ended Limit: a limit was reached
        "#]],
    );
}

#[test]
fn a_limit_ends_with_the_last_words() {
    let sim = check(
        "",
        |sim| {
            sim.say("model:1", "so far [add 1]");
            sim.answer("tool:1", "2");
            sim.signal(Signal::Limit);
            sim.settle("model:2", How::Abandoned);
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "so far" [c1.0 add(1) open]
            CallsBegan c1.0
            + tool:1 add(1)
            CallSettled c1.0: 2
            TurnBegan 2 (turn 2, Tools)
            + model:2 Tools
            LimitReached
            - model:2
            TurnStopped 2
            Ended Limit: a limit was reached
        "#]],
    );
    let (status, output) = sim.output();
    assert_eq!((status, &*output.text), (EndStatus::Limit, "so far"));
}

#[test]
fn an_unknown_outcome_is_a_persons_to_resolve() {
    let resolve = |sim: &mut Sim, call: &str, resolution| {
        let command = AgentCommand::ResolveUnknown { call: call.into(), resolution };
        sim.input(thermidor_step_engine::Input::Command(command)).map_err(|refusal| refusal.to_string())
    };
    check(
        "",
        |sim| {
            sim.say("model:1", "[send 1] [send 2] [add 3]");
            sim.settle("tool:1", How::Unknown);
            sim.settle("tool:2", How::TimedOut);
            sim.settle("tool:3", How::Unknown);
            assert_eq!(resolve(sim, "c1.0", Resolution::Done("sent".into())), Ok(()));
            assert_eq!(resolve(sim, "c1.0", Resolution::Retry), Err("there is no open call c1.0".into()));
            assert_eq!(resolve(sim, "c1.1", Resolution::Retry), Ok(()));
            assert_eq!(
                resolve(sim, "c1.1", Resolution::Retry),
                Err("nobody asks about the call c1.1".into())
            );
            sim.answer("tool:4", "sent too");
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: [c1.0 send(1) open] [c1.1 send(2) open] [c1.2 add(3) open]
            CallsBegan c1.0 c1.1 c1.2
            + tool:1 send(1), once
            + tool:2 send(2), once
            + tool:3 add(3)
            CallLost c1.0
            ? unknown:1 unknown_outcome
            CallLost c1.1
            ? unknown:1 unknown_outcome
            ? unknown:2 unknown_outcome
            CallSettled c1.2: Error
            ? unknown:1 unknown_outcome
            ? unknown:2 unknown_outcome
            CallSettled c1.0: sent
            ? unknown:2 unknown_outcome
            CallRetried c1.1
            + tool:4 send(2), once
            CallSettled c1.1: sent too
            TurnBegan 2 (turn 2, Tools)
            + model:2 Tools
        "#]],
    );
}

#[test]
fn a_suspended_tool_runs_again_only_if_that_is_harmless() {
    let cut =
        |outcome| How::Done(AgentOutcome::Tool(ToolReply::CutOff(ToolResult::failed(outcome, "stopped"))));
    check(
        "",
        |sim| {
            sim.say("model:1", "[add 1] [send 2] [send 3] [send 4]");
            sim.settle("tool:1", cut(ToolOutcome::Interrupted));
            sim.settle("tool:2", cut(ToolOutcome::Unknown));
            sim.settle("tool:3", cut(ToolOutcome::Interrupted));
            sim.settle("tool:4", How::Done(AgentOutcome::Tool(ToolReply::NotBegun)));
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open] [c1.2 send(3) open] [c1.3 send(4) open]
            CallsBegan c1.0 c1.1 c1.2 c1.3
            + tool:1 add(1)
            + tool:2 send(2), once
            + tool:3 send(3), once
            + tool:4 send(4), once
            CallRetried c1.0
            + tool:5 add(1)
            CallLost c1.1
            ? unknown:2 unknown_outcome
            CallSettled c1.2: Interrupted
            ? unknown:2 unknown_outcome
            CallRetried c1.3
            ? unknown:2 unknown_outcome
            + tool:6 send(4), once
        "#]],
    );
}

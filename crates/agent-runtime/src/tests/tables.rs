use expect_test::{Expect, expect};
use thermidor_step_engine::{EndStatus, How, Signal};
use thermidor_types::{
    AssistantMessage, Exchange, Failure, FailureKind, Message, Part, Tokens, ToolCall, ToolOutcome,
    ToolResult, Usage,
};

use super::sim::{Sim, broken, message, model, show_message, unpaired};
use crate::{
    Agent, AgentCommand, AgentOutcome, AgentView, Assignment, ChatAgent, Cut, Decision, FinishReason,
    Instruction, Offer, Phase, Reply, Resolution, ToolReply,
};

/// What `steps` do to an agent that was asked to "plan": the log of events, of work started (`+`), no longer
/// wanted (`-`), asked of a person (`?`).
fn check(spec: &str, steps: impl FnOnce(&mut Sim), expected: Expect) -> Sim {
    let mut sim = Sim::new(spec).start("plan");
    steps(&mut sim);
    expected.assert_eq(&sim.log);
    assert_eq!(sim.refolded(), sim.state, "folding the stored events gives another state");
    if sim.state.end.is_some() {
        assert_eq!(unpaired(&sim.state), (vec![], vec![]));
    }
    sim
}

#[test]
fn an_answer_in_words_ends_the_run() {
    let sim = check(
        "",
        |sim| sim.say("model:1", "a plan"),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: "a plan"
        Ended Done
    "#]],
    );
    let (status, output) = sim.output();
    assert_eq!((status, &*output.text, output.usage.total()), (EndStatus::Done, "a plan", Tokens(12)));
}

#[test]
fn calls_run_beside_each_other_and_their_order_stays() {
    let sim = check(
        "",
        |sim| {
            sim.say("model:1", "first [add 1] then [send 2] [add 3]");
            sim.answer("tool:3", "three");
            sim.answer("tool:1", "one");
            sim.answer("tool:2", "two");
            sim.say("model:2", "done");
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "first" [c1.0 add(1) open] "then" [c1.1 send(2) open] [c1.2 add(3) open]
            CallsBegan c1.0 c1.1 c1.2
            + tool:1 add(1)
            + tool:2 send(2), once
            + tool:3 add(3)
            CallSettled c1.2: three
            CallSettled c1.0: one
            CallSettled c1.1: two
            TurnBegan 2 (turn 2, Tools)
            + model:2 Tools
            Spoke 2: "done"
            Ended Done
        "#]],
    );
    let Some(Message::Assistant(answer)) = sim.state.history.get(0).map(AsRef::as_ref) else {
        panic!("an answer")
    };
    expect![[r#""first" [c1.0 add(1) Success] "then" [c1.1 send(2) Success] [c1.2 add(3) Success]"#]]
        .assert_eq(&show_message(answer));
}

#[test]
fn the_last_call_allowed_gets_no_tools() {
    check(
        r#""max_calls":2"#,
        |sim| {
            sim.say("model:1", "[add 1]");
            sim.answer("tool:1", "2");
            sim.say("model:2", "it is 2");
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: [c1.0 add(1) open]
            CallsBegan c1.0
            + tool:1 add(1)
            CallSettled c1.0: 2
            TurnBegan 2 (turn 2, Nothing) because the last of 2 model calls is made without tools
            + model:2 Nothing
            Spoke 2: "it is 2"
            Ended Done: the last of 2 model calls was made without tools
        "#]],
    );
    // A model that calls nevertheless is refused, and what it said counts.
    check(
        r#""max_calls":1"#,
        |sim| sim.say("model:1", "hm [add 1]"),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Nothing) because the last of 1 model calls is made without tools
        + model:1 Nothing
        Spoke 1: "hm" [c1.0 add(1) Refused]
        Ended Done: the last of 1 model calls was made without tools
    "#]],
    );
}

#[test]
fn calls_of_an_incomplete_answer_never_run() {
    check(
        "",
        |sim| {
            sim.say("model:1", "long [send 1]~length");
            sim.say("model:2", "short~length");
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "long" [c1.0 send(1) Interrupted] Length
            TurnBegan 2 (turn 2, Tools)
            + model:2 Tools
            Spoke 2: "short" Length
            Ended Done: the answer reached the length allowed
        "#]],
    );
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    check(
        "",
        |sim| {
            sim.settle("model:1", broken("half an [send 1]"));
            sim.settle("model:2", broken("half"));
            sim.say("model:3", "[add 1]");
            sim.answer("tool:1", "2");
            sim.settle("model:4", model(Reply::CutOff(message("sus"), Cut::Cancelled)));
            sim.settle("model:5", broken("one"));
            sim.say("model:6", " ");
            sim.settle("model:7", broken("three"));
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            BrokeOff 1: "half an" [c1.0 send(1) Interrupted] CutOff
            TurnBegan 2 (turn 1, Tools)
            + model:2 Tools
            BrokeOff 2: "half" CutOff
            TurnBegan 3 (turn 1, Tools)
            + model:3 Tools
            Spoke 3: [c3.0 add(1) open]
            CallsBegan c3.0
            + tool:1 add(1)
            CallSettled c3.0: 2
            TurnBegan 4 (turn 2, Tools)
            + model:4 Tools
            BrokeOff 4: "sus" CutOff (free)
            TurnBegan 5 (turn 2, Tools)
            + model:5 Tools
            BrokeOff 5: "one" CutOff
            TurnBegan 6 (turn 2, Tools)
            + model:6 Tools
            BrokeOff 6:  CutOff
            TurnBegan 7 (turn 2, Tools)
            + model:7 Tools
            BrokeOff 7: "three" CutOff
            ModelFailed 7: network error: reset
            Ended Failed: network error: reset
        "#]],
    );
}

#[test]
fn a_failed_model_call_ends_the_run() {
    let failure = Failure::new(FailureKind::ContextTooLong, "9,000 of 8,000 tokens");
    let usage = Usage { input: Tokens(5), ..Usage::default() };
    let sim = check(
        "",
        |sim| {
            sim.say("model:1", "let me see [add 1]");
            sim.answer("tool:1", "2");
            sim.settle("model:2", model(Reply::Failed(failure.clone(), usage)));
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "let me see" [c1.0 add(1) open]
            CallsBegan c1.0
            + tool:1 add(1)
            CallSettled c1.0: 2
            TurnBegan 2 (turn 2, Tools)
            + model:2 Tools
            ModelFailed 2: prompt longer than the context window: 9,000 of 8,000 tokens
            Ended Failed: prompt longer than the context window: 9,000 of 8,000 tokens
        "#]],
    );
    let (status, output) = sim.output();
    assert_eq!((status, &*output.text, output.failure), (EndStatus::Failed, "let me see", Some(failure)));
    assert_eq!(output.usage.total(), Tokens(17));
    check(
        "",
        |sim| sim.settle("model:1", How::Unknown),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        ModelFailed 1: internal error: the model call crashed too often
        Ended Failed: internal error: the model call crashed too often
    "#]],
    );
}

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

#[test]
fn an_answer_out_of_form_is_repaired_once() {
    let spec = r#""contract":{"words":4,"sections":["Goal","Risks"]}"#;
    let sim = check(
        spec,
        |sim| {
            sim.say("model:1", "one two three four five six");
            sim.say("model:2", "## Goal\n## Risks\none two three four");
        },
        expect![[r###"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "one two three four five six"
            Unfit: It has 6 words; 4 were asked for. The heading "Goal" is missing. The heading "Risks" is missing.
            RepairAsked: 5 lines
            TurnBegan 2 (turn 2, Nothing)
            + model:2 Nothing
            Spoke 2: "## Goal\n## Risks\none two three four"
            RepairJudged Second: It has 6 words; 4 were asked for.
            Ended Done
        "###]],
    );
    assert_eq!(sim.output().1.unfit, ["It has 6 words; 4 were asked for."]);
    assert!(sim.output().1.text.starts_with("## Goal"));

    let worse = check(
        spec,
        |sim| {
            sim.say("model:1", "## Goal\none");
            sim.say("model:2", "sorry [add 1]");
        },
        expect![[r###"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "## Goal\none"
            Unfit: The heading "Risks" is missing.
            RepairAsked: 3 lines
            TurnBegan 2 (turn 2, Nothing)
            + model:2 Nothing
            Spoke 2: "sorry" [c2.0 add(1) Refused]
            RepairJudged First: The heading "Risks" is missing.
            Ended Done
        "###]],
    );
    assert_eq!(&*worse.output().1.text, "## Goal\none");

    check(
        spec,
        |sim| {
            sim.say("model:1", "## Goal\none");
            sim.settle(
                "model:2",
                model(Reply::Failed(Failure::new(FailureKind::Server, "500"), Usage::default())),
            );
        },
        expect![[r###"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "## Goal\none"
            Unfit: The heading "Risks" is missing.
            RepairAsked: 3 lines
            TurnBegan 2 (turn 2, Nothing)
            + model:2 Nothing
            ModelFailed 2: server error: 500
            RepairJudged First: The heading "Risks" is missing.
            Ended Done: the answer could not be repaired: server error: 500
        "###]],
    );
    let stopped = check(
        spec,
        |sim| {
            sim.say("model:1", "## Goal\none");
            sim.signal(Signal::Stop);
            sim.settle("model:2", model(Reply::CutOff(message("## Goal"), Cut::Cancelled)));
        },
        expect![[r###"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            Spoke 1: "## Goal\none"
            Unfit: The heading "Risks" is missing.
            RepairAsked: 3 lines
            TurnBegan 2 (turn 2, Nothing)
            + model:2 Nothing
            StopAsked
            - model:2
            Spoke 2: "## Goal" CutOff
            RepairJudged First: The heading "Risks" is missing.
            Ended Stopped: it was stopped
        "###]],
    );
    assert_eq!(&*stopped.output().1.text, "## Goal\none");
    let last = check(
        r#""contract":{"words":1},"max_calls":1"#,
        |sim| sim.say("model:1", "one two"),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Nothing) because the last of 1 model calls is made without tools
        + model:1 Nothing
        Spoke 1: "one two"
        Unfit: It has 2 words; 1 were asked for.
        Ended Done: the last of 1 model calls was made without tools
    "#]],
    );
    assert_eq!(last.output().1.unfit.len(), 1);
}

/// Would fail if ids of an earlier run came back: a prompt would hold one id twice, which providers refuse.
#[test]
fn ids_of_an_earlier_conversation_are_not_used_again() {
    let earlier = Exchange::open(ToolCall::new("c7.0", "add", "1")).answered(ToolResult::text("1"));
    let earlier = AssistantMessage { parts: vec![Part::Exchange(earlier)], ..AssistantMessage::default() };
    let history = vec![Message::user("before"), Message::Assistant(earlier)];
    let mut sim =
        Sim::new("").assigned(Assignment { request: "and now?".into(), history, ..Assignment::default() });
    sim.say("model:1", "[add 2]");
    expect![[r#"
        Assigned "and now?"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c8.0 add(2) open]
        CallsBegan c8.0
        + tool:1 add(2)
    "#]]
    .assert_eq(&sim.log);
    // The request is what the user says now.
    assert_eq!(sim.state.history.get(2).map(|message| message.text()).as_deref(), Some("and now?"));
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    let mut sim = Sim::new("").start("plan");
    let again = AgentCommand::Start(Box::default());
    let refusal = sim.input(thermidor_step_engine::Input::Command(again)).expect_err("it has begun");
    assert_eq!(refusal.to_string(), "the agent has its assignment already");
}

#[test]
fn an_agent_of_ones_own_is_held_to_the_rules() {
    let first_only = |agent: &AgentView<'_>| match (agent.phase(), agent.open_calls().next()) {
        (Phase::Answered(_), Some(first)) => Decision::of(Instruction::CallTool { call: first.id.clone() }),
        _ => ChatAgent.decide(agent),
    };
    let run = |sim: Sim, expected: Expect| {
        let mut sim = sim.start("plan");
        sim.say("model:1", "[add 1] [send 2]");
        expected.assert_eq(&sim.log);
        if sim.state.end.is_some() {
            assert_eq!(unpaired(&sim.state), (vec![], vec![]));
        }
    };
    run(
        Sim::new("").deciding(first_only),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open]
        CallsSettled c1.1: Refused
        CallsBegan c1.0
        + tool:1 add(1)
    "#]],
    );
    let passes_over = |agent: &AgentView<'_>| match agent.phase() {
        Phase::Answered(_) => {
            Decision::of(Instruction::Finish { reason: FinishReason::Completed }).because("enough")
        }
        _ => ChatAgent.decide(agent),
    };
    run(
        Sim::new("").deciding(passes_over),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open]
        CallsSettled c1.0: Refused c1.1: Refused
        Ended Done: enough
    "#]],
    );
    let empty = |agent: &AgentView<'_>| match agent.phase() {
        Phase::Answered(_) => Decision { instructions: vec![], reason: None },
        _ => ChatAgent.decide(agent),
    };
    run(
        Sim::new("").deciding(empty),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open]
        CallsSettled c1.0: Refused c1.1: Refused
        GaveUp: internal error: a defect of the agent ada: it decided nothing
        Ended Failed: internal error: a defect of the agent ada: it decided nothing
    "#]],
    );
    let invents = |agent: &AgentView<'_>| match agent.phase() {
        Phase::Answered(_) => Decision::of(Instruction::CallTool { call: "c9.9".into() }),
        _ => ChatAgent.decide(agent),
    };
    run(
        Sim::new("").deciding(invents),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open]
        CallsSettled c1.0: Refused c1.1: Refused
        GaveUp: internal error: a defect of the agent ada: it called c9.9, which is not open
        Ended Failed: internal error: a defect of the agent ada: it called c9.9, which is not open
    "#]],
    );
    let both = |agent: &AgentView<'_>| match agent.phase() {
        Phase::Answered(_) => Decision {
            instructions: vec![
                Instruction::CallLlm { tools: Offer::Tools },
                Instruction::Finish { reason: FinishReason::Completed },
            ],
            reason: None,
        },
        _ => ChatAgent.decide(agent),
    };
    run(
        Sim::new("").deciding(both),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Tools)
        + model:1 Tools
        Spoke 1: [c1.0 add(1) open] [c1.1 send(2) open]
        CallsSettled c1.0: Refused c1.1: Refused
        GaveUp: internal error: a defect of the agent ada: it decided things that exclude each other
        Ended Failed: internal error: a defect of the agent ada: it decided things that exclude each other
    "#]],
    );
    let endless = |_: &AgentView<'_>| Decision::of(Instruction::CallLlm { tools: Offer::Tools });
    run(
        Sim::new(r#""max_calls":1"#).deciding(endless),
        expect![[r#"
        Assigned "plan"
        TurnBegan 1 (turn 1, Nothing)
        + model:1 Nothing
        Spoke 1: [c1.0 add(1) Refused] [c1.1 send(2) Refused]
        Ended Limit: all 1 model calls are used up
    "#]],
    );
}

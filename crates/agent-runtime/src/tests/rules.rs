use expect_test::{Expect, expect};
use thermidor_step_engine::Signal;
use thermidor_types::{Failure, FailureKind, Usage};

use super::sim::{Sim, check, message, model, unpaired};
use crate::{Agent, AgentView, ChatAgent, Cut, Decision, FinishReason, Instruction, Offer, Phase, Reply};

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

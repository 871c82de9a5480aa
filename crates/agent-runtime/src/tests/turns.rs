use expect_test::expect;
use thermidor_step_engine::{EndStatus, How};
use thermidor_types::{
    AssistantMessage, Exchange, Failure, FailureKind, Message, Part, Tokens, ToolCall, ToolResult, Usage,
};

use super::sim::{Sim, broken, check, message, model, show_message};
use crate::{AgentCommand, Assignment, Cut, Reply};

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
            sim.fire("wait:1");
            sim.settle("model:2", broken("half"));
            sim.fire("wait:2");
            sim.say("model:3", "[add 1]");
            sim.answer("tool:1", "2");
            sim.settle("model:4", model(Reply::CutOff(message("sus"), Cut::Cancelled)));
            sim.settle("model:5", broken("one"));
            sim.fire("wait:5");
            sim.say("model:6", " ");
            sim.fire("wait:6");
            sim.settle("model:7", broken("three"));
        },
        expect![[r#"
            Assigned "plan"
            TurnBegan 1 (turn 1, Tools)
            + model:1 Tools
            BrokeOff 1: "half an" [c1.0 send(1) Interrupted] CutOff
            @ wait:1 in 500 ms
            TurnBegan 2 (turn 1, Tools)
            + model:2 Tools
            BrokeOff 2: "half" CutOff
            @ wait:2 in 2000 ms
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
            @ wait:5 in 500 ms
            TurnBegan 6 (turn 2, Tools)
            + model:6 Tools
            BrokeOff 6:  CutOff
            @ wait:6 in 2000 ms
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

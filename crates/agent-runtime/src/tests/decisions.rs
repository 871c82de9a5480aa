use thermidor_step_engine::Machine;
use thermidor_types::{Failure, FailureKind, Usage};

use super::sim::{message, spec};
use crate::{
    Agent, AgentMachine, AgentSpec, AgentState, AgentView, Assignment, CallReport, ChatAgent,
    event::{AgentEvent, ModelFailed, Spoke, TurnBegan},
    state::Due,
};

/// The decision of [`ChatAgent`] after `calls` model calls of at most `most`, when `due`.
fn check(tools: bool, most: u32, calls: u32, due: &str, expected: &str) {
    let spec = AgentSpec {
        tools: if tools { vec!["add".into()] } else { vec![] },
        ..spec(&format!(r#""max_calls":{most}"#))
    };
    let mut state = AgentState::default();
    let mut happen = |event: &AgentEvent| AgentMachine::apply(&mut state, event);
    happen(&AgentEvent::Assigned(Box::default()));
    for call in 1..=calls {
        let (turn, tools, reason) = (call, crate::Offer::Tools, None);
        happen(&AgentEvent::TurnBegan(TurnBegan { call, turn, tools, reason }));
    }
    match due {
        "begun" => {}
        "failed" => happen(&AgentEvent::ModelFailed(Box::new(ModelFailed {
            call: calls,
            failure: Failure::new(FailureKind::Quota, "no money"),
            usage: Usage::default(),
            report: CallReport::default(),
        }))),
        said => {
            let (settled, said) = said.strip_prefix("settled ").map_or((false, said), |said| (true, said));
            let mut message = message(said);
            for (place, exchange) in message.exchanges_mut().enumerate() {
                exchange.call.id = format!("c{calls}.{place}").into();
                exchange.result = settled.then(|| thermidor_types::ToolResult::text("1"));
            }
            let report = CallReport::default();
            happen(&AgentEvent::Spoke(Box::new(Spoke { call: calls, message, report })));
            assert_eq!(state.due, Some(if settled { Due::CallsSettled } else { Due::Answered }));
        }
    }
    let decision = ChatAgent.decide(&AgentView::new(&spec, &Assignment::default(), &state));
    assert_eq!(format!("{:?}", decision.instructions), expected, "{tools} {most} {calls} {due}");
}

#[test]
fn the_general_agent() {
    let (tools, none) = (true, false);
    check(tools, 3, 0, "begun", "[CallLlm { tools: Tools }]");
    check(tools, 1, 0, "begun", "[CallLlm { tools: Nothing }]");
    check(none, 3, 0, "begun", "[CallLlm { tools: Nothing }]");
    check(tools, 3, 1, "words", "[Finish { reason: Completed }]");
    check(tools, 3, 1, "[add 1]", r#"[CallTool { call: CallId("c1.0") }]"#);
    check(
        tools,
        3,
        1,
        "[add 1] [add 2] [add 3]",
        r#"[CallToolsBatch { calls: [CallId("c1.0"), CallId("c1.1"), CallId("c1.2")] }]"#,
    );
    check(tools, 3, 1, "settled [add 1]", "[CallLlm { tools: Tools }]");
    check(tools, 3, 2, "settled [add 1]", "[CallLlm { tools: Nothing }]");
    check(tools, 3, 3, "settled [add 1]", "[Finish { reason: MaxCallsCompleted }]");
    check(tools, 3, 3, "words", "[Finish { reason: MaxCallsCompleted }]");
    check(none, 1, 1, "words", "[Finish { reason: Completed }]");
    check(
        tools,
        3,
        1,
        "failed",
        r#"[Finish { reason: Failed(Failure { kind: Quota, message: "no money" }) }]"#,
    );
}

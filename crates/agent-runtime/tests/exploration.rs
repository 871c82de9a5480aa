//! The agent machine under the explorer: a crash at every append, stops and suspensions at any moment.

use std::sync::Arc;

use thermidor_agent_runtime::{
    AgentCommand, AgentEffect, AgentMachine, AgentOutcome, AgentSpec, AgentState, Assignment, CallReport,
    Cut, ModelReply, Reply, Resolution, ToolPolicies, ToolPolicy, ToolReply, UNKNOWN_OUTCOME,
};
use thermidor_step_engine::{BoxFuture, EffectContext, Executor, Kinds, Limits, Recovery, Start, Wait};
use thermidor_testing::{Script, Twice, World, explore};
use thermidor_types::{
    AssistantMessage, Exchange, Failure, FailureKind, Json, Message, Part, ToolCall, ToolOutcome, ToolResult,
};

/// Does everything in the explorer's world: breaks off, asks for two tools, one of them with consequences, then
/// answers out of form, and repairs that.
struct Hands {
    world: World,
    /// Calls up to this one break off.
    breaks: u32,
}

impl Executor<AgentMachine> for Hands {
    fn start(
        &self,
        state: &AgentState,
        instruction: AgentEffect,
        context: EffectContext,
    ) -> BoxFuture<AgentOutcome> {
        let (world, breaks) = (self.world.clone(), self.breaks);
        match instruction {
            AgentEffect::CallModel { .. } => {
                let answered =
                    state.history().iter().any(|message| matches!(**message, Message::Assistant(_)));
                let message = said(answered, state.repair_words().is_some());
                Box::pin(async move {
                    let name = context.key().to_string();
                    let done = world.work(&name, Twice::Harmless, context.cancellation()).await;
                    let reply = match done {
                        true if context.key().number() <= breaks => {
                            let failure = Failure::new(FailureKind::Overloaded, "for a moment");
                            Reply::CutOff(message, Cut::Broken(failure))
                        }
                        true => Reply::Said(message),
                        false => Reply::CutOff(message, Cut::Cancelled),
                    };
                    AgentOutcome::Model(Box::new(ModelReply { reply, call: CallReport::default() }))
                })
            }
            AgentEffect::CallTool(call) => Box::pin(async move {
                let (twice, cut) = match call.name.as_str() {
                    "send" => (Twice::Forbidden, ToolOutcome::Unknown),
                    _ => (Twice::Harmless, ToolOutcome::Interrupted),
                };
                let name = format!("{} {}", call.name, call.id);
                AgentOutcome::Tool(if world.work(&name, twice, context.cancellation()).await {
                    ToolReply::Answered(ToolResult::text("done"))
                } else {
                    ToolReply::CutOff(ToolResult::failed(cut, "cut off"))
                })
            }),
        }
    }
}

fn said(answered: bool, repairing: bool) -> AssistantMessage {
    let call = |name: &str| Part::Exchange(Exchange::open(ToolCall::new("given later", name, "{}")));
    let parts = match (answered, repairing) {
        (false, _) => vec![Part::text("I look and send."), call("look"), call("send")],
        (true, false) => vec![Part::text("It is sent.")],
        (true, true) => vec![Part::text("## Report\nIt is sent.")],
    };
    AssistantMessage { parts, ..AssistantMessage::default() }
}

fn kinds(world: &World, breaks: u32) -> Kinds {
    let world = world.clone();
    Kinds::new().with::<AgentMachine>(move |spec| {
        let spec: AgentSpec = spec.read().map_err(|error| error.to_string())?;
        let policy = |recovery| ToolPolicy { recovery, deadline: std::time::Duration::from_mins(1) };
        let policies = [("look".into(), policy(Recovery::Repeat)), ("send".into(), policy(Recovery::Ask))];
        Ok((
            AgentMachine::new(spec, ToolPolicies::from_iter(policies)),
            Arc::new(Hands { world: world.clone(), breaks }),
        ))
    })
}

/// It happened, as a person would find out.
fn answer(wait: &Wait) -> Option<Json> {
    assert_eq!(wait.question.kind, UNKNOWN_OUTCOME);
    let call: ToolCall = wait.question.detail.read().expect("the call");
    let resolution = Resolution::Done("done".into());
    Json::of(&AgentCommand::ResolveUnknown { call: call.id, resolution }).ok()
}

/// An agent whose first calls break off, under `seeds` random disturbances.
fn script(breaks: u32, seeds: u64) -> Script {
    let spec = Json::parse(
        r#"{"member":"ada","name":"Ada","model":"test/one","tools":["look","send"],"contract":{"sections":["Report"]}}"#,
    );
    let assignment = Assignment { request: "send it".into(), ..Assignment::default() };
    Script {
        kinds: Box::new(move |world| kinds(world, breaks)),
        start: Start {
            kind: "agent".into(),
            spec: spec.expect("valid"),
            command: Json::of(&AgentCommand::Start(Box::new(assignment))).expect("valid"),
            limits: Limits::default(),
            title: "send it".into(),
        },
        answer: Box::new(answer),
        seeds,
    }
}

/// Would fail if a crash, a stop or a suspension at any moment lost or doubled a call, repeated the tool with
/// consequences, left work open, or led to another end.
#[test]
fn nothing_disturbs_an_agent() {
    let explored = explore(&script(0, 400));
    assert!(explored.appends >= 6 && explored.crashes == 2 * explored.appends, "{explored:?}");
    assert!(explored.ends["done"] > 100 && explored.ends["stopped"] > 10, "{explored:?}");
}

/// Would fail if a wait before another try were lost or sat out twice in a crash, or kept a stop from ending the run.
#[test]
fn nothing_disturbs_an_agent_that_waits() {
    let explored = explore(&script(2, 200));
    assert!(explored.appends >= 8 && explored.crashes == 2 * explored.appends, "{explored:?}");
    assert!(explored.ends["done"] > 50 && explored.ends["stopped"] > 10, "{explored:?}");
}

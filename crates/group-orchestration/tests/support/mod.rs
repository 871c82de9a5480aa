//! What the tests of groups share: small specs, and agents that speak without a model.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

pub mod room;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_agent_runtime::{AgentCommand, AgentOutput, AgentSpec, Assignment};
use thermidor_group_orchestration::{
    ContextView, GraphSpec, GroupCommand, GroupSpec, MemberSpec, StageSpec, SupervisorSpec, Supervisors,
    group_kind,
};
use thermidor_step_engine::{
    BoxFuture, Effect, EffectContext, EffectKey, End, EndStatus, Executor, How, Input, Kinds, Limits,
    Machine, Moment, Next, Open, Refusal, Signal, Start, Work,
};
use thermidor_testing::{Twice, World};
use thermidor_types::{Failure, FailureKind, Json, Text, Tokens, Usage};

pub fn agent(id: &str) -> MemberSpec {
    let spec = format!(r#"{{"member":"{id}","name":"{}","model":"test/test"}}"#, id.to_uppercase());
    serde_json::from_str::<AgentSpec>(&spec).expect("an agent").into()
}

pub fn group(name: &str, members: &[&str], supervisor: SupervisorSpec) -> GroupSpec {
    GroupSpec {
        name: name.into(),
        title: name.to_uppercase().into(),
        members: members.iter().map(|id| ((*id).into(), agent(id))).collect(),
        supervisor,
        params: [("tone".into(), Json::parse("\"dry\"").expect("valid"))].into(),
    }
}

/// Reads `stage@member: need need` a line; a `*` behind it sees everything, a `-` nothing.
pub fn stages(text: &str) -> GraphSpec {
    let stage = |line: &str| {
        let (id, needs) = line.split_once(':').unwrap_or((line, ""));
        let (id, member) = id.trim().split_once('@').unwrap_or((id.trim(), id.trim()));
        let marks = needs.split_whitespace();
        let (views, needs): (Vec<_>, Vec<_>) = marks.partition(|mark| *mark == "*" || *mark == "-");
        let mut stage = StageSpec::new(id, member, "").after(needs);
        stage.view = match views[..] {
            ["*"] => ContextView::All,
            ["-"] => ContextView::Request,
            _ => ContextView::Needs,
        };
        stage
    };
    GraphSpec { stages: text.lines().map(str::trim).filter(|line| !line.is_empty()).map(stage).collect() }
}

pub fn pipeline(text: &str) -> GroupSpec {
    let graph = stages(text);
    let members: BTreeSet<_> = graph.stages.iter().map(|stage| stage.member.clone()).collect();
    let members: Vec<_> = members.iter().map(thermidor_types::MemberId::as_str).collect();
    group("team", &members, SupervisorSpec::Graph(graph))
}

pub fn start(spec: &GroupSpec, limits: Limits) -> Start {
    Start {
        kind: "group".into(),
        spec: Json::of(spec).expect("serialises"),
        command: Json::of(&GroupCommand::start("a trainer")).expect("serialises"),
        limits,
        title: "a trainer".into(),
    }
}

/// An agent that says once who it is and what it saw.
pub struct Speaker(AgentSpec);

#[derive(Default, Serialize, Deserialize)]
pub struct SpeakerState {
    assignment: Option<Assignment>,
    /// How often it was cut short and tries again.
    cut: u32,
    signal: Option<Signal>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
pub enum SpeakerEvent {
    Asked(Box<Assignment>),
    Signalled(Signal),
    Spoke(Box<AgentOutput>),
    Cut,
    Ended,
}

pub struct Speak(SmolStr, Assignment);

impl Machine for Speaker {
    type State = SpeakerState;
    type Command = AgentCommand;
    type Instruction = Speak;
    /// `None` when it was cut short.
    type Outcome = Option<Result<Text, Failure>>;
    type Event = SpeakerEvent;

    const KIND: &'static str = "agent";
    const VERSION: u32 = 1;

    fn handle(
        &self,
        _: &SpeakerState,
        input: Input<Self>,
        _: &Moment<'_>,
    ) -> Result<Vec<SpeakerEvent>, Refusal> {
        let usage = Usage { input: Tokens(10), output: Tokens(1), ..Usage::default() };
        Ok(match input {
            Input::Command(AgentCommand::Start(assignment)) => vec![SpeakerEvent::Asked(assignment)],
            Input::Command(_) => return Err(Refusal::new("it only speaks")),
            Input::Settled { how: How::Done(Some(Ok(text))), .. } => {
                vec![SpeakerEvent::Spoke(Box::new(AgentOutput { text, usage, ..AgentOutput::default() }))]
            }
            Input::Settled { how: How::Done(Some(Err(failure))), .. } => {
                let output = AgentOutput { usage, failure: Some(failure), ..AgentOutput::default() };
                vec![SpeakerEvent::Spoke(Box::new(output))]
            }
            Input::Settled { .. } => vec![SpeakerEvent::Cut],
            Input::Signal(signal) => vec![SpeakerEvent::Signalled(signal)],
        })
    }

    fn apply(state: &mut SpeakerState, event: &SpeakerEvent) {
        let status = match state.signal {
            None => EndStatus::Done,
            Some(Signal::Stop) => EndStatus::Stopped,
            Some(Signal::Limit) => EndStatus::Limit,
        };
        match event {
            SpeakerEvent::Asked(assignment) => state.assignment = Some((**assignment).clone()),
            SpeakerEvent::Signalled(signal) => state.signal = Some(*signal),
            SpeakerEvent::Spoke(output) => {
                let status = if output.failure.is_some() { EndStatus::Failed } else { status };
                state.end = Some(End { status, output: Json::of(output).expect("serialises"), reason: None });
            }
            SpeakerEvent::Cut => state.cut += 1,
            SpeakerEvent::Ended => state.end = Some(End::because(status, "cut short")),
        }
    }

    fn next(&self, state: &SpeakerState, open: &Open) -> Next<Self> {
        if state.signal.is_some() {
            let over = open.is_empty();
            return if over { Next::Record(vec![SpeakerEvent::Ended]) } else { Next::Want(Vec::new()) };
        }
        let Some(assignment) = &state.assignment else { return Next::Want(Vec::new()) };
        let speak = Speak(self.0.member.as_str().into(), assignment.clone());
        Next::Want(vec![(EffectKey::new("speak", state.cut + 1), Work::Effect(Effect::repeatable(speak)))])
    }

    fn end(state: &SpeakerState) -> Option<End> {
        state.end.clone()
    }
}

/// How long speaking takes, by member, and who fails.
#[derive(Clone)]
pub enum Hands {
    /// As long as the world likes.
    World(World),
    /// So many milliseconds; whoever is in the list fails.
    Script(fn(&str) -> u64, Arc<Mutex<BTreeSet<SmolStr>>>),
}

impl Executor<Speaker> for Hands {
    fn start(
        &self,
        _: &SpeakerState,
        Speak(member, assignment): Speak,
        context: EffectContext,
    ) -> BoxFuture<Option<Result<Text, Failure>>> {
        let hands = self.clone();
        Box::pin(async move {
            let seen: Vec<_> = assignment.upstream.iter().map(|output| output.id.as_str()).collect();
            let text = format!("{member}({})", seen.join(" "));
            match hands {
                Self::World(world) => {
                    let name = format!("{} {}", member, context.idempotency_key());
                    let said = world.work(&name, Twice::Harmless, context.cancellation()).await;
                    said.then(|| Ok(text.into()))
                }
                Self::Script(millis, failing) => {
                    tokio::select! {
                        biased;
                        () = context.cancelled() => return None,
                        () = tokio::time::sleep(Duration::from_millis(millis(&member))) => {}
                    }
                    context.spend(Tokens(11), None);
                    let fails = failing.lock().unwrap_or_else(PoisonError::into_inner).contains(&member);
                    Some(if fails {
                        Err(Failure::new(FailureKind::Server, format!("{member} is down")))
                    } else {
                        Ok(text.into())
                    })
                }
            }
        })
    }
}

pub fn kinds(hands: &Hands, supervisors: Supervisors) -> Kinds {
    let hands = hands.clone();
    let kinds = Kinds::new().with::<Speaker>(move |spec| {
        let spec = spec.read().map_err(|error| error.to_string())?;
        Ok((Speaker(spec), Arc::new(hands.clone()) as Arc<dyn Executor<Speaker>>))
    });
    group_kind(kinds, supervisors)
}

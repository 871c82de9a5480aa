//! What a member is given for its turn, and what is made of what it gives back.

use thermidor_agent_runtime::{
    AgentCommand, AgentMachine, AgentOutput, AgentSpec, Assignment, UpstreamOutput,
};
use thermidor_step_engine::{ChildSpec, End, EndStatus, Limits, Machine as _};
use thermidor_types::{Failure, FailureKind, Json, Text};

use crate::{GroupCommand, GroupMachine, GroupOutput, GroupSpec, GroupState, MemberSpec, Said, Turn};

/// The child run that a turn is.
pub(crate) fn child(spec: &GroupSpec, state: &GroupState, turn: &Turn) -> Result<ChildSpec, Failure> {
    let unfit = |error: serde_json::Error| Failure::new(FailureKind::Internal, error.to_string());
    let upstream = state.upstream.iter().cloned().chain(seen(state, turn)).collect();
    let request = state.request.clone();
    let (kind, spec, command) = match spec.members.get(&turn.call.member) {
        Some(MemberSpec::Agent(agent)) => {
            let agent = AgentSpec { contract: turn.call.contract.clone(), ..AgentSpec::clone(agent) };
            let assignment = Assignment {
                request,
                instruction: turn.call.instruction.clone(),
                upstream,
                params: spec.params.clone(),
                history: Vec::new(),
                turn: turn.number,
            };
            let command = AgentCommand::Start(Box::new(assignment));
            (AgentMachine::KIND, Json::of(&agent).map_err(unfit)?, Json::of(&command).map_err(unfit)?)
        }
        Some(MemberSpec::Group(group)) => {
            let earlier = turn.again.and_then(|turn| state.turn(turn));
            let finished = earlier.map(|earlier| earlier.said.finished.clone()).unwrap_or_default();
            let command = GroupCommand::Start { request, upstream, finished };
            (GroupMachine::KIND, Json::of(&**group).map_err(unfit)?, Json::of(&command).map_err(unfit)?)
        }
        None => {
            let member = &turn.call.member;
            return Err(Failure::new(
                FailureKind::Configuration,
                format!("{member} is no member of this group"),
            ));
        }
    };
    Ok(ChildSpec { kind: kind.into(), spec, command, limits: Limits::INHERITED })
}

fn seen<'a>(state: &'a GroupState, turn: &'a Turn) -> impl Iterator<Item = UpstreamOutput> + 'a {
    turn.sees.iter().filter_map(|turn| state.turn(*turn)).map(|turn| UpstreamOutput {
        id: turn.call.stage.clone(),
        title: turn.call.title.clone(),
        member: state.name(&turn.call.member),
        text: turn.said.text.clone(),
    })
}

/// What a member's run said with its end.
pub(crate) fn said(member: Option<&MemberSpec>, end: &End) -> (EndStatus, Said) {
    let read = match member {
        _ if end.output == Json::default() => Ok(Said::default()),
        Some(MemberSpec::Group(_)) => end.output.read().map(|output| of_group(output, end.status)),
        Some(MemberSpec::Agent(_)) | None => end.output.read().map(of_agent),
    };
    match read {
        Ok(mut said) => {
            if end.status == EndStatus::Failed && said.failure.is_none() {
                let reason = end.reason.clone().unwrap_or_else(|| Text::from("it gave no reason"));
                said.failure = Some(Failure::new(FailureKind::Internal, reason));
            }
            (end.status, said)
        }
        Err(error) => (EndStatus::Failed, failed(FailureKind::Malformed, format!("its output: {error}"))),
    }
}

pub(crate) fn failed(kind: FailureKind, message: impl Into<Text>) -> Said {
    Said { failure: Some(Failure::new(kind, message)), ..Said::default() }
}

fn of_agent(output: AgentOutput) -> Said {
    let AgentOutput { text, usage, model, unfit, failure } = output;
    Said { text, unfit, usage, model, failure, finished: Vec::new() }
}

fn of_group(output: GroupOutput, status: EndStatus) -> Said {
    let GroupOutput { text, outputs, usage, failure, .. } = output;
    let unfit = outputs.last().filter(|_| status == EndStatus::Done).map(|last| last.unfit.clone());
    let finished = if status == EndStatus::Done { Vec::new() } else { outputs };
    Said { text, unfit: unfit.unwrap_or_default(), usage, model: None, failure, finished }
}

//! From what a supervisor wants to what is recorded of it.

use smol_str::SmolStr;
use thermidor_agent_runtime::Contract;
use thermidor_types::{Failure, FailureKind, MemberId, Text};

use crate::{
    Call, Decide, Decision, GroupEvent, GroupInstruction, GroupMachine, GroupSpec, GroupState, GroupView,
    MemberSpec, error::Problem, state::unnamed,
};

impl GroupMachine {
    /// Asks the supervisor and records what that comes to.
    pub(crate) fn decide(&self, state: &GroupState) -> Vec<GroupEvent> {
        let Decision { now, because, notes } = self.supervisor.decide(&GroupView::new(state));
        let round = state.round.saturating_add(1);
        let decided = |instructions| GroupEvent::SupervisorDecided { round, instructions, because, notes };
        if let Some(Decide::Finish { reason }) =
            now.iter().find(|decide| matches!(decide, Decide::Finish { .. }))
        {
            return vec![decided(vec![GroupInstruction::Finish { reason: reason.clone() }])];
        }
        let (mut instructions, mut turns, mut next) = (Vec::new(), Vec::new(), state.next_turn()..);
        for decide in now {
            let (calls, alone) = match decide {
                Decide::Call(call) => (vec![call], true),
                Decide::CallParallel(calls) => (calls, false),
                Decide::Finish { .. } => continue,
            };
            let mut numbers = Vec::with_capacity(calls.len());
            for (call, turn) in calls.into_iter().zip(next.by_ref()) {
                match self.begin(state, turn, call) {
                    Ok(event) => turns.push(event),
                    Err(problem) => {
                        let failure = Failure::new(FailureKind::Configuration, problem.to_string());
                        return vec![decided(Vec::new()), GroupEvent::DecisionUnfit { failure }];
                    }
                }
                numbers.push(turn);
            }
            match numbers[..] {
                [] => {}
                [turn] if alone => instructions.push(GroupInstruction::CallAgent { turn }),
                _ => instructions.push(GroupInstruction::ParallelCallAgents { turns: numbers }),
            }
        }
        if instructions.is_empty() && state.speaking().next().is_none() {
            let failure =
                Failure::new(FailureKind::Internal, "the supervisor neither called anybody nor finished");
            return vec![decided(Vec::new()), GroupEvent::DecisionUnfit { failure }];
        }
        let mut events = vec![decided(instructions)];
        events.extend(turns);
        events
    }

    fn begin(&self, state: &GroupState, turn: u32, mut call: Call) -> Result<GroupEvent, Problem> {
        if call.stage.is_empty() {
            call.stage = unnamed(turn);
        }
        check(&self.spec, &call.stage, &call.member, &call.instruction, &call.contract)?;
        if call.title.is_empty() {
            call.title = state.name(&call.member);
        }
        Ok(GroupEvent::TurnBegan { turn, sees: self.sees(state, &call.view), call, again: None })
    }
}

/// Whether a member can take such a turn.
pub(crate) fn check(
    spec: &GroupSpec,
    stage: &SmolStr,
    member: &MemberId,
    instruction: &Text,
    contract: &Contract,
) -> Result<(), Problem> {
    match spec.members.get(member) {
        None => Err(Problem::UnknownMember { stage: stage.clone(), member: member.clone() }),
        Some(MemberSpec::Group(_)) if !instruction.is_empty() || *contract != Contract::default() => {
            Err(Problem::InstructedGroup { stage: stage.clone(), member: member.clone() })
        }
        Some(MemberSpec::Agent(_) | MemberSpec::Group(_)) => Ok(()),
    }
}

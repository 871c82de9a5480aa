use smol_str::SmolStr;
use thermidor_step_engine::{EndStatus, Machine, NodeId, Refusal, Spent};
use thermidor_types::{Failure, Json, MemberId, ModelId, Text, Usage};

use crate::{GroupEvent, GroupMachine, StageOutput};

/// What the outside may know of a group's event.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "made once a turn, written down and dropped")]
pub enum GroupFact {
    /// The run began.
    Began {
        /// The sentence everything began with.
        request: Text,
        /// Who takes part, with their names for people.
        roster: Vec<(MemberId, Text)>,
        /// What an earlier run had finished: the first turns of this one, numbered as they are here.
        finished: Vec<StageOutput>,
    },
    /// The supervisor decided.
    Decided {
        /// How many times it was asked by now.
        round: u32,
        /// The words of its instructions: `call_agent`, `parallel_call_agents`, `finish`. None to wait.
        instructions: Vec<&'static str>,
        /// Why.
        because: Text,
    },
    /// The supervisor wanted what cannot be: the run will fail.
    DecisionUnfit {
        /// What.
        failure: Failure,
    },
    /// A member got a turn: the child run under the key `turn:N`.
    TurnBegan {
        /// Its number, counted from 1.
        turn: u32,
        /// Whose.
        member: MemberId,
        /// Of which stage.
        stage: SmolStr,
        /// The stage's title.
        title: Text,
        /// The turns whose outputs it sees.
        sees: Vec<u32>,
        /// The unfinished turn that it takes again.
        again: Option<u32>,
    },
    /// A turn ended, whichever way.
    TurnEnded {
        /// Its number.
        turn: u32,
        /// Whose.
        member: MemberId,
        /// Of which stage.
        stage: SmolStr,
        /// Which way.
        status: EndStatus,
        /// What was said.
        text: Text,
        /// Where it does not meet its contract.
        unfit: Vec<Text>,
        /// What it consumed.
        usage: Usage,
        /// The model that said it.
        model: Option<ModelId>,
        /// Why it failed, when it did.
        failure: Option<Failure>,
        /// The run it was; `None` when it never opened.
        node: Option<NodeId>,
        /// What it and the runs below it consumed, as the engine counted.
        spent: Spent,
    },
    /// The run was asked to stop.
    Stopping,
    /// The run crossed a limit.
    LimitReached,
    /// The end was undone.
    Resumed,
    /// The run ended.
    Ended {
        /// Which way.
        status: EndStatus,
        /// Why: the supervisor's reason to finish, or what went wrong.
        reason: Option<Text>,
        /// The failure, where it failed.
        failure: Option<Failure>,
        /// The finished turns in the order of the stages.
        outputs: Vec<u32>,
        /// The turn that gave the answer, where it is done.
        answer: Option<u32>,
    },
}

/// Reads what the outside may know out of a stored event of a group, written by this version or an older one.
///
/// # Errors
/// When it is no event of a group, or a newer version's.
pub fn facts(event: &Json, version: u32) -> Result<Vec<GroupFact>, Refusal> {
    let event = if version == GroupMachine::VERSION {
        event.read()
    } else {
        GroupMachine::upgrade(version, event.clone())?.read()
    };
    let event = event.map_err(|error| Refusal::new(format!("not an event of a group: {error}")))?;
    Ok(vec![fact(event)])
}

fn fact(event: GroupEvent) -> GroupFact {
    match event {
        GroupEvent::Began { request, roster, upstream: _, mut finished } => {
            (1..).zip(&mut finished).for_each(|(turn, output)| output.turn = turn);
            GroupFact::Began { request, roster, finished }
        }
        GroupEvent::SupervisorDecided { round, instructions, because, notes: _ } => {
            let instructions = instructions.iter().map(crate::GroupInstruction::word).collect();
            GroupFact::Decided { round, instructions, because }
        }
        GroupEvent::DecisionUnfit { failure } => GroupFact::DecisionUnfit { failure },
        GroupEvent::TurnBegan { turn, call, sees, again } => {
            let crate::Call { member, stage, title, .. } = call;
            GroupFact::TurnBegan { turn, member, stage, title, sees, again }
        }
        GroupEvent::AgentSpoke { turn, member, stage, status, said, node, spent } => {
            let crate::Said { text, unfit, usage, model, failure, finished: _ } = *said;
            GroupFact::TurnEnded {
                turn,
                member,
                stage,
                status,
                text,
                unfit,
                usage,
                model,
                failure,
                node,
                spent,
            }
        }
        GroupEvent::StopAsked => GroupFact::Stopping,
        GroupEvent::LimitReached => GroupFact::LimitReached,
        GroupEvent::Resumed => GroupFact::Resumed,
        GroupEvent::Ended { status, reason, failure, finish_reason, outputs } => {
            let answer = outputs.last().copied().filter(|_| status == EndStatus::Done);
            GroupFact::Ended { status, reason: finish_reason.or(reason), failure, outputs, answer }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if an event of a newer version, or of another machine, were read as something it is not.
    #[test]
    fn what_is_unknown_is_refused() {
        let read = |event: &str, version| {
            facts(&Json::parse(event).expect("JSON"), version).map_err(|no| no.to_string())
        };
        assert_eq!(read(r#""StopAsked""#, 1), Ok(vec![GroupFact::Stopping]));
        assert_eq!(
            read(r#""StopAsked""#, 2),
            Err("group events of version 2 are unknown to this program".into())
        );
        assert!(
            read(r#""CallLlm""#, 1)
                .is_err_and(|no| no.starts_with("not an event of a group: unknown variant"))
        );
    }

    /// Would fail if turns taken over from an earlier run were shown under the numbers they had there.
    #[test]
    fn turns_taken_over_are_numbered_anew() {
        let output = |turn| StageOutput {
            stage: "plan".into(),
            title: "Plan".into(),
            member: "ann".into(),
            turn,
            text: "one, two".into(),
            unfit: Vec::new(),
        };
        let request = Text::from("a trainer");
        let (roster, upstream) = (Vec::new(), Vec::new());
        let finished = vec![output(7)];
        let began =
            GroupEvent::Began { request: request.clone(), roster: roster.clone(), upstream, finished };
        let expected = GroupFact::Began { request, roster, finished: vec![output(1)] };
        assert_eq!(facts(&Json::of(&began).expect("serialises"), 1), Ok(vec![expected]));
    }
}

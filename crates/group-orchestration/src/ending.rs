//! How a group comes to its end.

use thermidor_step_engine::{EndStatus, NodeId, Spent};
use thermidor_types::Text;

use crate::{GroupEvent, GroupMachine, GroupState, Said, Turn, state::Closing};

impl GroupMachine {
    /// Everybody has come to an end: what never began is settled, and the run ends.
    pub(crate) fn wrap_up(&self, state: &GroupState, closing: &Closing) -> Vec<GroupEvent> {
        let outputs = self.finished(state);
        let ended = |status, reason: Option<Text>, failure| GroupEvent::Ended {
            status,
            reason,
            failure,
            finish_reason: None,
            outputs: outputs.clone(),
        };
        let end = match closing {
            Closing::Finish(reason) => GroupEvent::Ended {
                status: EndStatus::Done,
                reason: None,
                failure: None,
                finish_reason: Some(reason.clone()),
                outputs,
            },
            Closing::Stop => ended(EndStatus::Stopped, Some("it was asked to stop".into()), None),
            Closing::Limit => ended(EndStatus::Limit, Some("it reached a limit".into()), None),
            Closing::Unfit(failure) => {
                ended(EndStatus::Failed, Some(failure.to_string().into()), Some(failure.clone()))
            }
            Closing::Member => {
                let (status, turn) = self.worst(state);
                let who = turn.map(|turn| format!("{} ({})", state.name(&turn.call.member), turn.call.stage));
                let (who, failure) =
                    (who.unwrap_or_default(), turn.and_then(|turn| turn.said.failure.clone()));
                let reason = match (&failure, status) {
                    (Some(failure), _) => format!("{who}: {failure}"),
                    (None, EndStatus::Limit) => format!("{who} reached a limit"),
                    (None, EndStatus::Stopped) => format!("{who} was stopped"),
                    (None, EndStatus::Failed | EndStatus::Done) => format!("{who} failed"),
                };
                ended(status, Some(reason.into()), failure)
            }
        };
        let status = if matches!(closing, Closing::Limit) { EndStatus::Limit } else { EndStatus::Stopped };
        let never = state.speaking().map(|turn| spoke(turn, status, Said::default(), None, Spent::default()));
        never.chain([end]).collect()
    }

    /// The turn that says how the run ends: failures before limits before stops, then as the stages are ordered.
    fn worst<'a>(&self, state: &'a GroupState) -> (EndStatus, Option<&'a Turn>) {
        let order = self.in_order(state, state.unfinished.iter().copied().collect());
        for status in [EndStatus::Failed, EndStatus::Limit, EndStatus::Stopped] {
            let mut turns = order.iter().filter_map(|turn| state.turn(*turn));
            if let Some(turn) = turns.find(|turn| turn.status == Some(status)) {
                return (status, Some(turn));
            }
        }
        (EndStatus::Failed, None)
    }
}

/// The end of a turn as an event.
pub(crate) fn spoke(
    turn: &Turn,
    status: EndStatus,
    said: Said,
    node: Option<NodeId>,
    spent: Spent,
) -> GroupEvent {
    let Turn { number, call, .. } = turn;
    let (member, stage) = (call.member.clone(), call.stage.clone());
    GroupEvent::AgentSpoke { turn: *number, member, stage, status, said: Box::new(said), node, spent }
}

use thermidor_types::Role;

use crate::{Draft, Error, MessageProcessor, Stage, View};

/// Limits how much of the conversation is sent, by count. The step's name is `history-truncation`.
///
/// What counts are earlier messages: not the last user message nor what followed it, not system messages, not
/// summaries and what else is pinned. A limit of N sends exactly N of them, the newest, if there are as many;
/// with both limits the stricter one decides. Limits by tokens are the budget's ([`Fit`](super::Fit)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryTruncation {
    /// The most earlier messages; a tool call with its result is part of its message.
    pub messages: Option<usize>,
    /// The most earlier user turns, whole: a user message with all that followed it.
    pub turns: Option<usize>,
}

impl MessageProcessor for HistoryTruncation {
    fn name(&self) -> &'static str {
        "history-truncation"
    }

    fn stage(&self) -> Stage {
        Stage::Select
    }

    fn process(&self, draft: &mut Draft, _: &View) -> Result<(), Error> {
        if self.messages.is_none() && self.turns.is_none() {
            return Ok(());
        }
        let now = draft.current_turn();
        let earlier: Vec<Role> = draft.units()[..now]
            .iter()
            .filter(|unit| !unit.is_pinned())
            .filter_map(|unit| Some(unit.message()?.role()))
            .collect();
        let by_messages = self.messages.map_or(0, |limit| earlier.len().saturating_sub(limit));
        let users = earlier.iter().enumerate().rev().filter(|(_, role)| **role == Role::User);
        let by_turns = match self.turns {
            None => 0,
            Some(0) => earlier.len(),
            Some(limit) => users.map(|(place, _)| place).nth(limit - 1).unwrap_or(0),
        };
        let (mut place, cut) = (0, by_messages.max(by_turns));
        let first_step = draft.units().get(now).map_or(usize::MAX, |unit| unit.position);
        draft.retain("beyond the limit of the history", |unit| {
            if unit.message().is_none() || unit.position >= first_step {
                return true;
            }
            place += 1;
            place > cut
        });
        Ok(())
    }
}

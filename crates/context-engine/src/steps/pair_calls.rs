use std::collections::HashSet;

use thermidor_types::{CallId, Message, Part, ToolOutcome, ToolResult};

use crate::{Draft, Error, MessageProcessor, Stage, View};

/// Gives every tool call exactly one result. The step's name is `pair-calls`.
///
/// A call without a result (it was stopped, or its answer broke off) gets one that says so; a call whose id
/// was used before goes, since no provider accepts it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairCalls;

impl MessageProcessor for PairCalls {
    fn name(&self) -> &'static str {
        "pair-calls"
    }

    fn stage(&self) -> Stage {
        Stage::Flatten
    }

    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error> {
        let note = view
            .language
            .pick("This call did not run to its end; there is no result.", "该调用未执行完毕，没有结果。");
        let mut seen: HashSet<CallId> = HashSet::new();
        draft.rewrite("a tool call was completed or removed", |message| {
            let Message::Assistant(answer) = message else { return None };
            let new: Vec<bool> =
                answer.exchanges().map(|exchange| seen.insert(exchange.call.id.clone())).collect();
            if answer.exchanges().all(|exchange| exchange.result.is_some()) && !new.contains(&false) {
                return None;
            }
            let (mut answer, mut new) = (answer.clone(), new.into_iter());
            answer.parts.retain(|part| !matches!(part, Part::Exchange(_)) || new.next() == Some(true));
            for exchange in answer.exchanges_mut().filter(|exchange| exchange.result.is_none()) {
                exchange.result = Some(ToolResult::failed(ToolOutcome::Interrupted, note));
            }
            Some(Message::Assistant(answer))
        });
        Ok(())
    }
}

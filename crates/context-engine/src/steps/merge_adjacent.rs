use thermidor_types::{Message, Part};

use crate::{Draft, Error, MessageProcessor, Stage, Unit, View};

/// Makes one message of neighbours with the same role, which several providers insist on. The step's name is
/// `merge-adjacent`.
///
/// Parts stay apart inside the message. An assistant message with reasoning or tool calls keeps to itself:
/// what follows its results is another message on the wire. Disable it for providers that take neighbours and
/// see more in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeAdjacent;

impl MessageProcessor for MergeAdjacent {
    fn name(&self) -> &'static str {
        "merge-adjacent"
    }

    fn stage(&self) -> Stage {
        Stage::Finish
    }

    fn process(&self, draft: &mut Draft, _: &View) -> Result<(), Error> {
        let mergeable =
            |pair: &[Unit]| pair[0].role() == pair[1].role() && plain(&pair[0]) && plain(&pair[1]);
        let joins: Vec<usize> = draft
            .units()
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| mergeable(pair))
            .map(|(at, _)| at + 1)
            .collect();
        for index in joins {
            draft.join(index);
        }
        Ok(())
    }
}

fn plain(unit: &Unit) -> bool {
    match unit.message() {
        Some(Message::Assistant(answer)) => {
            answer.parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Media(_)))
        }
        Some(Message::System(_) | Message::User(_)) | None => true,
    }
}

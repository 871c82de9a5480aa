use thermidor_types::{FailureKind, Message, Role, Tokens};

use crate::{
    Draft, Error, Keep, Language, MessageProcessor, Stage, Unit, View, draft::FLOOR, render,
    weigh::MESSAGE_FRAME,
};

/// The newest steps of the current turn are never dropped: without them a model repeats itself.
const RECENT_STEPS: usize = 4;

/// Makes the draft fit into its budget. The step's name is `fit`.
///
/// In this order, each only as far as needed:
/// 1. contributions with a bound of their own are shortened to it, also when there is room;
/// 2. earlier turns go, the oldest first, always whole: a user message with all that followed. A single message
///    that takes more than a quarter of the budget is shortened first, so that it does not drive out all others;
/// 3. the oldest steps of the current turn go, except the last four;
/// 4. contributions are shortened, those of the lowest priority first; of the same priority the largest first, down to
///    one level. Optional ones that still are too much go;
/// 5. the texts of the current turn's steps (results of tools) are shortened, the largest first.
///
/// Nothing pinned is touched: system messages, the last user message, contributions kept whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fit;

impl MessageProcessor for Fit {
    fn name(&self) -> &'static str {
        "fit"
    }

    fn stage(&self) -> Stage {
        Stage::Fit
    }

    /// # Errors
    /// `ContextTooLong` when what may not be cut does not fit; the message has the figures.
    fn process(&self, draft: &mut Draft, view: &View) -> Result<(), Error> {
        apply_bounds(draft, view.language);
        drop_earlier_turns(draft, view.language);
        drop_old_steps(draft);
        shorten_contributions(draft, view.language);
        let steps = steps(draft);
        sink(draft, &steps, "results of the turn: too long", view.language);
        if excess(draft) == Tokens(0) { Ok(()) } else { Err(too_long(draft, view)) }
    }
}

fn excess(draft: &Draft) -> Tokens {
    draft.total().saturating_sub(draft.budget())
}

fn apply_bounds(draft: &mut Draft, language: Language) {
    for index in 0..draft.units().len() {
        if let Some(bound) =
            draft.units()[index].contribution().and_then(|contribution| contribution.max_tokens)
        {
            draft.shorten(index, bound, "longer than its own bound", language);
        }
    }
}

fn drop_earlier_turns(draft: &mut Draft, language: Language) {
    let Some(last_user) = draft.units().iter().rposition(|unit| unit.message().is_some_and(is_user)) else {
        return;
    };
    let earlier =
        |unit: &Unit, before: usize| unit.position < before && unit.message().is_some() && !unit.pinned;
    let border = draft.units()[last_user].position;
    let others: Tokens = render::groups(draft.units())
        .filter(|units| !earlier(&units[0], border))
        .map(|units| MESSAGE_FRAME + render::group_tokens(units, draft.counter()))
        .sum();
    let room = draft.budget().saturating_sub(others + draft.fixed());
    let indices: Vec<usize> =
        (0..last_user).rev().filter(|&index| earlier(&draft.units()[index], border)).collect();
    // Nothing is counted beyond what can fit.
    let mut sum = Tokens(0);
    let all_fit = indices.iter().all(|&index| {
        sum += draft.tokens_of(index) + MESSAGE_FRAME;
        sum <= room
    });
    if all_fit {
        return;
    }
    let quarter = Tokens(draft.budget().0 / 4).max(FLOOR);
    let (mut left, mut turn, mut first_kept) = (room, Tokens(0), border);
    for (place, &index) in indices.iter().enumerate() {
        let tokens = draft.shorten(index, quarter, "takes more than a quarter of the prompt", language);
        turn += tokens + MESSAGE_FRAME;
        if turn > left {
            break;
        }
        if place + 1 == indices.len() || draft.units()[index].message().is_some_and(is_user) {
            left = left.saturating_sub(turn);
            turn = Tokens(0);
            first_kept = draft.units()[index].position;
        }
    }
    draft.retain("oldest turns first: no room", |unit| !earlier(unit, first_kept));
}

fn is_user(message: &Message) -> bool {
    message.role() == Role::User
}

/// The messages of the current turn behind its user message.
fn steps(draft: &Draft) -> Vec<usize> {
    let units = draft.units();
    (draft.current_turn()..units.len())
        .filter(|&index| units[index].message().is_some() && !units[index].pinned)
        .collect()
}

fn drop_old_steps(draft: &mut Draft) {
    let mut over = excess(draft);
    let steps = steps(draft);
    let old = &steps[..steps.len().saturating_sub(RECENT_STEPS)];
    let mut gone = Vec::new();
    for &index in old {
        if over == Tokens(0) {
            break;
        }
        over = over.saturating_sub(draft.tokens_of(index) + MESSAGE_FRAME);
        gone.push(draft.units()[index].position);
    }
    if !gone.is_empty() {
        draft.retain("oldest steps of the turn first: no room", |unit| !gone.contains(&unit.position));
    }
}

fn shorten_contributions(draft: &mut Draft, language: Language) {
    if excess(draft) == Tokens(0) {
        return;
    }
    let cuttable = |draft: &Draft, index: usize| {
        let priority = draft.units()[index].contribution()?.priority;
        (draft.keep(index) != Keep::Whole).then_some(priority)
    };
    let mut priorities: Vec<u8> =
        (0..draft.units().len()).filter_map(|index| cuttable(draft, index)).collect();
    priorities.sort_unstable();
    priorities.dedup();
    for priority in priorities {
        let group: Vec<usize> =
            (0..draft.units().len()).filter(|&index| cuttable(draft, index) == Some(priority)).collect();
        sink(draft, &group, "no room: the lowest priority first, then the largest", language);
        for &index in group.iter().rev() {
            if draft.keep(index) == Keep::Optional && excess(draft) > Tokens(0) {
                draft.remove(index, "no room, and optional");
            }
        }
    }
}

/// Shortens the largest of these units to one level, so that the draft fits or each is as short as can be.
fn sink(draft: &mut Draft, indices: &[usize], reason: &str, language: Language) {
    // More than one round, because the seams of a system message are worth a token or two.
    for _ in 0..3 {
        let over = excess(draft);
        if over == Tokens(0) {
            return;
        }
        let sizes: Vec<Tokens> = indices.iter().map(|&index| draft.tokens_of(index)).collect();
        let room = sizes.iter().copied().sum::<Tokens>().saturating_sub(over);
        let level = crate::shorten::water_level(&sizes, room).max(FLOOR);
        for &index in indices {
            draft.shorten(index, level, reason, language);
        }
    }
}

fn too_long(draft: &Draft, view: &View) -> Error {
    let mut sizes: Vec<(Tokens, String)> = (0..draft.units().len())
        .map(|index| (draft.tokens_of(index), draft.units()[index].source().to_string()))
        .collect();
    sizes.sort_by(|a, b| b.cmp(a));
    let largest: Vec<String> =
        sizes.iter().take(3).map(|(tokens, source)| format!("{source} {tokens}")).collect();
    let text = format!(
        "what may not be cut further takes {} tokens, {} are allowed of {}'s window of {} (tools {}; largest: {})",
        draft.total(),
        draft.budget(),
        view.model.id,
        view.model.context_window,
        draft.fixed(),
        largest.join(", "),
    );
    Error::new(FailureKind::ContextTooLong, text)
}

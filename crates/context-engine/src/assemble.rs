//! From a history and contributions to a draft.

use smol_str::SmolStr;
use thermidor_types::{OriginKind, Role};

use crate::{Contribution, Keep, Slot, Unit, View};

/// Puts contributions into their slots around the history.
///
/// Order: system contributions, system messages the history begins with, what stands before the first user
/// message, the history up to the last user message, what stands beside that, the steps of the current turn,
/// the tail.
pub(crate) fn assemble(view: &View, mut contributions: Vec<(SmolStr, Contribution)>) -> Vec<Unit> {
    contributions.retain(|(_, contribution)| !contribution.text.trim().is_empty());
    contributions.sort_by_key(|(_, c)| (c.slot, c.stability, std::cmp::Reverse(c.priority)));
    let blocks = |slot: Slot| {
        let of_slot = contributions.iter().filter(move |(_, contribution)| contribution.slot == slot);
        of_slot.enumerate().map(move |(place, (provider, contribution))| {
            let mut unit = Unit::contributed(provider.clone(), contribution.clone());
            unit.pinned = contribution.keep == Keep::Whole && contribution.max_tokens.is_none();
            unit.joined = place > 0 || slot == Slot::LastUser;
            unit
        })
    };
    let last_user = view.history.iter().rev().position(|message| message.role() == Role::User);
    let last_user = last_user.map(|from_end| view.history.len() - 1 - from_end);

    let mut units = Vec::with_capacity(view.history.len() + contributions.len());
    units.extend(blocks(Slot::System));
    let mut background = Some(blocks(Slot::BeforeFirstUser));
    let mut beside = Some(blocks(Slot::LastUser));
    for (index, message) in view.history.iter().enumerate() {
        let role = message.role();
        if role == Role::User || (role != Role::System && last_user.is_none()) {
            units.extend(background.take().into_iter().flatten());
        }
        if role != Role::System && last_user.is_none() {
            units.extend(beside.take().into_iter().flatten());
        }
        let mut unit = Unit::message_at(index, message.clone());
        let pinned = role == Role::System || Some(index) == last_user;
        unit.pinned = pinned || message.origin().kind == OriginKind::Summary;
        units.push(unit);
        if Some(index) == last_user {
            units.extend(beside.take().into_iter().flatten());
        }
    }
    units.extend(background.into_iter().flatten());
    units.extend(beside.into_iter().flatten());
    units.extend(blocks(Slot::Tail));
    units
}

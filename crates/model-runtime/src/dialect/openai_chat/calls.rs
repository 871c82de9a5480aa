//! Puts tool calls together from fragments, whatever a server leaves out.

use std::collections::HashMap;

use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::chunk::{CallDelta, string};

/// Calls on their way. A call has a place among the answer's calls from the moment its name is known.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    by_index: HashMap<i64, usize>,
    by_id: HashMap<SmolStr, usize>,
    places: usize,
    round: u64,
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) id: Option<SmolStr>,
    pub(super) name: SmolStr,
    pub(super) arguments: String,
    place: Option<usize>,
    /// How much of the arguments was told already.
    told: usize,
    round: u64,
}

/// A step of one call, to be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) slot: usize,
    pub(super) place: usize,
    /// The call was not told of before.
    pub(super) first: bool,
}

/// Whether calls come whole or in fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Fragments,
    Whole,
}

impl Calls {
    /// Begins a list of deltas: two entries of one list are two calls, unless they name one index.
    pub(super) fn begin(&mut self) {
        self.round += 1;
    }

    /// Takes one delta; `None` while the call it belongs to has no name.
    pub(super) fn take(&mut self, delta: &CallDelta<'_>, form: Form) -> Option<Step> {
        let id = string(delta.id).map(SmolStr::from);
        let function = delta.function.as_ref();
        let name = function.and_then(|function| string(function.name)).map(SmolStr::from);
        let index = delta.index.filter(|index| *index >= 0);
        let slot = self.find(index, id.as_ref(), name.as_ref(), form).unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        if let Some(index) = index {
            self.by_index.insert(index, slot);
        }
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), slot);
        }
        let entry = &mut self.slots[slot];
        entry.round = self.round;
        if entry.id.is_none() {
            entry.id = id;
        }
        if entry.name.is_empty() {
            entry.name = name.unwrap_or_default();
        }
        push_arguments(&mut entry.arguments, function.and_then(|function| function.arguments));
        if entry.name.is_empty() {
            return None;
        }
        let first = entry.place.is_none();
        let place = *entry.place.get_or_insert_with(|| {
            self.places += 1;
            self.places - 1
        });
        Some(Step { slot, place, first })
    }

    fn find(
        &self,
        index: Option<i64>,
        id: Option<&SmolStr>,
        name: Option<&SmolStr>,
        form: Form,
    ) -> Option<usize> {
        if form == Form::Whole {
            return None;
        }
        let other_name = |slot: &Slot| name.is_some_and(|name| !slot.name.is_empty() && *name != slot.name);
        let other_id = |slot: &Slot| id.is_some_and(|id| slot.id.as_ref().is_some_and(|known| known != id));
        if let Some(index) = index {
            let slot = *self.by_index.get(&index)?;
            let known = &self.slots[slot];
            // Some servers say index 0 for every call: another id with a name is another call, and so is a
            // second name in one list.
            let another =
                (name.is_some() && other_id(known)) || (known.round == self.round && other_name(known));
            return (!another).then_some(slot);
        }
        if let Some(id) = id {
            let slot = *self.by_id.get(id)?;
            let known = &self.slots[slot];
            return (!other_name(known) && known.round != self.round).then_some(slot);
        }
        if name.is_some() { None } else { self.slots.len().checked_sub(1) }
    }

    /// The arguments of `slot` that were not told yet, told now.
    pub(super) fn untold(&mut self, slot: usize) -> (SmolStr, &str) {
        let entry = &mut self.slots[slot];
        let from = std::mem::replace(&mut entry.told, entry.arguments.len());
        (entry.name.clone(), &entry.arguments[from..])
    }

    pub(super) fn slot(&self, slot: usize) -> &Slot {
        &self.slots[slot]
    }

    /// How many calls never got a name.
    pub(super) fn nameless(&self) -> usize {
        self.slots.len() - self.places
    }
}

/// A string is appended as it is meant, an object or a list as it is written, `null` not at all.
fn push_arguments(arguments: &mut String, raw: Option<&RawValue>) {
    let Some(raw) = raw else { return };
    if let Some(text) = string(Some(raw)) {
        arguments.push_str(&text);
    } else if raw.get().starts_with(['{', '[']) {
        arguments.push_str(raw.get());
    }
}

//! Puts tool calls together from fragments, whatever a server leaves out.

use std::{borrow::Cow, collections::HashMap};

use smol_str::SmolStr;

/// What one event says of a call. Everything but the arguments may be missing.
#[derive(Debug, Default)]
pub(crate) struct CallDelta<'a> {
    /// The call's place, in the provider's count.
    pub(crate) index: Option<i64>,
    /// The provider's id, not empty.
    pub(crate) id: Option<Cow<'a, str>>,
    /// The tool's wire name, not empty.
    pub(crate) name: Option<Cow<'a, str>>,
    /// The next fragment of the arguments.
    pub(crate) arguments: Cow<'a, str>,
    /// An opaque signature to send back with the call.
    pub(crate) signature: Option<Cow<'a, str>>,
}

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
    pub(super) signature: Option<String>,
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
pub(crate) enum Form {
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
        let id = delta.id.as_deref().map(SmolStr::new);
        let name = delta.name.as_deref().map(SmolStr::new);
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
        entry.arguments.push_str(&delta.arguments);
        if let Some(signature) = &delta.signature {
            entry.signature = Some(signature.clone().into_owned());
        }
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
            // More of a call that was named in this list already has no name of its own.
            let another = other_name(known) || (name.is_some() && known.round == self.round);
            return (!another).then_some(slot);
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

//! The order in which outputs are shown: that of the stages, else of the turns, never of completion.

use thermidor_step_engine::EndStatus;

use crate::{ContextView, GroupMachine, GroupState};

impl GroupMachine {
    pub(crate) fn in_order(&self, state: &GroupState, mut turns: Vec<u32>) -> Vec<u32> {
        let place = |turn: &u32| {
            let stage = state.turn(*turn).and_then(|turn| self.places.get(&turn.call.stage));
            (stage.copied().unwrap_or(usize::MAX), *turn)
        };
        turns.sort_by_cached_key(place);
        turns
    }

    /// All finished turns.
    pub(crate) fn finished(&self, state: &GroupState) -> Vec<u32> {
        let done = state.turns.iter().filter(|turn| turn.status == Some(EndStatus::Done));
        self.in_order(state, done.map(|turn| turn.number).collect())
    }

    /// The turns whose outputs a view shows now.
    pub(crate) fn sees(&self, state: &GroupState, view: &ContextView) -> Vec<u32> {
        match view {
            ContextView::All => self.finished(state),
            ContextView::Named(stages) => {
                let turns = stages.iter().filter_map(|stage| state.finished.get(stage)).copied();
                self.in_order(state, turns.collect())
            }
            // Outside a graph there are no needs; inside, they were resolved to names.
            ContextView::Needs | ContextView::Request => Vec::new(),
        }
    }
}

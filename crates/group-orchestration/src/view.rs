use std::collections::BTreeMap;

use smol_str::SmolStr;
use thermidor_types::{Json, MemberId, Text};

use crate::{GroupState, News, Turn};

/// What a supervisor knows when it is asked.
#[derive(Clone, Debug)]
pub struct GroupView<'a>(&'a GroupState);

impl<'a> GroupView<'a> {
    pub(crate) fn new(state: &'a GroupState) -> Self {
        Self(state)
    }

    /// The sentence everything began with.
    pub fn request(&self) -> &'a Text {
        &self.0.request
    }

    /// Who takes part, with their names for people, in the order of the configuration.
    pub fn roster(&self) -> impl ExactSizeIterator<Item = (&'a MemberId, &'a Text)> + 'a {
        self.0.roster.iter()
    }

    /// What is new since the supervisor was asked last; never nothing.
    pub fn news(&self) -> &'a [News] {
        &self.0.news
    }

    /// All turns so far: turn `n` is at `n - 1`.
    pub fn turns(&self) -> &'a [Turn] {
        &self.0.turns
    }

    /// The newest turn of a stage. Costs O(log stages).
    pub fn stage(&self, id: &str) -> Option<&'a Turn> {
        self.0.newest.get(id).and_then(|turn| self.0.turn(*turn))
    }

    /// The turns in which somebody speaks now.
    pub fn speaking(&self) -> impl Iterator<Item = &'a Turn> + 'a {
        self.0.speaking()
    }

    /// How many times the supervisor was asked before.
    pub fn round(&self) -> u32 {
        self.0.round
    }

    /// What the supervisor noted in earlier decisions.
    pub fn notes(&self) -> &'a BTreeMap<SmolStr, Json> {
        &self.0.notes
    }
}

use std::{collections::BTreeMap, fmt, sync::Arc};

use smol_str::SmolStr;
use thermidor_types::Json;

use crate::{Decision, GroupView};

/// Decides who acts next. A closure `Fn(&GroupView<'_>) -> Decision` is one too.
///
/// It is asked when something new is known: the run began or goes on, a member spoke, a broadcast is
/// complete. It returns only what is new; what it decided before goes on by itself. It is never asked
/// about a member's failure: that ends the run once everybody else has spoken.
///
/// ```
/// use thermidor_group_orchestration::{Call, Decide, Decision, GroupView, Supervisor};
///
/// /// Everybody speaks once, in turn.
/// struct Round;
///
/// impl Supervisor for Round {
///     fn decide(&self, group: &GroupView<'_>) -> Decision {
///         match group.roster().nth(group.turns().len()) {
///             Some((member, _)) => Decide::from(Call::new(member.clone())).into(),
///             None => Decide::finish("everybody has spoken").into(),
///         }
///     }
/// }
/// ```
pub trait Supervisor: Send + Sync + 'static {
    /// Says what it newly wants. Pure: no I/O, no clock; what it must remember goes into the notes.
    fn decide(&self, group: &GroupView<'_>) -> Decision;
}

impl<F: Fn(&GroupView<'_>) -> Decision + Send + Sync + 'static> Supervisor for F {
    fn decide(&self, group: &GroupView<'_>) -> Decision {
        self(group)
    }
}

type Make = dyn Fn(&Json) -> Result<Box<dyn Supervisor>, String> + Send + Sync;

/// The supervisors that a program adds to the built-in ones, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Supervisors(BTreeMap<SmolStr, Arc<Make>>);

impl Supervisors {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a supervisor: `make` makes it from the configuration in the group's spec, or says why not.
    #[must_use]
    pub fn with<S: Supervisor>(
        mut self,
        name: impl Into<SmolStr>,
        make: impl Fn(&Json) -> Result<S, String> + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<Make> = Arc::new(move |config| Ok(Box::new(make(config)?) as Box<dyn Supervisor>));
        self.0.insert(name.into(), make);
        self
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &SmolStr> {
        self.0.keys()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Make>> {
        self.0.get(name)
    }
}

impl fmt::Debug for Supervisors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

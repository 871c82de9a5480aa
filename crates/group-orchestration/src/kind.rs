use std::sync::Arc;

use thermidor_step_engine::{Executor, Kinds};
use thermidor_types::Json;

use crate::{GroupMachine, GroupSpec, NoEffects, Supervisors};

/// Adds the kind `group` to the kinds of runs that a program knows. Groups open runs of kind `agent`, and of
/// kind `group` for nested ones.
pub fn group_kind(kinds: Kinds, supervisors: Supervisors) -> Kinds {
    kinds.with::<GroupMachine>(move |spec: &Json| {
        let spec: GroupSpec = spec.read().map_err(|error| format!("a group's configuration: {error}"))?;
        let machine = GroupMachine::new(spec, &supervisors).map_err(|error| error.to_string())?;
        Ok((machine, Arc::new(NoEffects) as Arc<dyn Executor<GroupMachine>>))
    })
}

use thermidor_agent_runtime::{AgentMachine, AgentSetup, agent_kind};
use thermidor_group_orchestration::{GroupCommand, GroupMachine, Supervisors, group_kind};
use thermidor_step_engine::{Kinds, Machine as _};
use thermidor_types::Json;

use crate::Error;

/// All kinds of runs this program knows.
pub(crate) fn kinds(agents: AgentSetup, supervisors: Supervisors) -> Kinds {
    group_kind(Kinds::new().with::<AgentMachine>(agent_kind(agents)), supervisors)
}

/// The command that makes a root run of this kind go on after an end that was not done.
pub(crate) fn resume_command(kind: &str) -> Result<Json, Error> {
    match kind {
        GroupMachine::KIND => Json::of(&GroupCommand::Resume).map_err(Error::configuration),
        _ => Err(Error::configuration(format!(
            "a run of kind {kind:?} cannot go on after its end: start a new one"
        ))),
    }
}

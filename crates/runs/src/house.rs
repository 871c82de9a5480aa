use thermidor_group_orchestration::{GroupCommand, group_kind};
use thermidor_step_engine::Kinds;
use thermidor_types::Json;

use crate::{Error, RunsBuilder};

/// All kinds of runs this program knows.
pub(crate) fn kinds(parts: RunsBuilder) -> Result<Kinds, Error> {
    let RunsBuilder { models, tools, providers, processors, supervisors, clock, .. } = parts;
    let kinds = thermidor_agent_runtime::agent_kind(Kinds::new(), models, tools, providers, processors, clock);
    Ok(group_kind(kinds, supervisors))
}

/// The command that makes a root run of this kind go on after an end that was not done.
pub(crate) fn resume_command(kind: &str) -> Result<Json, Error> {
    match kind {
        "group" => Json::of(&GroupCommand::Resume).map_err(Error::configuration),
        _ => Err(Error::configuration(format!("a run of kind {kind:?} cannot go on after its end: start a new one"))),
    }
}

use std::{collections::BTreeMap, time::Duration};

use smol_str::SmolStr;
use thermidor_step_engine::Recovery;
use thermidor_tools::{Registry, Repeatable};

/// How long a tool may answer after its own deadline, before the engine gives it up.
const BACKSTOP: Duration = Duration::from_secs(2);

/// What a machine has to know of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolPolicy {
    /// What to do about a call after a crash.
    pub recovery: Recovery,
    /// The time a call may take.
    pub deadline: Duration,
}

/// The policies of an agent's tools by registered name, as they were when its run was opened by this process.
///
/// A name that is not in it is a tool that does not exist: calling it only gives an answer that says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicies(BTreeMap<SmolStr, ToolPolicy>);

impl ToolPolicies {
    /// The policies of all tools of `registry`: idempotent ones are repeated, others ask.
    pub fn of(registry: &Registry) -> Self {
        let policies = registry.iter().map(|tool| {
            let spec = tool.spec();
            let recovery = match spec.repeatable {
                Repeatable::Idempotent => Recovery::Repeat,
                Repeatable::SideEffects => Recovery::Ask,
            };
            (spec.name.clone(), ToolPolicy { recovery, deadline: spec.deadline })
        });
        policies.collect()
    }

    /// The policy of the tool `name`, with time for its own answer after the deadline.
    pub(crate) fn get(&self, name: &str) -> ToolPolicy {
        let absent = ToolPolicy { recovery: Recovery::Repeat, deadline: BACKSTOP };
        let policy = self.0.get(name).copied().unwrap_or(absent);
        ToolPolicy { deadline: policy.deadline.saturating_add(BACKSTOP), ..policy }
    }
}

impl FromIterator<(SmolStr, ToolPolicy)> for ToolPolicies {
    fn from_iter<I: IntoIterator<Item = (SmolStr, ToolPolicy)>>(policies: I) -> Self {
        Self(policies.into_iter().collect())
    }
}

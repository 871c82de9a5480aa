//! The group machine and its supervisors.

mod command;
mod spec;

pub use command::{GroupCommand, GroupOutput, StageOutput};
pub use spec::{ContextView, GraphSpec, GroupSpec, MemberSpec, StageSpec, SupervisorSpec};

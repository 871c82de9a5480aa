//! The group machine and its supervisors.

mod assign;
mod command;
mod deciding;
mod decision;
mod ending;
mod error;
mod event;
mod facts;
mod graph_supervisor;
mod kind;
mod machine;
mod order;
mod spec;
mod state;
mod supervisor;
mod view;

pub use command::{GroupCommand, GroupOutput, StageOutput};
pub use decision::{Call, Decide, Decision, GroupInstruction};
pub use error::{Error, ErrorKind};
pub use event::{GroupEvent, Said};
pub use facts::{GroupFact, facts};
pub use kind::group_kind;
pub use machine::{GroupMachine, NoEffects, Nothing};
pub use spec::{ContextView, GraphSpec, GroupSpec, MemberSpec, StageSpec, SupervisorSpec};
pub use state::{GroupState, News, Turn};
pub use supervisor::{Supervisor, Supervisors};
pub use view::GroupView;

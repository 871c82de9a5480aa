//! The group machine and its supervisors: members take turns, a supervisor decides whose turn it is.
//!
//! A group is a [`Machine`](thermidor_step_engine::Machine) of kind `group`. Its turns are child runs of agents, or
//! of groups again; all else about it is pure. [`GroupSpec`] is its frozen configuration, [`GroupCommand`] what
//! it may be asked, [`GroupOutput`] what it ends with, [`facts`] what others may read of its events.
//!
//! ```
//! use thermidor_agent_runtime::AgentSpec;
//! use thermidor_group_orchestration::{
//!     ContextView, GraphSpec, GroupMachine, GroupSpec, StageSpec, SupervisorSpec, Supervisors,
//! };
//!
//! let agent = |id: &str| -> AgentSpec {
//!     let json = format!(r#"{{"member":"{id}","name":"{id}","model":"openai/gpt-5"}}"#);
//!     serde_json::from_str(&json).expect("an agent")
//! };
//! let mut summary = StageSpec::new("summary", "planner", "Sum up for {{ request }}.").after(["build", "test"]);
//! summary.view = ContextView::All;
//! let stages = vec![
//!     StageSpec::new("plan", "planner", "Plan {{ request }}."),
//!     StageSpec::new("build", "builder", "Build it: {{ outputs.plan }}").after(["plan"]),
//!     StageSpec::new("test", "tester", "Test it: {{ outputs.plan }}").after(["plan"]), // beside `build`
//!     summary,
//! ];
//! let spec = GroupSpec {
//!     name: "trio".into(),
//!     title: "Trio".into(),
//!     members: ["planner", "builder", "tester"].map(|id| (id.into(), agent(id).into())).into(),
//!     supervisor: SupervisorSpec::Graph(GraphSpec { stages }),
//!     params: Default::default(),
//! };
//! // Proves that it can be used; an engine that knows `group_kind` and the kind `agent` runs it.
//! GroupMachine::new(spec, &Supervisors::new())?;
//! # Ok::<(), thermidor_group_orchestration::Error>(())
//! ```

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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

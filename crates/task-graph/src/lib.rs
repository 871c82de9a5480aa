//! A pure task graph: what needs what, what is ready, what is done, what to do again.
//!
//! [`TaskGraph`] says which node needs which others and refuses what cannot work. [`Progress`] is where
//! the work stands, a plain value to store. A node is ready the moment the nodes it needs are done: there
//! are no waves that wait for each other.
//!
//! ```
//! use thermidor_task_graph::{Node, Progress, TaskGraph};
//!
//! let graph = TaskGraph::new([
//!     Node::new("plan"),
//!     Node::new("frontend").needing(["plan"]),
//!     Node::new("algorithm").needing(["plan"]),
//!     Node::new("summary").needing(["frontend", "algorithm"]),
//! ])?;
//! let mut progress = Progress::new();
//! assert_eq!(progress.ready(&graph), ["plan"]);
//!
//! progress.start(&graph, "plan")?;
//! progress.complete("plan")?;
//! assert_eq!(progress.ready(&graph), ["frontend", "algorithm"]);
//! # Ok::<(), thermidor_task_graph::Error>(())
//! ```

mod error;
mod graph;
mod progress;

pub use error::{Error, ErrorKind};
pub use graph::{Node, TaskGraph};
pub use progress::{NodeState, Progress};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

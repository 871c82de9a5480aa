//! A conversation as a tree, and the two lists made from it: what a person sees, and what a model reads.
//!
//! The path of data: stored [`Row`]s become a [`Conversation`] (with a [`Fault`] for each that does not fit);
//! a [`Command`] becomes an [`Event`] or is refused; an event changes the conversation; a [`Scope`] of it
//! becomes a [`Display`] or a [`ModelView`]. Nothing here does I/O, reads a clock or draws an id.
//!
//! - **Branches.** Nodes with one parent and one [`Link`] are alternatives. The active one is the selected
//!   one, while it or something after it is there; else the newest. Editing and regenerating select the new
//!   node; selecting selects everything above too; appending beside a selected node moves nothing.
//! - **Lanes and threads.** Members side by side, votes and tasks are lanes that hang on a group node; the
//!   conversation goes on after that node. A thread hangs on the message it is about.
//! - **Folds.** A compressed stretch is an overlay on a path. On a path that leaves the stretch the messages
//!   are read as they are.
//! - **Deleting** leaves a tombstone without content. What comes after it stays or goes ([`After`]).
//!
//! ```
//! use thermidor_conversation_flow::{Command, Conversation, Scope};
//! use thermidor_types::Message;
//!
//! let mut talk = Conversation::new();
//! talk.execute(Command::Append { id: "q".into(), after: None, body: Message::user("2+2?").into() })?;
//! let answer = Message::assistant("5").into();
//! talk.execute(Command::Append { id: "a".into(), after: Some("q".into()), body: answer })?;
//! let better = Message::assistant("4").into();
//! talk.execute(Command::Regenerate { id: "b".into(), of: "a".into(), body: better })?;
//!
//! assert_eq!(talk.for_model(&Scope::Main)?.messages()[1].text(), "4");
//! talk.execute(Command::Select { node: "a".into() })?;
//! assert_eq!(talk.for_model(&Scope::Main)?.messages()[1].text(), "5");
//! # Ok::<(), thermidor_conversation_flow::Error>(())
//! ```

mod apply;
mod command;
mod conversation;
mod decide;
mod display;
mod error;
mod fault;
mod fork;
mod id;
mod load;
mod model_view;
mod path;
mod row;
mod show;
mod tree;
mod walk;

pub use command::{After, Command, Event};
pub use conversation::Conversation;
pub use display::{Branch, Display, Item, Lane, Mark, Shown, Step, ThreadMark, Within};
pub use error::{Error, ErrorKind};
pub use fault::{Fault, Problem};
pub use id::{Link, NodeId, ThreadId};
pub use model_view::{Entry, ModelView};
pub use path::{Comparison, Scope};
pub use row::{Body, FoldRow, GroupKind, NodeRow, Row, Version};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

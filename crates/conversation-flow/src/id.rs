use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(SmolStr);

        impl $name {
            /// The characters.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<SmolStr>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// Names a node or a fold of one conversation. Given in by the caller, never empty, never used twice.
    NodeId
}
id! {
    /// Names a thread of one conversation. Given in by the caller.
    ThreadId
}

/// How a node hangs on its parent. Nodes with one parent and one link are alternatives: branches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Link {
    /// It comes after its parent. Without a parent it begins the conversation.
    #[default]
    Next,
    /// It begins the lane of this name in a group: a member's column, a vote, a task.
    Lane(SmolStr),
    /// It begins this thread about its parent.
    Thread(ThreadId),
}

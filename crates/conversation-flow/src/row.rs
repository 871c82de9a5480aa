use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use thermidor_types::Message;

use crate::{Link, NodeId};

/// One stored row. The two kinds are told apart by name (`{"Node": …}`, `{"Fold": …}`); an unknown kind,
/// an unknown field and another version are refused when a row is read, so that nothing is lost unseen
/// when it is written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Row {
    /// A message, a group, or the tombstone of one.
    Node(NodeRow),
    /// A compressed stretch of a path.
    Fold(FoldRow),
}

impl Row {
    /// The id of the node or fold.
    pub fn id(&self) -> &NodeId {
        match self {
            Self::Node(row) => &row.id,
            Self::Fold(row) => &row.id,
        }
    }
}

/// A node as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRow {
    /// The form of the row.
    pub version: Version,
    /// Its name.
    pub id: NodeId,
    /// What it hangs on; `None` begins the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// How it hangs there.
    #[serde(default)]
    pub link: Link,
    /// Its place in the order of creation. Ties keep the order of the rows.
    pub order: u64,
    /// What it holds.
    pub body: Body,
    /// Whether the model sees it even where a summary stands for its surroundings.
    #[serde(default)]
    pub pinned: bool,
    /// Whether somebody chose it among its alternatives.
    #[serde(default)]
    pub selected: bool,
}

impl NodeRow {
    /// A row in the present version: neither pinned nor selected, after its parent.
    pub fn new(id: impl Into<NodeId>, parent: Option<NodeId>, order: u64, body: impl Into<Body>) -> Self {
        Self {
            version: Version::default(),
            id: id.into(),
            parent,
            link: Link::Next,
            order,
            body: body.into(),
            pinned: false,
            selected: false,
        }
    }
}

/// What a node holds. Messages are shared, not copied, between a conversation, its rows, events and forks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// A message.
    Message(Arc<Message>),
    /// Members side by side: the lanes hang on this node.
    Group(GroupKind),
    /// A tombstone: the content is gone, the place is kept for what comes after it.
    Removed,
}

impl From<Message> for Body {
    fn from(message: Message) -> Self {
        Self::Message(Arc::new(message))
    }
}

impl From<GroupKind> for Body {
    fn from(kind: GroupKind) -> Self {
        Self::Group(kind)
    }
}

/// What the lanes of a group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupKind {
    /// Members that answer in parallel.
    Agents,
    /// Members that are asked for their opinion or vote.
    Council,
    /// Tasks: a lane begins with its instruction and ends with its result; what is between is its thread
    /// of work, which the model does not see.
    Tasks,
}

/// A compressed stretch as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldRow {
    /// The form of the row.
    pub version: Version,
    /// Its name, from the same names as nodes.
    pub id: NodeId,
    /// The nodes it stands for: each comes directly after the one before.
    pub members: Vec<NodeId>,
    /// What the model reads instead.
    pub summary: Arc<Message>,
}

/// The form of a row. This program reads version 1 and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Version(u32);

impl Version {
    const CURRENT: u32 = 1;
}

impl Default for Version {
    fn default() -> Self {
        Self(Self::CURRENT)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u32::deserialize(from)? {
            Self::CURRENT => Ok(Self(Self::CURRENT)),
            other => Err(de::Error::custom(format_args!(
                "row version {other} is not known (this program reads version {}): read it with the program that wrote it, or update",
                Self::CURRENT
            ))),
        }
    }
}

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{CallId, Citation, Content, Media, MemberId, ModelId, NativeItem, Reasoning, Text, Usage};

/// The four roles of a chat. Roles for display are made from a message's [`Origin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// The operator.
    System,
    /// Whoever asks.
    User,
    /// Whoever answers.
    Assistant,
    /// A tool. No message has this role: a result lives in its [`Exchange`], and becomes a message of its
    /// own only on the wire of providers that want one.
    Tool,
}

/// Where a message came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// What sort of author it has.
    #[serde(default)]
    pub kind: OriginKind,
    /// The member who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// The turn of the group it belongs to, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
}

impl Origin {
    /// Said by `member`.
    pub fn member(member: impl Into<MemberId>) -> Self {
        Self { kind: OriginKind::Member, member: Some(member.into()), turn: None }
    }

    /// Made by our own context building.
    pub fn context() -> Self {
        Self { kind: OriginKind::Context, ..Self::default() }
    }
}

/// What sort of author a message has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OriginKind {
    /// A person.
    #[default]
    Person,
    /// A member of a group, or an agent on its own.
    Member,
    /// Whoever leads the group: an instruction to a member.
    Supervisor,
    /// Our own context building.
    Context,
    /// A summary that stands for older messages.
    Summary,
}

/// One message, by role. Tool results have no message of their own: see [`Exchange`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// From the operator.
    System(SystemMessage),
    /// To the model.
    User(UserMessage),
    /// From a model.
    Assistant(AssistantMessage),
}

impl Message {
    /// An operator's message.
    pub fn system(text: impl Into<Text>) -> Self {
        Self::System(SystemMessage { text: text.into(), origin: Origin::context() })
    }

    /// A person's message of words only.
    pub fn user(text: impl Into<Text>) -> Self {
        Self::User(UserMessage { content: vec![Content::Text(text.into())], origin: Origin::default() })
    }

    /// A finished answer of words only.
    pub fn assistant(text: impl Into<Text>) -> Self {
        Self::Assistant(AssistantMessage {
            parts: vec![Part::Text(text.into())],
            ..AssistantMessage::default()
        })
    }

    /// The role.
    pub fn role(&self) -> Role {
        match self {
            Self::System(_) => Role::System,
            Self::User(_) => Role::User,
            Self::Assistant(_) => Role::Assistant,
        }
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::System(message) => &message.origin,
            Self::User(message) => &message.origin,
            Self::Assistant(message) => &message.origin,
        }
    }

    /// The words, without reasoning, calls, results and media; text parts are joined by a line break.
    pub fn text(&self) -> String {
        match self {
            Self::System(message) => message.text.to_string(),
            Self::User(message) => join(message.content.iter().filter_map(|content| match content {
                Content::Text(text) => Some(text),
                Content::Media(_) => None,
            })),
            Self::Assistant(message) => message.text(),
        }
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a Text>) -> String {
    texts.map(Text::as_str).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What the operator tells the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemMessage {
    /// The words.
    pub text: Text,
    /// Where it came from.
    #[serde(default)]
    pub origin: Origin,
}

/// What the model is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Words and media in order.
    pub content: Vec<Content>,
    /// Where it came from.
    #[serde(default)]
    pub origin: Origin,
}

/// What a model answered: text, reasoning, tool calls with their results, and media, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The parts in the order the model gave them.
    pub parts: Vec<Part>,
    /// Where it came from.
    #[serde(default)]
    pub origin: Origin,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// What the call consumed.
    #[serde(default)]
    pub usage: Usage,
    /// How it ended.
    #[serde(default)]
    pub ending: Ending,
    /// The sources it names, in the order the provider gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

impl AssistantMessage {
    /// The words; text parts are joined by a line break.
    pub fn text(&self) -> String {
        join(self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
        }))
    }

    /// The tool calls with their results, in the order of the calls.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.parts.iter().filter_map(|part| match part {
            Part::Exchange(exchange) => Some(exchange),
            Part::Text(_) | Part::Reasoning(_) | Part::Media(_) | Part::Native(_) => None,
        })
    }

    /// The tool calls with their results, to be filled in.
    pub fn exchanges_mut(&mut self) -> impl Iterator<Item = &mut Exchange> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Exchange(exchange) => Some(exchange),
            Part::Text(_) | Part::Reasoning(_) | Part::Media(_) | Part::Native(_) => None,
        })
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ending {
    /// The model was done.
    #[default]
    Finished,
    /// The model reached the length allowed. Calls in such an answer never run.
    Length,
    /// The stream broke off or was stopped. Never to be shown as a finished answer; calls never run.
    CutOff,
}

/// One part of an [`AssistantMessage`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Words.
    Text(Text),
    /// Thoughts.
    Reasoning(Reasoning),
    /// A tool call and its result.
    Exchange(Exchange),
    /// An image or a sound the model made.
    Media(Media),
    /// What only the provider understands, to be sent back to it.
    Native(NativeItem),
}

impl Part {
    /// Words.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(text.into())
    }
}

/// A tool call and its result as one unit, so that no code can produce one without the other.
///
/// While the result is missing the call is open; whoever renders an open exchange for a provider must
/// still answer it (invariant: every call sent is followed by exactly one result).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// What the model wants called.
    pub call: ToolCall,
    /// What came of it; `None` while the call is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
}

impl Exchange {
    /// A call that waits for its result.
    pub fn open(call: ToolCall) -> Self {
        Self { call, result: None }
    }

    /// The same call with its result.
    #[must_use]
    pub fn answered(self, result: ToolResult) -> Self {
        Self { call: self.call, result: Some(result) }
    }
}

/// What a model wants called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// Our id, unique inside the run.
    pub id: CallId,
    /// The tool's name as registered (not its wire name).
    pub name: SmolStr,
    /// The arguments byte for byte as the model wrote them. Not necessarily valid JSON.
    pub arguments: Text,
    /// The provider's own id, for providers that want it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_id: Option<SmolStr>,
    /// An opaque signature that some providers attach to a call and want back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text>,
}

impl ToolCall {
    /// A call with our own id.
    pub fn new(id: impl Into<CallId>, name: impl Into<SmolStr>, arguments: impl Into<Text>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), wire_id: None, signature: None }
    }
}

/// What came of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model gets to read.
    pub content: Vec<Content>,
    /// How it went.
    #[serde(default)]
    pub outcome: ToolOutcome,
}

impl ToolResult {
    /// A success in words.
    pub fn text(text: impl Into<Text>) -> Self {
        Self { content: vec![Content::Text(text.into())], outcome: ToolOutcome::Success }
    }

    /// Anything but a success, in words the model can act on.
    pub fn failed(outcome: ToolOutcome, text: impl Into<Text>) -> Self {
        Self { content: vec![Content::Text(text.into())], outcome }
    }
}

/// How a tool call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolOutcome {
    /// It did what was asked.
    #[default]
    Success,
    /// It failed, and said why.
    Error,
    /// It was not allowed to run.
    Refused,
    /// It was stopped before it finished, or never ran.
    Interrupted,
    /// It may or may not have happened.
    Unknown,
}

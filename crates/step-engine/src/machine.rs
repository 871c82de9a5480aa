use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use smol_str::SmolStr;
use thermidor_types::{Ids, Json, Text, Timestamp, Tokens};

use crate::{EffectKey, Limits, NodeId, Open, Spent};

/// A pure state machine: decides what happened and what is wanted next, and does nothing itself.
///
/// None of the functions may do I/O, read a clock or draw a random number. State changes only by events,
/// and folding the events gives exactly the live state.
pub trait Machine: Send + Sync + 'static {
    /// What is known, folded from the events.
    type State: Default + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What somebody outside may ask, in its stored form.
    type Command: DeserializeOwned;
    /// What an executor is told to do.
    type Instruction: Send + Sync + 'static;
    /// What an executor found out.
    type Outcome: Send + 'static;
    /// What happened.
    type Event: Serialize + DeserializeOwned;

    /// The name under which runs of this machine are stored.
    const KIND: &'static str;
    /// The version of [`Machine::Event`], raised with every change to its stored form.
    const VERSION: u32;

    /// Turns an event stored by an older version into today's form.
    ///
    /// # Errors
    /// When `version` is one this program does not know.
    fn upgrade(version: u32, event: Json) -> Result<Json, Refusal> {
        if version == Self::VERSION {
            Ok(event)
        } else {
            Err(Refusal::new(format!(
                "{} events of version {version} are unknown to this program",
                Self::KIND
            )))
        }
    }

    /// Turns an input into the events that it means, in view of the state at this moment.
    ///
    /// # Errors
    /// When a command makes no sense now. Settlements and signals are never refused.
    fn handle(
        &self,
        state: &Self::State,
        input: Input<Self>,
        at: &Moment<'_>,
    ) -> Result<Vec<Self::Event>, Refusal>;

    /// Folds one event into the state. Has no `self`: configuration cannot leak into the fold.
    fn apply(state: &mut Self::State, event: &Self::Event);

    /// Says what is wanted now, from saved state alone. Asked again whenever state or `open` changed.
    fn next(&self, state: &Self::State, open: &Open) -> Next<Self>;

    /// The end, once there is one. A command that is not refused may undo it.
    fn end(state: &Self::State) -> Option<End>;
}

/// What reaches a machine.
pub enum Input<M: Machine + ?Sized> {
    /// Somebody outside asks for something.
    Command(M::Command),
    /// A piece of work came to its end.
    Settled {
        /// Which one.
        key: EffectKey,
        /// How.
        how: How<M::Outcome>,
    },
    /// The engine says that it is time to come to an end.
    Signal(Signal),
}

impl<M: Machine + ?Sized> fmt::Debug for Input<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(_) => f.write_str("Command"),
            Self::Settled { key, how } => write!(f, "Settled({key}, {:?})", how.kind()),
            Self::Signal(signal) => write!(f, "Signal({signal:?})"),
        }
    }
}

/// What came of a piece of work.
#[derive(Clone, Debug)]
pub enum How<O> {
    /// The executor finished, well or not: that is the outcome's business.
    Done(O),
    /// The child run ended.
    Child(ChildEnd),
    /// The time came.
    Fired,
    /// The executor did not finish within its deadline.
    TimedOut,
    /// It may or may not have happened: the process died, the executor panicked, or it was cut off.
    Unknown,
    /// It was no longer wanted and did not end in time, or never began.
    Abandoned,
}

/// A [`How`] without its content: what the journal keeps of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HowKind {
    /// See [`How::Done`].
    Done,
    /// See [`How::Child`].
    Child,
    /// See [`How::Fired`].
    Fired,
    /// See [`How::TimedOut`].
    TimedOut,
    /// See [`How::Unknown`].
    Unknown,
    /// See [`How::Abandoned`].
    Abandoned,
}

impl<O> How<O> {
    /// What the journal keeps of it.
    pub fn kind(&self) -> HowKind {
        match self {
            Self::Done(_) => HowKind::Done,
            Self::Child(_) => HowKind::Child,
            Self::Fired => HowKind::Fired,
            Self::TimedOut => HowKind::TimedOut,
            Self::Unknown => HowKind::Unknown,
            Self::Abandoned => HowKind::Abandoned,
        }
    }

    /// Changes the content, keeps the case.
    pub(crate) fn try_map<P, E>(self, change: impl FnOnce(O) -> Result<P, E>) -> Result<How<P>, E> {
        Ok(match self {
            Self::Done(outcome) => How::Done(change(outcome)?),
            Self::Child(end) => How::Child(end),
            Self::Fired => How::Fired,
            Self::TimedOut => How::TimedOut,
            Self::Unknown => How::Unknown,
            Self::Abandoned => How::Abandoned,
        })
    }
}

/// The end of a child run.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEnd {
    /// Where its records are: the reference to its transcript. `None` for one that could not be opened.
    pub node: Option<NodeId>,
    /// How it ended.
    pub end: End,
    /// What it and its own children consumed.
    pub spent: Spent,
}

/// The engine's own word to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// Come to an orderly stop.
    Stop,
    /// A limit of this run was crossed: give a last answer within the reserve and end.
    Limit,
}

/// What a machine wants.
pub enum Next<M: Machine + ?Sized> {
    /// Facts that need no world. Never empty; `next` is asked again after them.
    Record(Vec<M::Event>),
    /// The complete set of work wanted now. Work in flight that is left out is cancelled; an empty set
    /// with nothing in flight parks the run.
    Want(Vec<(EffectKey, Work<M::Instruction>)>),
}

impl<M: Machine + ?Sized> fmt::Debug for Next<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(events) => write!(f, "Record({})", events.len()),
            Self::Want(wants) => f.debug_list().entries(wants.iter().map(|want| want.0.to_string())).finish(),
        }
    }
}

/// One piece of wanted work.
#[derive(Clone, Debug, PartialEq)]
pub enum Work<I> {
    /// Something an executor does. Always given in full, also while in flight: after a crash it may have to
    /// be started again.
    Effect(Effect<I>),
    /// A child run.
    Child(ChildSpec),
    /// A child that is already in flight and still wanted; saves building its [`ChildSpec`] again.
    Keep,
    /// A moment to wait for.
    Timer(Timestamp),
    /// An answer only a person can give; it comes as a command.
    Person(Question),
}

/// Something an executor does.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect<I> {
    /// What to do.
    pub instruction: I,
    /// What to do about it after a crash.
    pub recovery: Recovery,
    /// The tokens it may consume, reserved against the limits while it runs.
    pub reserve: Tokens,
    /// The time it may take; without one, as long as the run may.
    pub deadline: Option<Duration>,
}

impl<I> Effect<I> {
    /// An effect that may be repeated after a crash.
    pub fn repeatable(instruction: I) -> Self {
        Self { instruction, recovery: Recovery::Repeat, reserve: Tokens(0), deadline: None }
    }

    /// An effect with consequences outside: after a crash its outcome is unknown and a person decides.
    pub fn once(instruction: I) -> Self {
        Self { instruction, recovery: Recovery::Ask, reserve: Tokens(0), deadline: None }
    }

    /// Reserves `tokens` while it runs.
    #[must_use]
    pub fn reserving(mut self, tokens: Tokens) -> Self {
        self.reserve = tokens;
        self
    }

    /// Gives it `deadline` to finish.
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }
}

/// What to do about an effect that was started and not ended when the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recovery {
    /// Start it again: it has no consequences outside, or recognises its idempotency key.
    Repeat,
    /// Its outcome is unknown, and the machine is told so.
    Ask,
}

/// A child run to open. One that cannot be opened, or refuses its first command, has failed: its parent is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildSpec {
    /// The kind of its machine.
    pub kind: SmolStr,
    /// Its frozen configuration.
    pub spec: Json,
    /// The first command it gets.
    pub command: Json,
    /// Its own limits, below those of its ancestors.
    pub limits: Limits,
}

/// Something to be answered by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What sort of question it is: tells a front end how to ask.
    pub kind: SmolStr,
    /// The question in words.
    pub text: Text,
    /// What the answer must be given to, in the machine's own form.
    pub detail: Json,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Which way.
    pub status: EndStatus,
    /// The result in the machine's own form; `null` when there is none.
    #[serde(default)]
    pub output: Json,
    /// Why, in words, where it is not simply done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

impl End {
    /// Done, with a result.
    pub fn done(output: Json) -> Self {
        Self { status: EndStatus::Done, output, reason: None }
    }

    /// Not done, with the reason.
    pub fn because(status: EndStatus, reason: impl Into<Text>) -> Self {
        Self { status, output: Json::default(), reason: Some(reason.into()) }
    }
}

/// Which way a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EndStatus {
    /// It did what was asked.
    Done,
    /// It could not.
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// It reached a limit.
    Limit,
}

/// Why a command was refused, in words for whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(Text);

impl Refusal {
    /// A refusal for this reason.
    pub fn new(reason: impl Into<Text>) -> Self {
        Self(reason.into())
    }
}

/// The moment at which an input is handled, and fresh ids for what it makes.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The time.
    pub now: Timestamp,
    /// Fresh ids. They end up in events, so that a replay gives the same ones.
    pub ids: &'a dyn Ids,
}

impl fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Moment({})", self.now)
    }
}

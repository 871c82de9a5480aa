use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use smol_str::SmolStr;
use thermidor_types::{ContentHash, Json};

use crate::{
    BoxFuture, ChildSpec, Effect, EffectContext, EffectKey, End, Executor, How, Input, Machine, Moment, Next,
    Open, Question, Refusal, Signal, Timestamp, Work, error::Problem,
};

pub(crate) type AnyOutcome = Box<dyn Any + Send>;

/// A machine with its state and executor, its types erased: here and nowhere else.
pub(crate) trait Node: Send + Sync {
    fn version(&self) -> u32;
    fn command(&mut self, command: &Json, at: &Moment<'_>) -> Result<Vec<Json>, Refusal>;
    fn settled(
        &mut self,
        key: EffectKey,
        how: How<AnyOutcome>,
        at: &Moment<'_>,
    ) -> Result<Vec<Json>, Problem>;
    fn signal(&mut self, signal: Signal, at: &Moment<'_>) -> Result<Vec<Json>, Problem>;
    fn replay(&mut self, version: u32, event: &Json) -> Result<(), String>;
    fn next(&mut self, open: &Open) -> Result<ErasedNext, Problem>;
    fn launch(&mut self, key: &EffectKey, context: EffectContext) -> Option<BoxFuture<AnyOutcome>>;
    fn end(&self) -> Option<End>;
    fn dump(&self) -> Result<Json, serde_json::Error>;
    fn restore(&mut self, state: &Json) -> Result<(), serde_json::Error>;
}

pub(crate) enum ErasedNext {
    Record(Vec<Json>),
    Want(Vec<(EffectKey, ErasedWork)>),
}

pub(crate) enum ErasedWork {
    Effect(Effect<()>),
    Child(ChildSpec),
    Keep,
    Timer(Timestamp),
    Person(Question),
}

struct Typed<M: Machine> {
    machine: M,
    executor: Arc<dyn Executor<M>>,
    state: M::State,
    wanted: BTreeMap<EffectKey, M::Instruction>,
}

impl<M: Machine> Typed<M> {
    fn defect(reason: impl fmt::Display) -> Problem {
        Problem::Defect { kind: M::KIND.into(), reason: reason.to_string() }
    }

    fn take(&mut self, events: Vec<M::Event>) -> Result<Vec<Json>, serde_json::Error> {
        events
            .iter()
            .map(|event| {
                M::apply(&mut self.state, event);
                Json::of(event)
            })
            .collect()
    }

    fn input(&mut self, input: Input<M>, at: &Moment<'_>) -> Result<Vec<Json>, Problem> {
        let events = self.machine.handle(&self.state, input, at).map_err(Self::defect)?;
        self.take(events).map_err(Self::defect)
    }
}

impl<M: Machine> Node for Typed<M> {
    fn version(&self) -> u32 {
        M::VERSION
    }

    fn command(&mut self, command: &Json, at: &Moment<'_>) -> Result<Vec<Json>, Refusal> {
        let command =
            command.read().map_err(|error| Refusal::new(format!("not a command of this run: {error}")))?;
        let events = self.machine.handle(&self.state, Input::Command(command), at)?;
        self.take(events).map_err(|error| Refusal::new(error.to_string()))
    }

    fn settled(
        &mut self,
        key: EffectKey,
        how: How<AnyOutcome>,
        at: &Moment<'_>,
    ) -> Result<Vec<Json>, Problem> {
        self.wanted.remove(&key);
        let how = how.try_map(|outcome| {
            outcome.downcast().map(|outcome| *outcome).map_err(|_| Self::defect("outcome of another machine"))
        })?;
        self.input(Input::Settled { key, how }, at)
    }

    fn signal(&mut self, signal: Signal, at: &Moment<'_>) -> Result<Vec<Json>, Problem> {
        self.input(Input::Signal(signal), at)
    }

    fn replay(&mut self, version: u32, event: &Json) -> Result<(), String> {
        let event = if version == M::VERSION {
            event.read()
        } else {
            M::upgrade(version, event.clone()).map_err(|refusal| refusal.to_string())?.read()
        };
        M::apply(&mut self.state, &event.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn next(&mut self, open: &Open) -> Result<ErasedNext, Problem> {
        match self.machine.next(&self.state, open) {
            Next::Record(events) if events.is_empty() => Err(Self::defect("it recorded nothing")),
            Next::Record(events) => Ok(ErasedNext::Record(self.take(events).map_err(Self::defect)?)),
            Next::Want(wants) => {
                self.wanted.clear();
                Ok(ErasedNext::Want(wants.into_iter().map(|(key, work)| self.erase(key, work)).collect()))
            }
        }
    }

    fn launch(&mut self, key: &EffectKey, context: EffectContext) -> Option<BoxFuture<AnyOutcome>> {
        let instruction = self.wanted.remove(key)?;
        let work = self.executor.start(&self.state, instruction, context);
        Some(Box::pin(async move { Box::new(work.await) as AnyOutcome }))
    }

    fn end(&self) -> Option<End> {
        M::end(&self.state)
    }

    fn dump(&self) -> Result<Json, serde_json::Error> {
        Json::of(&self.state)
    }

    fn restore(&mut self, state: &Json) -> Result<(), serde_json::Error> {
        self.state = state.read()?;
        Ok(())
    }
}

impl<M: Machine> Typed<M> {
    fn erase(&mut self, key: EffectKey, work: Work<M::Instruction>) -> (EffectKey, ErasedWork) {
        let work = match work {
            Work::Effect(Effect { instruction, recovery, reserve, deadline }) => {
                self.wanted.insert(key.clone(), instruction);
                ErasedWork::Effect(Effect { instruction: (), recovery, reserve, deadline })
            }
            Work::Child(spec) => ErasedWork::Child(spec),
            Work::Keep => ErasedWork::Keep,
            Work::Timer(at) => ErasedWork::Timer(at),
            Work::Person(question) => ErasedWork::Person(question),
        };
        (key, work)
    }
}

type Open1 = dyn Fn(&Json) -> Result<Box<dyn Node>, String> + Send + Sync;

/// The kinds of runs a program knows: how to make a machine from a frozen configuration.
#[derive(Default)]
pub struct Kinds {
    kinds: BTreeMap<SmolStr, Box<Open1>>,
    fingerprint: Vec<u8>,
}

impl Kinds {
    /// Knows no kinds yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the kind `M::KIND`: `open` makes the machine and its executor from the frozen configuration,
    /// or says why that cannot be.
    #[must_use]
    pub fn with<M: Machine>(
        mut self,
        open: impl Fn(&Json) -> Result<(M, Arc<dyn Executor<M>>), String> + Send + Sync + 'static,
    ) -> Self {
        // What a snapshot of this kind looks like: another shape of state has another fingerprint.
        let shape = serde_json::to_string(&M::State::default()).unwrap_or_default();
        let state = std::any::type_name::<M::State>();
        self.fingerprint.extend(format!("{}\0{}\0{state}\0{shape}\0", M::KIND, M::VERSION).bytes());
        self.kinds.insert(
            M::KIND.into(),
            Box::new(move |spec| {
                let (machine, executor) = open(spec)?;
                Ok(Box::new(Typed { machine, executor, state: M::State::default(), wanted: BTreeMap::new() }))
            }),
        );
        self
    }

    pub(crate) fn open(&self, kind: &SmolStr, spec: &Json) -> Result<Box<dyn Node>, Problem> {
        let open = self.kinds.get(kind).ok_or_else(|| Problem::UnknownKind(kind.clone()))?;
        open(spec).map_err(Problem::Configuration)
    }

    pub(crate) fn fingerprint(&self) -> ContentHash {
        ContentHash::of(&self.fingerprint)
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kinds.keys()).finish()
    }
}

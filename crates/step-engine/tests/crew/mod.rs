//! A small tree of machines for the engine's own tests: a crew of workers and nested crews in stages; a
//! worker studies (repeatable), asks a person where it must, waits, and acts once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use thermidor_step_engine::{
    BoxFuture, ChildSpec, Effect, EffectContext, EffectKey, End, EndStatus, Executor, How, Input, Kinds,
    Limits, Machine, Moment, Next, Open, Question, Refusal, Signal, Start, Work,
};
use thermidor_testing::{Twice, World};
use thermidor_types::{Json, Text, Timestamp, Tokens};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    #[serde(default)]
    pub(crate) asks: bool,
    #[serde(default)]
    pub(crate) pause: u64,
    #[serde(default)]
    pub(crate) crew: Vec<Job>,
}

pub(crate) fn job(name: &str, needs: &[&str]) -> Job {
    Job { name: name.into(), needs: needs.iter().map(|need| (*need).into()).collect(), ..Job::default() }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct WorkerState {
    began: bool,
    studied: Option<Text>,
    study: u32,
    approved: Option<bool>,
    rest_until: Option<Timestamp>,
    rested: bool,
    act: u32,
    acted: Option<Text>,
    lost: bool,
    stopping: Option<Signal>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum WorkerEvent {
    Began { rest_until: Timestamp },
    Studied(Text),
    StudyCutShort,
    Answered(bool),
    Rested,
    Acted(Text),
    ActLost,
    ActCutShort,
    Resolved { again: bool },
    EndAsked(Signal),
    Ended(End),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum WorkerCommand {
    Start,
    Answer(bool),
    Resolve { again: bool },
}

pub(crate) enum WorkerDo {
    Study,
    Act,
}

pub(crate) struct Worker(Job);

fn asked_to_end(signal: Signal) -> End {
    let status = if signal == Signal::Stop { EndStatus::Stopped } else { EndStatus::Limit };
    End::because(status, "asked to")
}

impl Machine for Worker {
    type State = WorkerState;
    type Command = WorkerCommand;
    type Instruction = WorkerDo;
    type Outcome = Option<Text>;
    type Event = WorkerEvent;
    const KIND: &'static str = "worker";
    const VERSION: u32 = 1;

    fn handle(
        &self,
        state: &WorkerState,
        input: Input<Self>,
        at: &Moment<'_>,
    ) -> Result<Vec<WorkerEvent>, Refusal> {
        Ok(match input {
            Input::Command(WorkerCommand::Start) => {
                vec![WorkerEvent::Began { rest_until: at.now.after(Duration::from_millis(self.0.pause)) }]
            }
            Input::Command(WorkerCommand::Answer(yes)) => {
                if state.approved.is_some() || !self.0.asks || state.studied.is_none() {
                    return Err(Refusal::new("nobody asked"));
                }
                vec![WorkerEvent::Answered(yes)]
            }
            Input::Command(WorkerCommand::Resolve { again }) => {
                if !state.lost {
                    return Err(Refusal::new("nothing is unknown"));
                }
                vec![WorkerEvent::Resolved { again }]
            }
            Input::Signal(_) if state.end.is_some() || state.stopping.is_some() => vec![],
            Input::Signal(signal) => vec![WorkerEvent::EndAsked(signal)],
            Input::Settled { key, how } => match (key.name(), how) {
                ("study", How::Done(Some(text))) => vec![WorkerEvent::Studied(text)],
                ("study", How::Done(None) | How::Abandoned | How::TimedOut | How::Unknown) => {
                    vec![WorkerEvent::StudyCutShort]
                }
                ("act", How::Done(Some(text))) => vec![WorkerEvent::Acted(text)],
                ("act", How::Done(None) | How::Abandoned) => vec![WorkerEvent::ActCutShort],
                ("act", How::Unknown | How::TimedOut) => vec![WorkerEvent::ActLost],
                ("rest", How::Fired) => vec![WorkerEvent::Rested],
                (name, how) => return Err(Refusal::new(format!("{name} settled as {:?}", how.kind()))),
            },
        })
    }

    fn apply(state: &mut WorkerState, event: &WorkerEvent) {
        match event {
            WorkerEvent::Began { rest_until } => {
                state.began = true;
                state.rest_until = Some(*rest_until);
            }
            WorkerEvent::Studied(text) => state.studied = Some(text.clone()),
            WorkerEvent::StudyCutShort => state.study += 1,
            WorkerEvent::Answered(yes) => state.approved = Some(*yes),
            WorkerEvent::Rested => state.rested = true,
            WorkerEvent::Acted(text) => state.acted = Some(text.clone()),
            WorkerEvent::ActCutShort => state.act += 1,
            WorkerEvent::ActLost => state.lost = true,
            WorkerEvent::Resolved { again } => {
                state.lost = false;
                state.act += 1;
                if !again {
                    state.acted = Some("assumed done".into());
                }
            }
            WorkerEvent::EndAsked(signal) => state.stopping = Some(*signal),
            WorkerEvent::Ended(end) => state.end = Some(end.clone()),
        }
    }

    fn next(&self, state: &WorkerState, open: &Open) -> Next<Self> {
        if let Some(signal) = state.stopping {
            if !open.is_empty() {
                return Next::Want(vec![]);
            }
            return Next::Record(vec![WorkerEvent::Ended(asked_to_end(signal))]);
        }
        let question =
            |kind: &str| Question { kind: kind.into(), text: "well?".into(), detail: Json::default() };
        let Some(studied) = &state.studied else {
            let work = Work::Effect(Effect::repeatable(WorkerDo::Study).reserving(Tokens(7)));
            return Next::Want(if state.began {
                vec![(EffectKey::new("study", state.study), work)]
            } else {
                vec![]
            });
        };
        if self.0.asks && state.approved.is_none() {
            return Next::Want(vec![(EffectKey::new("ask", 1), Work::Person(question("approve")))]);
        }
        if self.0.pause > 0 && !state.rested {
            let until = state.rest_until.unwrap_or_default();
            return Next::Want(vec![(EffectKey::new("rest", 1), Work::Timer(until))]);
        }
        if state.lost {
            return Next::Want(vec![(EffectKey::new("lost", state.act), Work::Person(question("lost")))]);
        }
        match &state.acted {
            None => Next::Want(vec![(
                EffectKey::new("act", state.act),
                Work::Effect(Effect::once(WorkerDo::Act)),
            )]),
            Some(_) => Next::Record(vec![WorkerEvent::Ended(End::done(
                Json::of(studied.as_str()).expect("a string"),
            ))]),
        }
    }

    fn end(state: &WorkerState) -> Option<End> {
        state.end.clone()
    }
}

pub(crate) struct Hands {
    world: World,
    job: Job,
}

impl Executor<Worker> for Hands {
    fn start(
        &self,
        _: &WorkerState,
        instruction: WorkerDo,
        context: EffectContext,
    ) -> BoxFuture<Option<Text>> {
        let (world, name) = (self.world.clone(), self.job.name.clone());
        Box::pin(async move {
            let (what, twice) = match instruction {
                WorkerDo::Study => ("study", Twice::Harmless),
                WorkerDo::Act => ("act", Twice::Forbidden),
            };
            context.delta("text", what);
            context.spend(Tokens(5), None);
            let done = world.work(&format!("{name} {what}"), twice, context.cancellation()).await;
            done.then(|| format!("{name} {what}").into())
        })
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CrewState {
    began: bool,
    results: BTreeMap<String, End>,
    stopping: Option<Signal>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum CrewEvent {
    Began,
    Finished { job: String, end: End },
    EndAsked(Signal),
    Ended(End),
}

pub(crate) enum Nothing {}

pub(crate) struct Crew(Job);

impl Machine for Crew {
    type State = CrewState;
    type Command = WorkerCommand;
    type Instruction = Nothing;
    type Outcome = Nothing;
    type Event = CrewEvent;
    const KIND: &'static str = "crew";
    const VERSION: u32 = 1;

    fn handle(
        &self,
        state: &CrewState,
        input: Input<Self>,
        _: &Moment<'_>,
    ) -> Result<Vec<CrewEvent>, Refusal> {
        Ok(match input {
            Input::Command(WorkerCommand::Start) => vec![CrewEvent::Began],
            Input::Command(_) => return Err(Refusal::new("a crew has no questions")),
            Input::Signal(_) if state.end.is_some() || state.stopping.is_some() => vec![],
            Input::Signal(signal) => vec![CrewEvent::EndAsked(signal)],
            Input::Settled { key, how: How::Child(child) } => {
                let job =
                    self.0.crew.get(key.number() as usize).map(|job| job.name.clone()).unwrap_or_default();
                vec![CrewEvent::Finished { job, end: child.end }]
            }
            Input::Settled { key, how } => {
                return Err(Refusal::new(format!("{key} settled as {:?}", how.kind())));
            }
        })
    }

    fn apply(state: &mut CrewState, event: &CrewEvent) {
        match event {
            CrewEvent::Began => state.began = true,
            CrewEvent::Finished { job, end } => {
                state.results.insert(job.clone(), end.clone());
            }
            CrewEvent::EndAsked(signal) => state.stopping = Some(*signal),
            CrewEvent::Ended(end) => state.end = Some(end.clone()),
        }
    }

    fn next(&self, state: &CrewState, open: &Open) -> Next<Self> {
        if let Some(signal) = state.stopping {
            if !open.is_empty() {
                return Next::Want(vec![]);
            }
            return Next::Record(vec![CrewEvent::Ended(asked_to_end(signal))]);
        }
        let ready = self.0.crew.iter().enumerate().filter(|(_, job)| {
            state.began
                && !state.results.contains_key(&job.name)
                && job.needs.iter().all(|need| state.results.contains_key(need))
        });
        let wants: Vec<_> = ready
            .map(|(number, job)| {
                let key = EffectKey::new("job", u32::try_from(number).expect("few jobs"));
                let kind = if job.crew.is_empty() { Worker::KIND } else { Crew::KIND };
                let work = if open.contains(&key) {
                    Work::Keep
                } else {
                    Work::Child(ChildSpec {
                        kind: kind.into(),
                        spec: Json::of(job).expect("a job"),
                        command: Json::of(&WorkerCommand::Start).expect("a command"),
                        limits: Limits::INHERITED,
                    })
                };
                (key, work)
            })
            .collect();
        if wants.is_empty() && state.began {
            let results = Json::of(&state.results).expect("results");
            return Next::Record(vec![CrewEvent::Ended(End::done(results))]);
        }
        Next::Want(wants)
    }

    fn end(state: &CrewState) -> Option<End> {
        state.end.clone()
    }
}

pub(crate) struct NoHands;

impl Executor<Crew> for NoHands {
    fn start(&self, _: &CrewState, instruction: Nothing, _: EffectContext) -> BoxFuture<Nothing> {
        match instruction {}
    }
}

pub(crate) fn kinds(world: &World) -> Kinds {
    let world = world.clone();
    Kinds::new()
        .with::<Crew>(|spec| Ok((Crew(spec.read().map_err(|error| error.to_string())?), Arc::new(NoHands))))
        .with::<Worker>(move |spec| {
            let job: Job = spec.read().map_err(|error| error.to_string())?;
            if job.name.is_empty() {
                return Err("a job has a name".into());
            }
            Ok((Worker(job.clone()), Arc::new(Hands { world: world.clone(), job })))
        })
}

/// plan → (front ∥ back, which rests long, ∥ inner crew (a asks, b rests)) → sum
pub(crate) fn start(limits: Limits) -> Start {
    let asking = Job { asks: true, ..job("a", &[]) };
    let resting = Job { pause: 20, ..job("b", &[]) };
    let inner = Job { crew: vec![asking, resting], ..job("inner", &["plan"]) };
    let back = Job { pause: 20_000, ..job("back", &["plan"]) };
    let sum = job("sum", &["front", "back", "inner"]);
    let crew = vec![job("plan", &[]), job("front", &["plan"]), back, inner, sum];
    Start {
        kind: Crew::KIND.into(),
        spec: Json::of(&Job { crew, ..job("root", &[]) }).expect("a job"),
        command: Json::of(&WorkerCommand::Start).expect("a command"),
        limits,
        title: "a crew".into(),
    }
}

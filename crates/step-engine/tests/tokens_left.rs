//! What an effect is told of the tokens that the limits above it leave.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thermidor_step_engine::{
    BoxFuture, ChildSpec, Driven, Effect, EffectContext, EffectKey, End, EndStatus, Engine, Executor, Input,
    Kinds, Limits, Machine, MemoryJournal, Moment, Next, Open, Refusal, Signal, Start, Work,
};
use thermidor_testing::TokioClock;
use thermidor_types::{Ids, Json, SequentialIds, Tokens, TreeId};
use tokio_util::sync::CancellationToken;

/// Runs its effects beside each other, then the nest below, if there is one, and ends.
#[derive(Clone, Serialize, Deserialize)]
struct Nest {
    effects: u32,
    below: Option<Box<Below>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Below {
    tokens: Option<Tokens>,
    nest: Nest,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    settled: Vec<EffectKey>,
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
enum Event {
    Began,
    Settled(EffectKey),
    Ended(EndStatus),
}

impl Machine for Nest {
    type State = State;
    type Command = ();
    type Instruction = ();
    type Outcome = ();
    type Event = Event;
    const KIND: &'static str = "nest";
    const VERSION: u32 = 1;

    fn handle(&self, _: &State, input: Input<Self>, _: &Moment<'_>) -> Result<Vec<Event>, Refusal> {
        Ok(vec![match input {
            Input::Command(()) => Event::Began,
            Input::Settled { key, .. } => Event::Settled(key),
            Input::Signal(Signal::Stop) => Event::Ended(EndStatus::Stopped),
            Input::Signal(Signal::Limit) => Event::Ended(EndStatus::Limit),
        }])
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::Began => {}
            Event::Settled(key) => state.settled.push(key.clone()),
            Event::Ended(status) => state.end = Some(End::because(*status, "as it should")),
        }
    }

    fn next(&self, state: &State, open: &Open) -> Next<Self> {
        let keys = (1..=self.effects).map(|number| EffectKey::new("effect", number));
        let wanted: Vec<_> = keys.filter(|key| !state.settled.contains(key)).collect();
        if !wanted.is_empty() {
            let work = || Work::Effect(Effect::repeatable(()).reserving(Tokens(50)));
            return Next::Want(wanted.into_iter().map(|key| (key, work())).collect());
        }
        let key = EffectKey::new("below", 1);
        match &self.below {
            Some(_) if open.contains(&key) => Next::Want(vec![(key, Work::Keep)]),
            Some(below) if !state.settled.contains(&key) => {
                let spec = Json::of(&below.nest).expect("a nest");
                let limits = Limits { tokens: below.tokens, ..Limits::INHERITED };
                let child = ChildSpec { kind: Self::KIND.into(), spec, command: Json::default(), limits };
                Next::Want(vec![(key, Work::Child(child))])
            }
            Some(_) | None => Next::Record(vec![Event::Ended(EndStatus::Done)]),
        }
    }

    fn end(state: &State) -> Option<End> {
        state.end.clone()
    }
}

/// Notes what is left, and spends ten.
#[derive(Clone, Default)]
struct Purse(Arc<Mutex<Vec<Option<Tokens>>>>);

impl Executor<Nest> for Purse {
    fn start(&self, _: &State, (): (), context: EffectContext) -> BoxFuture<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(context.tokens_left());
        Box::pin(async move { context.spend(Tokens(10), None) })
    }
}

/// What the effects of a run with the limit `tokens` are told, in order.
async fn told(tokens: Option<u64>, nest: &Nest) -> Vec<Option<u64>> {
    let purse = Purse::default();
    let executor = purse.clone();
    let kinds = Kinds::new().with::<Nest>(move |spec| {
        let nest = spec.read().map_err(|error| error.to_string())?;
        Ok((nest, Arc::new(executor.clone())))
    });
    let engine = Engine::new(Arc::new(MemoryJournal::new()), kinds, TokioClock::new()).audited();
    let tree = TreeId::from(SequentialIds::default().next());
    let start = Start {
        kind: Nest::KIND.into(),
        spec: Json::of(nest).expect("a nest"),
        command: Json::default(),
        limits: Limits { tokens: tokens.map(Tokens), ..Limits::default() },
        title: "nests".into(),
    };
    engine.start(tree, start).await.expect("it starts");
    let driven = engine.drive(tree, &CancellationToken::new()).await.expect("it is driven");
    assert!(matches!(driven, Driven::Ended(end) if end.status == EndStatus::Done));
    let told = purse.0.lock().unwrap_or_else(PoisonError::into_inner);
    told.iter().map(|left| left.map(|left| left.0)).collect()
}

fn nest(effects: u32, below: Option<(Option<u64>, Nest)>) -> Nest {
    let below = below.map(|(tokens, nest)| Box::new(Below { tokens: tokens.map(Tokens), nest }));
    Nest { effects, below }
}

/// Would fail if an effect were told its own run's rest alone, or its own reservation were taken from it, or
/// that of an effect beside it were not.
#[tokio::test(start_paused = true)]
async fn an_effect_is_told_the_least_that_is_left_above_it() {
    let check = async |tokens, nest: Nest, expected: &[Option<u64>]| {
        assert_eq!(told(tokens, &nest).await, expected);
    };
    check(Some(1_000), nest(1, None), &[Some(1_000)]).await;
    check(None, nest(1, Some((None, nest(2, None)))), &[None, None, None]).await;
    // 990 are left above, 500 in the run: the tighter one counts, less the other effect's 50.
    let two = nest(2, None);
    check(Some(1_000), nest(1, Some((Some(500), two.clone()))), &[Some(1_000), Some(450), Some(450)]).await;
    check(Some(300), nest(1, Some((Some(500), two.clone()))), &[Some(300), Some(240), Some(240)]).await;
    check(None, nest(1, Some((Some(500), two))), &[None, Some(450), Some(450)]).await;
    // A limit in the middle, one above it, none and a wide one below it.
    let deepest = nest(1, Some((Some(5_000), nest(1, None))));
    let middle = nest(2, Some((None, deepest)));
    check(
        Some(1_000),
        nest(1, Some((Some(500), middle))),
        &[Some(1_000), Some(450), Some(450), Some(480), Some(470)],
    )
    .await;
}

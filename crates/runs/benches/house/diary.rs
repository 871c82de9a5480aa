//! A plain machine: one effect and one message of 400 characters a step, all of them kept in its state.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thermidor_step_engine::{
    BoxFuture, Effect, EffectContext, EffectKey, End, Executor, How, Input, Kinds, Machine, Moment, Next,
    Open, Refusal, Work,
};
use thermidor_types::{Chunked, Json, Text};
use tokio_util::sync::CancellationToken;

use crate::meter::Meter;

/// Writes pages until there are enough.
pub(crate) struct Diary {
    pages: u32,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct State {
    pages: Chunked<Text>,
    wanted: u32,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Event {
    Began { pages: u32 },
    Wrote(Text),
}

impl Machine for Diary {
    type State = State;
    type Command = ();
    type Instruction = ();
    type Outcome = Text;
    type Event = Event;
    const KIND: &'static str = "diary";
    const VERSION: u32 = 1;

    fn handle(&self, _: &State, input: Input<Self>, _: &Moment<'_>) -> Result<Vec<Event>, Refusal> {
        Ok(match input {
            Input::Command(()) => vec![Event::Began { pages: self.pages }],
            Input::Settled { how: How::Done(page), .. } => vec![Event::Wrote(page)],
            Input::Settled { .. } | Input::Signal(_) => Vec::new(),
        })
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::Began { pages } => state.wanted = *pages,
            Event::Wrote(page) => state.pages.push(page.clone()),
        }
    }

    fn next(&self, state: &State, _: &Open) -> Next<Self> {
        let page = u32::try_from(state.pages.len()).unwrap_or(u32::MAX);
        let more = page < state.wanted;
        Next::Want(
            more.then(|| (EffectKey::new("page", page), Work::Effect(Effect::repeatable(()))))
                .into_iter()
                .collect(),
        )
    }

    fn end(state: &State) -> Option<End> {
        let full = state.wanted > 0 && state.pages.len() >= state.wanted as usize;
        full.then(|| End::done(Json::default()))
    }
}

/// Notes the time of each step, and stops for the night before a given page.
#[derive(Clone, Default)]
pub(crate) struct Pen {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    steps: Vec<Meter>,
    night: Option<(u32, CancellationToken)>,
}

impl Pen {
    /// Lets go of the diary before the page of this number.
    pub(crate) fn stop_before(&self, page: u32, suspend: CancellationToken) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).night = Some((page, suspend));
    }

    /// The beginning of each step so far.
    pub(crate) fn steps(&self) -> Vec<Meter> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).steps.clone()
    }
}

impl Executor<Diary> for Pen {
    fn start(&self, _: &State, (): (), context: EffectContext) -> BoxFuture<Text> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.steps.push(Meter::start());
        let night = inner.night.as_ref().filter(|(page, _)| *page == context.key().number());
        if let Some((_, suspend)) = night {
            suspend.cancel();
            // It is left open, as by a process that died.
            return Box::pin(std::future::pending());
        }
        Box::pin(async move { Text::from("four hundred letters".repeat(20)) })
    }
}

/// The kinds of a program that keeps diaries.
pub(crate) fn kinds(pages: u32, pen: Pen) -> Kinds {
    Kinds::new()
        .with::<Diary>(move |_| Ok((Diary { pages }, Arc::new(pen.clone()) as Arc<dyn Executor<Diary>>)))
}

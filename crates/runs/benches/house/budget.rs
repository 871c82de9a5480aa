//! A long conversation into a budget of tokens.

use std::sync::Arc;

use thermidor_context_engine::{ContextEngine, Room, TiktokenCounter, View, steps::SystemRole};
use thermidor_types::{Chunked, Message, ModelCard, Timestamp, Tokens};

use crate::{
    Bench, Error, Row,
    meter::{Meter, millis},
    runtime::{one_thread, spawned},
};

const FIGURE: &str = "token budget";
const WORDS: [&str; 16] = [
    "the",
    "worker",
    "reports",
    "that",
    "part",
    "of",
    "the",
    "plan",
    "src/mod_17/file_3.rs:214",
    "finished",
    "исполнитель",
    "tests",
    "482913",
    "questions",
    "DeadlineReviewer()",
    "оценка",
];

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let count = bench.pick(10_000, 2_000);
    let history: Chunked<Arc<Message>> = (0..count).map(message).map(Arc::new).collect();
    let runtime = one_thread()?;
    let mut rows = Vec::new();
    for (window, words) in [(1_000_000_000, "all of it fits"), (128_000, "most of it is cut")] {
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for _ in 0..bench.pick(5, 2) {
            let model: thermidor_types::ModelId = "openai/gpt-5".parse()?;
            let counter = TiktokenCounter::for_model(&model);
            // An engine has one memory of counts; a fresh engine has none. The vocabulary is read before.
            thermidor_context_engine::TokenCounter::count(&counter, "warm");
            let engine = ContextEngine::standard()
                .provider(SystemRole::new("You supervise."))
                .counter(counter)
                .build()?;
            let card = ModelCard::unknown(model, Tokens(window));
            let view = View { history: history.clone(), ..View::new(Timestamp::default(), card, "Go on") };
            let (one, more) = spawned(&runtime, async move {
                let room = Room { answer: Tokens(4_000) };
                let meter = Meter::start();
                engine.prompt(view.clone(), Vec::new(), room).await?;
                let one = millis(meter.read().wall);
                let mut more = Vec::new();
                for _ in 0..5 {
                    let meter = Meter::start();
                    engine.prompt(view.clone(), Vec::new(), room).await?;
                    more.push(millis(meter.read().wall));
                }
                Ok((one, more))
            })?;
            first.push(one);
            again.extend(more);
        }
        let how = format!("{count} messages of 400 characters, counted with o200k_base; window {window}");
        rows.push(
            Row::of(FIGURE, format!("{count} messages, first time, {words}"), "ms wall", first)
                .at_most(250.0)
                .how(how),
        );
        rows.push(
            Row::of(FIGURE, format!("{count} messages, counts cached, {words}"), "ms wall", again)
                .at_most(5.0),
        );
    }
    Ok(rows)
}

/// A message of some 400 characters, prose, code and another script, different for each index.
fn message(index: usize) -> Message {
    let mut text = format!("{index}");
    let mut at = index;
    while text.len() < 400 {
        at = at.wrapping_mul(31).wrapping_add(7);
        text.push(' ');
        text.push_str(WORDS[(at >> 3) % WORDS.len()]);
    }
    if index.is_multiple_of(2) { Message::user(text) } else { Message::assistant(text) }
}

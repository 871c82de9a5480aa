//! How long it takes to fit a conversation of 10,000 messages into a window, counted for the first time and again.
//!
//! `cargo run --release -p thermidor-context-engine --example ten_thousand`
#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::sync::Arc;

use thermidor_context_engine::{ContextEngine, Room, TiktokenCounter, TokenCounter, View, steps::SystemRole};
use thermidor_types::{Message, ModelCard, Timestamp, Tokens};
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prose =
        "The meeting moved to Thursday, because the room was taken; please confirm, and bring the figures. ";
    let message = |n: usize| {
        let text = format!("{n}: {}", prose.repeat(4));
        if n.is_multiple_of(2) { Message::user(text) } else { Message::assistant(text) }
    };
    let history: Vec<Arc<Message>> = (0..10_001).map(|n| Arc::new(message(n))).collect();
    let model = "openai/gpt-5".parse()?;

    let start = Instant::now();
    TiktokenCounter::for_model(&model).count("read the vocabulary");
    println!("vocabulary read: {:.1?}", start.elapsed());

    for window in [128_000, 10_000_000, 400_000] {
        let engine = ContextEngine::standard()
            .provider(SystemRole::new("You help."))
            .counter(TiktokenCounter::for_model(&model))
            .build()?;
        let card = ModelCard::unknown(model.clone(), Tokens(window));
        let view =
            View { history: history.iter().cloned().collect(), ..View::new(Timestamp::default(), card, "") };
        for round in ["first time", "again", "again"] {
            let start = Instant::now();
            let prompt = engine.prompt(view.clone(), vec![], Room { answer: Tokens(8_000) }).await?;
            let (sent, total, time) = (prompt.messages.len(), prompt.report.total, start.elapsed());
            println!(
                "window {window:>10}, {round:<10}: {sent:>6} messages of {total:>7} tokens in {time:.1?}"
            );
        }
    }
    Ok(())
}

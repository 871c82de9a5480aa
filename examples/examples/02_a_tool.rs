//! 02 · A tool.
//!
//! Shows: a tool is a function whose argument describes itself; a model calls it when it wants to know
//! something. The calculator ships with Thermidor.
//! Runs offline: the rehearsal model calls the tools that the sentence names.
//!
//! Try next: return `Err("…")` from the closure and see what the model makes of it; give the tool a second
//! field; leave `.with(ToolSpec::pure)` away, and the tool counts as one that may do anything.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use serde::Deserialize;
use thermidor::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Steep {
    /// The sort of tea: black, green or herbal.
    tea: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let steeping_time = tool_fn("steeping_time", "Says how long a tea steeps", async |Steep { tea }| {
        let minutes = if tea.contains("green") { 2 } else { 4 };
        format!("{minutes} minutes")
    });
    let agent = Agent::new("tea master", "You answer questions about tea.")
        .models(Models::from_env()?)
        .tool(steeping_time.with(ToolSpec::pure))
        .tool(Calculator::default());

    let question = "Look up the steeping_time of green tea, and have the calculator work out 3 * 2.5.";
    let run = agent.start(question).await?;
    let mut events = run.events().await?;
    while let Some(event) = events.next().await {
        match event?.kind {
            RunEventKind::ToolCalled { tool, arguments, .. } => println!("→ {tool} {arguments}"),
            RunEventKind::ToolFinished { text, .. } => println!("← {text}"),
            _ => {}
        }
    }
    println!("\n{}", run.answer().await?);
    Ok(())
}

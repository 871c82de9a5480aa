//! 01 · Hello, agent.
//!
//! Shows: an agent is a name and a persona. It is asked, and it answers.
//! Runs offline: without a key the built-in rehearsal model answers and says so.
//!
//! Try next: `export DEEPSEEK_API_KEY=…` (or `OPENAI_API_KEY`, `DASHSCOPE_API_KEY`, …) and run it again; name
//! a model with `.model("deepseek/deepseek-chat")`; put a sentence of your own behind `--`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor::prelude::*;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let request = std::env::args().nth(1).unwrap_or("A tea timer for forgetful readers".into());
    let agent =
        Agent::new("planner", "You plan small projects, in at most 80 words.").models(Models::from_env()?);

    println!("{}", agent.ask(request).await?);
    Ok(())
}

//! 03 · A team from a file.
//!
//! Shows: who works, on what and in which order stands in `03_newsroom.toml`, beside this program; what
//! happens is a stream of events, and the words arrive while they are written.
//!
//! Try next: change a prompt in the file and run again, nothing is compiled; let two stages need the same one,
//! and they run side by side; misspell a key and read what it says.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::io::Write as _;

use thermidor::prelude::*;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/03_newsroom.toml");

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let team = Team::from_file(FILE)?.models(Models::from_env()?);
    let run = team.start("A small town opens its library at night").await?;

    let mut events = run.events().await?;
    while let Some(event) = events.next().await {
        match event?.kind {
            RunEventKind::TurnStarted { turn, name, title, .. } => println!("── {turn}. {title} · {name}\n"),
            RunEventKind::Delta { text, channel, .. } if channel == "text" => {
                print!("{text}");
                std::io::stdout().flush()?;
            }
            RunEventKind::TurnEnded { usage, .. } => println!("\n\n   {} tokens\n", usage.total()),
            _ => {}
        }
    }
    run.answer().await?;
    Ok(())
}

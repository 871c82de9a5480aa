//! 04 · Your own context.
//!
//! Shows: a context provider puts something into the prompt, a message processor changes what is sent, and the
//! report says what the model was shown, block by block, with its tokens, and what was left out and why.
//!
//! Try next: ask for the pool; give the notes `.max_tokens(Tokens(8))`; return an error from the provider: the
//! prompt goes on without it, and the report warns.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor::{context_engine, prelude::*};

/// What a hotel knows, a block for each subject.
struct Notes;

#[async_trait]
impl ContextProvider for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    async fn contribute(&self, _: &View) -> Result<Vec<Contribution>, context_engine::Error> {
        let notes = [
            ("library", "The library on the third floor is quiet until six."),
            ("pool", "The pool is closed on Mondays."),
            ("breakfast", "Breakfast ends at ten."),
        ];
        let block = |(about, note)| Contribution::last_user("note", note).attribute("about", about);
        Ok(notes.map(block).into())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let to_the_point = processor_fn("to-the-point", |draft, view| {
        draft.retain("not asked about", |unit| match unit.contribution() {
            Some(note) if note.tag == "note" => {
                note.attributes.iter().all(|(_, about)| view.request.contains(&**about))
            }
            _ => true,
        });
        Ok(())
    });
    let agent = Agent::new("concierge", "You help guests, in at most 60 words.")
        .models(Models::from_env()?)
        .context(Notes)
        .processor(to_the_point);

    let run = agent.start("Is there a library, and can I take my breakfast there?").await?;
    let mut events = run.events().await?;
    while let Some(event) = events.next().await {
        if let RunEventKind::Said { context: Some(report), .. } = event?.kind {
            println!("What the model was shown:\n\n{report}\n");
        }
    }
    println!("What it said:\n\n{}", run.answer().await?);
    Ok(())
}

//! 05 · Your own supervisor.
//!
//! Shows: a supervisor decides who acts next. It is asked whenever something is new, looks at the group, and
//! says what it newly wants and why; members see what was said before and pass their work on.
//!
//! Try next: send the draft back until the reviewer has nothing to say (keep a limit: `Team::limits`); let a
//! closure be the supervisor; note something in `Decision::notes` and read it in `GroupView::notes`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor::prelude::*;

/// One writes, two read at the same time, the first one writes again.
struct Editor;

impl Supervisor for Editor {
    fn decide(&self, group: &GroupView<'_>) -> Decision {
        let call = |member: &str, stage: &str, task: &str| Call::new(member).stage(stage, stage).saying(task);
        match group.turns().len() {
            0 => {
                let draft =
                    call("author", "draft", "Write a first draft about {{ request }}, at most 50 words.");
                Decision::new([draft.into()], "somebody has to begin")
            }
            1 => {
                let readers = vec![
                    call("reader", "reading", "Say in at most 40 words what in the draft is not clear."),
                    call("checker", "checking", "Say in at most 40 words what in the draft may be wrong."),
                ];
                Decision::new([Decide::CallParallel(readers)], "two pairs of eyes at once")
            }
            3 => {
                let again = call("author", "final", "Write it again with what both said, at most 80 words.");
                Decision::new([again.into()], "both have read it")
            }
            _ => Decision::new([Decide::finish("the text is ready")], "it went round once"),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let team = Team::new("desk")
        .member(Agent::new("author", "You write short texts."))
        .member(Agent::new("reader", "You read as somebody who hears of it for the first time."))
        .member(Agent::new("checker", "You doubt every figure and every promise."))
        .supervisor(Editor)
        .models(Models::from_env()?);

    let run = team.start("A lamp that dims when the moon is full").await?;
    let mut events = run.events().await?;
    while let Some(event) = events.next().await {
        match event?.kind {
            RunEventKind::Decided { instruction, because, .. } => println!("── {instruction}: {because}\n"),
            RunEventKind::TurnEnded { member, text, .. } => println!("{member}:\n{text}\n"),
            _ => {}
        }
    }
    run.answer().await?;
    Ok(())
}

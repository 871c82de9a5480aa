//! `thermidor runs tail`

use std::time::Duration;

use thermidor_runs::{RunEvent, RunEventKind};
use thermidor_step_engine::{EndStatus, TreeState};
use thermidor_types::Text;

use crate::{
    args::Show,
    display::Display,
    exit::{Exit, Trouble},
    find_run::{find, short},
    follow,
    interrupt::Interrupts,
    screen::Screen,
    settings::Settings,
    store,
};

/// Follows a run to its end, whoever drives it. Looks only: stopping this command stops nothing else.
pub(super) async fn tail(
    id: &str,
    json: bool,
    verbose: bool,
    settings: &Settings,
    screen: Screen,
) -> Result<(), Trouble> {
    let runs = store::look(&settings.places)?.ok_or_else(|| Trouble::usage("there are no runs yet"))?;
    let summary = find(&runs, id).await?;
    let run = summary.row.tree;
    let show = Show { output: None, json, quiet: false, verbose };
    let mut display = follow::display(screen, &show, None);
    let mut interrupts = Interrupts::catch()?;
    let resume = format!("thermidor runs resume {}", short(run));
    let (mut answer, mut seen) = (None, 0);
    for event in runs.show(run).await?.events {
        seen = event.seq;
        answer = tell(&event, &mut *display, &resume)?;
    }
    if answer.is_none() {
        if summary.is_interrupted() || summary.row.status.state == TreeState::Suspended {
            display.note(&format!("Nobody drives this run now. Go on with it: {resume}"));
            display.note("Waiting until somebody does (Ctrl-C ends the waiting) …");
        }
        let mut events = runs.tail(run, seen).await?;
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        loop {
            tokio::select! {
                event = events.next() => {
                    let Some(event) = event else { break };
                    answer = tell(&event?, &mut *display, &resume)?;
                }
                _ = ticks.tick() => display.tick(),
                () = interrupts.next() => {
                    display.close();
                    return Err(Trouble::quiet(Exit::Stopped));
                }
            }
        }
    }
    display.close();
    match answer {
        Some(text) if !json && !text.is_empty() => Ok(screen.answer(&text)?),
        _ => Ok(()),
    }
}

/// Shows an event. Gives the answer when it is the run's end, an empty one when it is not done.
fn tell(event: &RunEvent, display: &mut dyn Display, resume: &str) -> Result<Option<Text>, Trouble> {
    display.event(event)?;
    match &event.kind {
        RunEventKind::RunSuspended => display.note(&format!("The run was let go. Go on with it: {resume}")),
        RunEventKind::RunParked => display.note("The run waits for an answer."),
        RunEventKind::RunEnded { status: EndStatus::Done, text, .. } => return Ok(Some(text.clone())),
        RunEventKind::RunEnded { status, reason, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {}", crate::words::one_line(reason)));
            let reason = reason.unwrap_or_default();
            display.note(&format!("The run ended: {}{reason}", crate::timeline::status(*status)));
            return Ok(Some(Text::default()));
        }
        _ => {}
    }
    Ok(None)
}

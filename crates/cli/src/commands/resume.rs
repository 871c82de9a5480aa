//! `thermidor runs resume`

use thermidor_group_orchestration::{GroupSpec, SupervisorSpec};
use thermidor_runs::delivery;
use thermidor_step_engine::{EndStatus, Fact, NodeId, Record, TreeState};

use super::run::{extras, holds, within};
use crate::{
    args::{Limits, Show, Tape},
    ending,
    exit::Trouble,
    find_run::{find, short},
    follow,
    interrupt::Interrupts,
    providers::{self, Extras},
    screen::Screen,
    settings::Settings,
    store,
    tape::{Begin, Take},
};

/// Goes on with a run where it was, and follows it. One that is done already gives its answer once more.
pub(super) async fn resume(
    id: &str,
    flags: Limits,
    tape: &Tape,
    show: &Show,
    settings: &Settings,
    screen: Screen,
) -> Result<(), Trouble> {
    if !settings.places.database().exists() {
        return Err(Trouble::usage("there are no runs yet"));
    }
    let take = Take::of(tape, Begin::OnWith)?;
    let extras = Extras { take: take.clone(), ..extras(screen) };
    let tries = extras.tries.clone();
    let models = providers::runtime(settings, Extras { take: Take::Live, ..extras.clone() })?;
    let runs = store::open(&settings.places, providers::runtime(settings, extras)?, tries, &take)?;
    let summary = find(&runs, id).await?;
    let run = summary.row.tree;
    let records = runs.engine().records(run, 0).await.map_err(thermidor_runs::Error::from)?;
    let raised = flags.max_turns.is_some()
        || flags.max_tokens.is_some()
        || flags.max_cost.is_some()
        || flags.timeout.is_some();
    if !raised && summary.row.status.state == TreeState::Ended(EndStatus::Limit) {
        let limit = records.iter().rev().find_map(|record| match record.fact {
            Fact::Limited { limit } => Some(limit),
            _ => None,
        });
        let (short, flag) = (short(run), ending::raise(limit));
        let message = format!(
            "run {short} ended at its limit; raise it: thermidor runs resume {short} {flag} ({})",
            ending::COUNTED
        );
        return Err(Trouble::usage(message));
    }
    if let Some((limit, group)) = flags.max_cost.zip(group(&records)) {
        holds(limit, &super::run::models(&group), &models)?;
    }
    if let Some(folder) = &show.output {
        delivery::check(folder).map_err(|error| Trouble::usage(format!("--output: {error}")))?;
    }
    if summary.row.status.state == TreeState::Ended(EndStatus::Done)
        && let Some(ended) = runs.ended(run).await?
    {
        // A script that resumes what may have been done in the last moment gets what it came for.
        let mut display = follow::display(screen, show, stages(&records));
        display.note(&format!(
            "Run {} is done already: nothing is left to do. This is what it made.",
            short(run)
        ));
        if let Some(last) = runs.show(run).await?.events.last().filter(|_| show.json) {
            display.event(last)?;
        }
        return follow::hand_over(run, &ended, screen, show, &mut *display);
    }
    let limits = if raised { current(&records).map(|limits| within(limits, flags)) } else { None };
    let history = runs.show(run).await?;
    let mut display = follow::display(screen, show, stages(&records));
    let interrupts = Interrupts::catch()?;
    let run = runs.resume(run, limits).await?;
    if !show.quiet {
        screen.note(&format!("Run {} goes on.", short(run.id())));
    }
    display.recall(&history.events);
    follow::follow(run, screen, show, display, interrupts).await
}

/// The limits that bind the root now.
fn current(records: &[Record]) -> Option<thermidor_step_engine::Limits> {
    let of_root = records.iter().rev().filter(|record| record.node == NodeId::ROOT);
    of_root.into_iter().find_map(|record| match &record.fact {
        Fact::Opened(opened) => Some(opened.limits),
        Fact::Relimited(limits) => Some(**limits),
        _ => None,
    })
}

/// The number of stages that the run's team has.
fn stages(records: &[Record]) -> Option<usize> {
    match group(records)?.supervisor {
        SupervisorSpec::Graph(graph) => Some(graph.stages.len()),
        SupervisorSpec::Custom { .. } => None,
    }
}

/// The group that the run is of.
fn group(records: &[Record]) -> Option<GroupSpec> {
    let root = records.iter().find_map(|record| match &record.fact {
        Fact::Opened(opened) if record.node == NodeId::ROOT && opened.kind == "group" => Some(opened),
        _ => None,
    })?;
    root.spec.read::<GroupSpec>().ok()
}

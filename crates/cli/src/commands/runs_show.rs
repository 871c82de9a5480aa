//! `thermidor runs show`

use std::fmt::Write as _;

use thermidor_runs::{RunEvent, RunEventKind};
use thermidor_step_engine::EndStatus;
use thermidor_types::{Ending, TreeId};

use super::runs_ls::state;
use crate::{
    display::line,
    ending,
    exit::Trouble,
    find_run::{find, short},
    screen::{Paint, Screen},
    settings::Settings,
    store,
    table::Table,
    timeline::{Timeline, status},
    words,
};

/// Draws the timeline, or what one turn saw, or prints the events.
pub(super) async fn show(
    id: &str,
    context: Option<u32>,
    as_json: bool,
    settings: &Settings,
    screen: Screen,
) -> Result<(), Trouble> {
    let runs = store::look(&settings.places)?.ok_or_else(|| Trouble::usage("there are no runs yet"))?;
    let summary = find(&runs, id).await?;
    let run = summary.row.tree;
    let history = runs.show(run).await?;
    if as_json {
        for event in &history.events {
            screen.print(&line(event)?)?;
        }
        return Ok(());
    }
    if let Some(turn) = context {
        return Ok(screen.print(&contexts(&history.events, turn, run)?)?);
    }
    let text = draw(run, &Timeline::of(&history.events), state(&summary), screen.out_paint);
    Ok(screen.print(&text)?)
}

fn draw(run: TreeId, timeline: &Timeline, state: &str, paint: Paint) -> String {
    let painted = match timeline.end.as_ref().map(|(status, _)| *status) {
        Some(EndStatus::Done) => paint.green(state),
        Some(EndStatus::Failed) => paint.red(state),
        _ => paint.yellow(state),
    };
    let took = words::time(timeline.took);
    let team = words::one_line(&timeline.team);
    let mut text = format!("{} · {painted} · {took}\n", paint.bold(&team));
    let request = words::one_line(&timeline.request);
    let _ =
        writeln!(text, "{}\n{}\n", console::truncate_str(&request, 100, "…"), paint.dim(&run.to_string()));
    let axis = format!("0 s{took:>21}");
    let head = ["#", "stage", "member", "status", "start", "time", axis.as_str(), "in", "out", "cost", ""];
    let mut table = Table::new(&head, &[0, 4, 5, 7, 8, 9]);
    for row in &timeline.rows {
        let at_work = if timeline.end.is_none() && state == "running" { "at work" } else { "cut off" };
        table.row([
            row.number.to_string(),
            row.stage.clone(),
            words::one_line(&row.name),
            row.status.map_or(at_work, status).to_owned(),
            words::time(row.start),
            row.end.map_or_else(|| "–".to_owned(), |end| words::time(end.saturating_sub(row.start))),
            timeline.bar(row),
            words::tokens(row.usage.input),
            words::tokens(row.usage.output),
            row.usage.cost.map_or_else(|| "–".to_owned(), |cost| cost.to_string()),
            row.marks(),
        ]);
    }
    text.push_str(&table.to_string());
    if !timeline.tools.is_empty() {
        let mut table = Table::new(&["turn", "tool", "start", "time", "result"], &[0, 2, 3]);
        for tool in &timeline.tools {
            table.row([
                tool.turn.to_string(),
                words::one_line(&tool.tool),
                words::time(tool.start),
                tool.took.map_or_else(|| "–".to_owned(), words::time),
                tool.outcome
                    .map_or_else(|| "open".to_owned(), |outcome| format!("{outcome:?}").to_lowercase()),
            ]);
        }
        let _ = write!(text, "\n{table}");
    }
    let turns = words::count(timeline.rows.len() as u64, "turn");
    let resumed = match timeline.resumed {
        0 => String::new(),
        times => format!(", taken up again {}", words::count(times, "time")),
    };
    let _ = writeln!(text, "\n{turns}, {}, {took}{resumed}", words::usage(&timeline.usage()));
    if let Some((EndStatus::Failed | EndStatus::Stopped | EndStatus::Limit, Some(reason))) = &timeline.end {
        let _ = match timeline.limit.filter(|_| matches!(timeline.end, Some((EndStatus::Limit, _)))) {
            Some(limit) => writeln!(text, "it reached its limit of {limit}"),
            None => writeln!(text, "{}", words::one_line(reason)),
        };
    }
    if let Some(first) = timeline.rows.first() {
        let short = short(run);
        let _ = writeln!(text, "What a member saw: thermidor runs show {short} --context {}", first.number);
        if matches!(timeline.end, Some((EndStatus::Done, _))) {
            let _ = writeln!(text, "Its answer: thermidor runs tail {short}");
        } else if state == "running" {
            let _ = writeln!(text, "Follow it: thermidor runs tail {short}");
        } else {
            let limited = matches!(timeline.end, Some((EndStatus::Limit, _)));
            let flag = if limited { format!(" {}", ending::raise(timeline.limit)) } else { String::new() };
            let _ = writeln!(text, "Go on with it: thermidor runs resume {short}{flag}");
        }
    }
    text
}

/// The context report of every model call in a turn.
fn contexts(events: &[RunEvent], wanted: u32, run: TreeId) -> Result<String, Trouble> {
    let mut text = String::new();
    for event in events {
        let context = match &event.kind {
            RunEventKind::Said { turn, member, call, ending, model, usage, context, .. }
                if *turn == wanted =>
            {
                let model = model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
                let how = match ending {
                    Ending::Finished => "",
                    Ending::Length => ", ended at the longest answer allowed",
                    Ending::CutOff => ", cut off",
                };
                let _ =
                    writeln!(text, "turn {turn}, {member}, call {call}{model}: {}{how}", words::usage(usage));
                context
            }
            RunEventKind::ModelFailed { turn, member, failure, context } if *turn == wanted => {
                let _ = writeln!(text, "turn {turn}, {member}: {}", words::one_line(&failure.to_string()));
                context
            }
            _ => continue,
        };
        match context {
            Some(report) => drop(writeln!(text, "{report}\n")),
            None => drop(writeln!(text, "(no report was kept of this call)\n")),
        }
    }
    if !text.is_empty() {
        return Ok(text);
    }
    let turns: Vec<String> = Timeline::of(events).rows.iter().map(|row| row.number.to_string()).collect();
    let there = if turns.is_empty() {
        "it has no turns yet".to_owned()
    } else {
        format!("it has turns {}", turns.join(", "))
    };
    Err(Trouble::usage(format!("no model has answered in turn {wanted} of run {}; {there}", short(run))))
}

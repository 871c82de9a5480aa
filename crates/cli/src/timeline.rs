//! A run's timeline, folded from its events. Pure.

use std::{collections::BTreeMap, time::Duration};

use thermidor_runs::{RunEvent, RunEventKind};
use thermidor_step_engine::{EndStatus, LimitKind, Spent};
use thermidor_types::{MemberId, Text, Timestamp, ToolOutcome, Usage};

/// The cells of a bar.
const BAR: usize = 24;

/// What happened in a run, in the order in which it began.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) team: Text,
    pub(crate) request: Text,
    pub(crate) rows: Vec<Row>,
    pub(crate) tools: Vec<ToolRow>,
    /// How the run ended; `None` while it has not.
    pub(crate) end: Option<(EndStatus, Option<Text>)>,
    pub(crate) limit: Option<LimitKind>,
    pub(crate) spent: Spent,
    /// How often it was taken up again.
    pub(crate) resumed: u32,
    /// The time it was driven: pauses do not count.
    pub(crate) took: Duration,
    began: Timestamp,
    last: Timestamp,
    paused: Duration,
    places: BTreeMap<(u32, MemberId), usize>,
}

/// One turn.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) stage: String,
    pub(crate) name: Text,
    pub(crate) start: Duration,
    pub(crate) end: Option<Duration>,
    pub(crate) status: Option<EndStatus>,
    pub(crate) usage: Usage,
    pub(crate) tries: u32,
    pub(crate) repair: Option<&'static str>,
    pub(crate) unfit: usize,
}

/// One tool call.
#[derive(Debug)]
pub(crate) struct ToolRow {
    pub(crate) turn: u32,
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) start: Duration,
    pub(crate) took: Option<Duration>,
    pub(crate) outcome: Option<ToolOutcome>,
}

impl Timeline {
    pub(crate) fn of(events: &[RunEvent]) -> Self {
        let mut timeline = Self::default();
        for event in events {
            timeline.apply(event);
        }
        timeline
    }

    fn apply(&mut self, event: &RunEvent) {
        if let RunEventKind::RunResumed { .. } = event.kind {
            self.resumed += 1;
            self.paused += event.at.since(self.last);
        }
        if let RunEventKind::RunStarted { .. } = event.kind {
            self.began = event.at;
        }
        self.last = event.at;
        let now = event.at.since(self.began).saturating_sub(self.paused);
        self.took = now;
        match &event.kind {
            RunEventKind::RunStarted { team, request, .. } => {
                (self.team, self.request) = (team.clone(), request.clone());
            }
            RunEventKind::TurnStarted { turn, member, name, stage, .. } => {
                self.places.insert((*turn, member.clone()), self.rows.len());
                self.rows.push(Row {
                    number: *turn,
                    stage: stage.to_string(),
                    name: name.clone(),
                    start: now,
                    end: None,
                    status: None,
                    usage: Usage::default(),
                    tries: 0,
                    repair: None,
                    unfit: 0,
                });
            }
            RunEventKind::Said { turn, member, usage, attempts, .. } => {
                if let Some(row) = self.row(*turn, member) {
                    row.usage += *usage;
                    row.tries += attempts.saturating_sub(1);
                }
            }
            RunEventKind::RepairAsked { turn, member, .. } => {
                if let Some(row) = self.row(*turn, member) {
                    row.repair = Some("repair asked");
                }
            }
            RunEventKind::AnswerRepaired { turn, member, better, .. } => {
                if let Some(row) = self.row(*turn, member) {
                    row.repair = Some(if *better { "repaired" } else { "repair no better" });
                }
            }
            RunEventKind::TurnEnded { turn, member, status, usage, unfit, .. } => {
                if let Some(row) = self.row(*turn, member) {
                    (row.end, row.status, row.usage) = (Some(now), Some(*status), *usage);
                    row.unfit = unfit.len();
                }
            }
            RunEventKind::ToolCalled { turn, call, tool, .. } => {
                let (call, tool) = (call.to_string(), tool.to_string());
                self.tools.push(ToolRow { turn: *turn, call, tool, start: now, took: None, outcome: None });
            }
            RunEventKind::ToolFinished { turn, call, outcome, .. } => {
                let mut open = self.tools.iter_mut().rev();
                if let Some(tool) = open.find(|tool| tool.turn == *turn && tool.call == call.as_str()) {
                    (tool.took, tool.outcome) = (Some(now.saturating_sub(tool.start)), Some(*outcome));
                }
            }
            RunEventKind::LimitReached { limit } => self.limit = Some(*limit),
            RunEventKind::RunResumed { .. } => self.end = None,
            RunEventKind::RunEnded { status, reason, spent, .. } => {
                self.end = Some((*status, reason.clone()));
                self.spent = *spent;
            }
            _ => {}
        }
    }

    fn row(&mut self, turn: u32, member: &MemberId) -> Option<&mut Row> {
        let place = self.places.get(&(turn, member.clone()))?;
        self.rows.get_mut(*place)
    }

    /// What all turns consumed.
    pub(crate) fn usage(&self) -> Usage {
        self.rows.iter().fold(Usage::default(), |sum, row| sum + row.usage)
    }

    /// A turn's place in the whole: `··███···`.
    pub(crate) fn bar(&self, row: &Row) -> String {
        let whole = self.took.as_millis().max(1);
        let cell =
            |time: Duration| usize::try_from(time.as_millis() * BAR as u128 / whole).unwrap_or(BAR).min(BAR);
        let first = cell(row.start).min(BAR - 1);
        let end = cell(row.end.unwrap_or(self.took)).max(first + 1);
        format!("{}{}{}", "·".repeat(first), "█".repeat(end - first), "·".repeat(BAR - end))
    }
}

impl Row {
    /// What is out of the ordinary.
    pub(crate) fn marks(&self) -> String {
        let mut marks = Vec::new();
        if self.tries > 0 {
            marks.push(crate::words::count(self.tries, "retry").replace("retrys", "retries"));
        }
        marks.extend(self.repair.map(str::to_owned));
        if self.unfit > 0 {
            marks.push(crate::words::count(self.unfit as u64, "fault"));
        }
        marks.join(", ")
    }
}

/// `done`, `failed`, `stopped`, `limit`.
pub(crate) fn status(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Done => "done",
        EndStatus::Failed => "failed",
        EndStatus::Stopped => "stopped",
        EndStatus::Limit => "limit",
    }
}

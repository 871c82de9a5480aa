use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use thermidor_agent_runtime::UpstreamOutput;
use thermidor_step_engine::{End, EndStatus};
use thermidor_types::{Failure, Json, MemberId, Text, Usage};

use crate::{Call, ContextView, GroupEvent, GroupInstruction, GroupOutput, Said, StageOutput};

/// A member speaking once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number, counted from 1.
    pub number: u32,
    /// Whose turn and for what.
    pub call: Call,
    /// The turns whose outputs it sees.
    pub sees: Vec<u32>,
    /// The unfinished turn that it takes again.
    pub again: Option<u32>,
    /// How it ended; `None` while the member speaks.
    pub status: Option<EndStatus>,
    /// What was said.
    pub said: Said,
}

/// Something that a supervisor does not know yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum News {
    /// The run begins, or goes on after an end that was undone.
    Init,
    /// A member that was called alone has spoken.
    AgentSpoke {
        /// In which turn.
        turn: u32,
    },
    /// All members of a broadcast have spoken.
    AgentsBroadcasted {
        /// In which turns.
        turns: Vec<u32>,
    },
}

/// Why the run comes to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Closing {
    /// The supervisor finished.
    Finish(Text),
    /// Somebody asked it to stop.
    Stop,
    /// It crossed a limit.
    Limit,
    /// A member did not finish. Those who still speak may.
    Member,
    /// The supervisor wants what cannot be. Those who still speak may finish.
    Unfit(Failure),
}

/// What is known of a group's run, folded from its events.
///
/// Open turns, stages and broadcasts are kept beside the list of turns: no step reads the whole list but the
/// one that opens a turn that sees everything, and the last one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupState {
    pub(crate) begun: bool,
    pub(crate) request: Text,
    pub(crate) roster: IndexMap<MemberId, Text>,
    pub(crate) upstream: Vec<UpstreamOutput>,
    pub(crate) turns: Vec<Turn>,
    /// The turns that are not done and were not taken again.
    pub(crate) unfinished: BTreeSet<u32>,
    /// The newest turn of each stage.
    pub(crate) newest: BTreeMap<SmolStr, u32>,
    /// The newest finished turn of each stage.
    pub(crate) finished: BTreeMap<SmolStr, u32>,
    /// The broadcasts of which somebody has not spoken.
    pub(crate) broadcasts: Vec<Vec<u32>>,
    /// What the supervisor does not know yet: it is asked when there is any.
    pub(crate) news: Vec<News>,
    pub(crate) round: u32,
    pub(crate) notes: BTreeMap<SmolStr, Json>,
    pub(crate) usage: Usage,
    pub(crate) closing: Option<Closing>,
    pub(crate) end: Option<End>,
}

impl GroupState {
    pub(crate) fn turn(&self, number: u32) -> Option<&Turn> {
        self.turns.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn turn_mut(&mut self, number: u32) -> Option<&mut Turn> {
        self.turns.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    pub(crate) fn next_turn(&self) -> u32 {
        u32::try_from(self.turns.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The turns in which somebody speaks or is about to.
    pub(crate) fn speaking(&self) -> impl Iterator<Item = &Turn> {
        self.unfinished.iter().filter_map(|turn| self.turn(*turn)).filter(|turn| turn.status.is_none())
    }

    pub(crate) fn name(&self, member: &MemberId) -> Text {
        self.roster.get(member).cloned().unwrap_or_else(|| member.as_str().into())
    }

    pub(crate) fn apply(&mut self, event: &GroupEvent) {
        match event {
            GroupEvent::Began { request, roster, upstream, finished } => {
                self.begun = true;
                self.request = request.clone();
                self.roster = roster.iter().cloned().collect();
                self.upstream.clone_from(upstream);
                for output in finished {
                    self.carry_over(output);
                }
                self.news.push(News::Init);
            }
            GroupEvent::SupervisorDecided { round, instructions, because: _, notes } => {
                self.round = *round;
                self.news.clear();
                self.notes.extend(notes.iter().map(|(key, note)| (key.clone(), note.clone())));
                for instruction in instructions {
                    match instruction {
                        GroupInstruction::CallAgent { .. } => {}
                        GroupInstruction::ParallelCallAgents { turns } => self.broadcasts.push(turns.clone()),
                        GroupInstruction::Finish { reason } => {
                            self.closing = Some(Closing::Finish(reason.clone()));
                        }
                    }
                }
            }
            GroupEvent::DecisionUnfit { failure } => self.closing = Some(Closing::Unfit(failure.clone())),
            GroupEvent::TurnBegan { turn, call, sees, again } => {
                let turn = Turn {
                    number: *turn,
                    call: call.clone(),
                    sees: sees.clone(),
                    again: *again,
                    status: None,
                    said: Said::default(),
                };
                self.begin(turn);
            }
            GroupEvent::AgentSpoke { turn, status, said, .. } => self.spoke(*turn, *status, said),
            GroupEvent::StopAsked => self.closing = Some(Closing::Stop),
            GroupEvent::LimitReached => self.closing = Some(Closing::Limit),
            GroupEvent::Resumed => {
                (self.closing, self.end) = (None, None);
                self.news.push(News::Init);
            }
            GroupEvent::Ended { status, reason, failure, finish_reason, outputs } => {
                let output = self.output(*status, failure.clone(), finish_reason.clone(), outputs);
                self.end = Some(match Json::of(&output) {
                    Ok(output) => End { status: *status, output, reason: reason.clone() },
                    Err(error) => End::because(EndStatus::Failed, error.to_string()),
                });
            }
        }
    }

    /// Takes over what an earlier run finished, as a turn of this one.
    fn carry_over(&mut self, output: &StageOutput) {
        let StageOutput { stage, title, member, turn: _, text, unfit } = output.clone();
        let number = self.next_turn();
        let call = Call::new(member).stage(stage.clone(), title).seeing(ContextView::Request);
        let said = Said { text, unfit, ..Said::default() };
        self.turns.push(Turn {
            number,
            call,
            sees: Vec::new(),
            again: None,
            status: Some(EndStatus::Done),
            said,
        });
        self.newest.insert(stage.clone(), number);
        self.finished.insert(stage, number);
    }

    fn begin(&mut self, turn: Turn) {
        if let Some(old) = turn.again {
            self.unfinished.remove(&old);
            let places = self.broadcasts.iter_mut().flatten();
            places.filter(|place| **place == old).for_each(|place| *place = turn.number);
        }
        self.unfinished.insert(turn.number);
        self.newest.insert(turn.call.stage.clone(), turn.number);
        self.turns.push(turn);
    }

    fn spoke(&mut self, number: u32, status: EndStatus, said: &Said) {
        let Some(turn) = self.turn_mut(number) else { return };
        turn.status = Some(status);
        turn.said = said.clone();
        let stage = turn.call.stage.clone();
        self.usage += said.usage;
        if status != EndStatus::Done {
            if self.closing.is_none() {
                self.closing = Some(Closing::Member);
            }
            return;
        }
        self.unfinished.remove(&number);
        self.finished.insert(stage, number);
        match self.broadcasts.iter().position(|turns| turns.contains(&number)) {
            None => self.news.push(News::AgentSpoke { turn: number }),
            Some(at) if self.broadcasts[at].iter().all(|turn| !self.unfinished.contains(turn)) => {
                let turns = self.broadcasts.remove(at);
                self.news.push(News::AgentsBroadcasted { turns });
            }
            Some(_) => {}
        }
    }

    fn output(
        &self,
        status: EndStatus,
        failure: Option<Failure>,
        finish_reason: Option<Text>,
        outputs: &[u32],
    ) -> GroupOutput {
        let outputs: Vec<_> = outputs.iter().filter_map(|turn| self.turn(*turn)).map(Turn::output).collect();
        let answer = outputs.last().filter(|_| status == EndStatus::Done).cloned();
        GroupOutput {
            turn: answer.as_ref().map(|answer| answer.turn),
            member: answer.as_ref().map(|answer| answer.member.clone()),
            text: answer.map(|answer| answer.text).unwrap_or_default(),
            outputs,
            usage: self.usage,
            failure,
            finish_reason,
        }
    }
}

impl Turn {
    fn output(&self) -> StageOutput {
        StageOutput {
            stage: self.call.stage.clone(),
            title: self.call.title.clone(),
            member: self.call.member.clone(),
            turn: self.number,
            text: self.said.text.clone(),
            unfit: self.said.unfit.clone(),
        }
    }
}

/// The name of the output of a turn for which none was given.
pub(crate) fn unnamed(turn: u32) -> SmolStr {
    format_smolstr!("turn_{turn}")
}

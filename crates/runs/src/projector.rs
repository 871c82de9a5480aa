use std::collections::BTreeMap;

use serde::Deserialize;
use smol_str::SmolStr;
use thermidor_agent_runtime::{AgentFact, UNKNOWN_OUTCOME};
use thermidor_context_engine::Report;
use thermidor_group_orchestration::GroupFact;
use thermidor_step_engine::{Delta, EndStatus, Fact, NodeId, Opened, Record, Release, Signal, Spent};
use thermidor_types::{Failure, Json, MemberId, Text, Timestamp, TreeId};

use crate::{EVENT_VERSION, RunEvent, RunEventKind as Kind};

/// Makes run events from a tree's records, fed in order from the first one. Holds who is who, and totals.
pub(crate) struct Projector {
    run: TreeId,
    seq: u64,
    at: Timestamp,
    nodes: BTreeMap<NodeId, Node>,
    spent: Spent,
    end: Option<RootEnd>,
}

/// What is known of one run of the tree.
struct Node {
    kind: SmolStr,
    turn: u32,
    member: MemberId,
    /// In a group: the names of its members, and its turns by number.
    names: BTreeMap<MemberId, Text>,
    turns: BTreeMap<u32, (MemberId, Text)>,
    /// In an agent: what it said, newest last; and the context report of the call that is about to end.
    said: Vec<Text>,
    context: Option<Box<Report>>,
}

struct RootEnd {
    status: EndStatus,
    reason: Option<Text>,
    failure: Option<Failure>,
    text: Text,
}

impl Projector {
    pub(crate) fn new(run: TreeId) -> Self {
        let (spent, at) = (Spent::default(), Timestamp::default());
        Self { run, seq: 0, at, nodes: BTreeMap::new(), spent, end: None }
    }

    /// The kind of a tree's root run, and how it ended if it has.
    pub(crate) fn root_of(run: TreeId, records: &[Record]) -> Option<(SmolStr, Option<EndStatus>)> {
        let mut projector = Self::new(run);
        let mut ended = false;
        for (seq, record) in (1..).zip(records) {
            projector.project(seq, record);
            match &record.fact {
                Fact::Released { why } => ended = *why == Release::Ended,
                Fact::Reopened => ended = false,
                _ => {}
            }
        }
        let kind = projector.nodes.get(&NodeId::ROOT)?.kind.clone();
        Some((kind, projector.end.filter(|_| ended).map(|end| end.status)))
    }

    fn event(&self, node: NodeId, kind: Kind) -> RunEvent {
        RunEvent { v: EVENT_VERSION, run: self.run, seq: self.seq, at: self.at, node, kind }
    }

    /// The events of the record numbered `seq`.
    pub(crate) fn project(&mut self, seq: u64, record: &Record) -> Vec<RunEvent> {
        (self.seq, self.at) = (seq, record.at);
        let node = record.node;
        let kinds = match &record.fact {
            Fact::Driver { epoch, .. } if *epoch > 1 => vec![Kind::RunResumed { epoch: *epoch }],
            Fact::Opened(opened) => self.opened(node, opened),
            Fact::Happened { version, event } => self.happened(node, *version, event),
            Fact::Started { .. } => {
                self.spent += Spent { steps: 1, ..Spent::default() };
                Vec::new()
            }
            Fact::Ended { spent, .. } => {
                self.spent += *spent;
                Vec::new()
            }
            Fact::Limited { limit } => vec![Kind::LimitReached { limit: *limit }],
            Fact::Signalled(Signal::Stop) if node == NodeId::ROOT => vec![Kind::StopAsked],
            Fact::Released { why } => vec![match why {
                Release::Ended => self.run_ended(),
                Release::Parked => Kind::RunParked,
                Release::Suspended => Kind::RunSuspended,
            }],
            Fact::Driver { .. }
            | Fact::Began
            | Fact::Relimited(_)
            | Fact::Signalled(_)
            | Fact::Reopened
            | Fact::Handled { .. }
            | Fact::Forked { .. } => Vec::new(),
        };
        kinds.into_iter().map(|kind| self.event(node, kind)).collect()
    }

    /// The event of a live fragment.
    pub(crate) fn delta(&self, delta: Delta) -> Option<RunEvent> {
        let Delta { node, attempt, channel, text, .. } = delta;
        let (turn, member) = self.who(node)?;
        Some(self.event(node, Kind::Delta { turn, member, channel, attempt, text }))
    }

    fn who(&self, node: NodeId) -> Option<(u32, MemberId)> {
        self.nodes.get(&node).map(|node| (node.turn, node.member.clone()))
    }

    fn opened(&mut self, node: NodeId, opened: &Opened) -> Vec<Kind> {
        let who = opened.parent.as_ref().and_then(|(parent, key)| {
            let turn = key.number();
            let (member, _) = self.nodes.get(parent)?.turns.get(&turn)?;
            Some((turn, member.clone()))
        });
        let spec = opened.spec.read::<SpecProbe>().unwrap_or_default();
        let (turn, member) = who.unwrap_or_else(|| (0, spec.member.clone().unwrap_or_default()));
        let known = Node {
            kind: opened.kind.clone(),
            turn,
            member,
            names: BTreeMap::new(),
            turns: BTreeMap::new(),
            said: Vec::new(),
            context: None,
        };
        self.nodes.insert(node, known);
        if opened.parent.is_some() {
            self.spent += Spent { turns: 1, ..Spent::default() };
            return Vec::new();
        }
        let command = opened.command.read::<CommandProbe>().unwrap_or_default();
        vec![Kind::RunStarted {
            title: opened.title.clone().unwrap_or_default(),
            team: spec.title.or(spec.name).unwrap_or_default(),
            request: command.start.map(|start| start.request).unwrap_or_default(),
        }]
    }

    fn happened(&mut self, node: NodeId, version: u32, event: &Json) -> Vec<Kind> {
        let Some(known) = self.nodes.get(&node) else { return Vec::new() };
        let unreadable = |reason: String| vec![Kind::Unreadable { reason: reason.into() }];
        match known.kind.as_str() {
            "group" => match thermidor_group_orchestration::facts(event, version) {
                Ok(facts) => facts.into_iter().filter_map(|fact| self.group(node, fact)).collect(),
                Err(refusal) => unreadable(refusal.to_string()),
            },
            "agent" => match thermidor_agent_runtime::facts(event, version) {
                Ok(facts) => facts.into_iter().filter_map(|fact| self.agent(node, fact)).collect(),
                Err(refusal) => unreadable(refusal.to_string()),
            },
            kind => unreadable(format!("this program knows no runs of kind {kind:?}")),
        }
    }

    fn group(&mut self, node: NodeId, fact: GroupFact) -> Option<Kind> {
        let root = node == NodeId::ROOT;
        let known = self.nodes.get_mut(&node)?;
        match fact {
            GroupFact::Began { roster, finished, .. } => {
                known.names.extend(roster);
                let done = finished.into_iter().map(|output| (output.turn, (output.member, output.text)));
                known.turns.extend(done);
                None
            }
            GroupFact::Decided { instructions, because, .. } => {
                let instruction = instructions.join(", ");
                (!instruction.is_empty()).then(|| Kind::Decided { instruction: instruction.into(), because })
            }
            GroupFact::DecisionUnfit { failure } => {
                let (turn, member) = (known.turn, known.member.clone());
                Some(Kind::ModelFailed { turn, member, failure, context: None })
            }
            GroupFact::TurnBegan { turn, member, stage, title, .. } => {
                let name = known.names.get(&member).cloned().unwrap_or_else(|| member.as_str().into());
                known.turns.insert(turn, (member.clone(), Text::default()));
                Some(Kind::TurnStarted { turn, member, name, stage, title })
            }
            GroupFact::TurnEnded { turn, member, stage, status, text, unfit, usage, failure, .. } => {
                known.turns.insert(turn, (member.clone(), text.clone()));
                Some(Kind::TurnEnded { turn, member, stage, status, text, usage, failure, unfit })
            }
            GroupFact::Ended { status, reason, failure, answer, .. } => {
                let answer = answer.and_then(|turn| known.turns.get(&turn));
                let text = answer.map(|turn| turn.1.clone()).unwrap_or_default();
                if root {
                    self.end = Some(RootEnd { status, reason, failure, text });
                }
                None
            }
            GroupFact::Stopping | GroupFact::LimitReached | GroupFact::Resumed => None,
        }
    }

    fn agent(&mut self, node: NodeId, fact: AgentFact) -> Option<Kind> {
        let root = node == NodeId::ROOT;
        let known = self.nodes.get_mut(&node)?;
        let (turn, member) = (known.turn, known.member.clone());
        Some(match fact {
            AgentFact::ContextReport { report, .. } => match report.read() {
                Ok(report) => {
                    known.context = report;
                    return None;
                }
                Err(error) => Kind::Unreadable { reason: format!("a context report: {error}").into() },
            },
            AgentFact::Said { call, text, ending, usage, model, latency, attempts } => {
                known.said.push(text.clone());
                let (first_millis, total_millis) = (latency.first_ms, latency.total_ms);
                let context = known.context.take();
                Kind::Said {
                    turn,
                    member,
                    call,
                    text,
                    ending,
                    model,
                    usage,
                    first_millis,
                    total_millis,
                    attempts,
                    context,
                }
            }
            AgentFact::ToolCalled { call } => Kind::ToolCalled {
                turn,
                member,
                call: call.id.as_str().into(),
                tool: call.name,
                arguments: call.arguments,
            },
            AgentFact::ToolFinished { id, outcome, text } => {
                Kind::ToolFinished { turn, member, call: id.as_str().into(), outcome, text }
            }
            AgentFact::ToolLost { id } => Kind::Question {
                kind: UNKNOWN_OUTCOME.into(),
                text: format!("{member}: did the tool call {id} happen?").into(),
                detail: id.as_str().into(),
            },
            AgentFact::Unfit { faults } => Kind::AnswerUnfit { turn, member, faults },
            AgentFact::RepairAsked { words } => Kind::RepairAsked { turn, member, words },
            AgentFact::Repaired { better, faults } => {
                if !better && known.said.len() > 1 {
                    known.said.pop();
                }
                Kind::AnswerRepaired { turn, member, better, faults }
            }
            AgentFact::Failed { failure } => {
                let context = known.context.take();
                if root {
                    let (status, reason, text) = (EndStatus::Failed, None, Text::default());
                    self.end = Some(RootEnd { status, reason, failure: Some(failure.clone()), text });
                }
                Kind::ModelFailed { turn, member, failure, context }
            }
            AgentFact::Ended { status, reason } => {
                let text =
                    known.said.last().cloned().filter(|_| status == EndStatus::Done).unwrap_or_default();
                if root {
                    let failure = self.end.take().and_then(|end| end.failure);
                    self.end = Some(RootEnd { status, reason, failure, text });
                }
                return None;
            }
            _ => return None,
        })
    }

    fn run_ended(&self) -> Kind {
        let spent = self.spent;
        let Some(RootEnd { status, reason, failure, text }) = &self.end else {
            let reason = Some("its end cannot be read".into());
            return Kind::RunEnded {
                status: EndStatus::Failed,
                text: Text::default(),
                reason,
                failure: None,
                spent,
            };
        };
        let (text, reason, failure) = (text.clone(), reason.clone(), failure.clone());
        Kind::RunEnded { status: *status, text, reason, failure, spent }
    }
}

/// The part of a group's or an agent's configuration that events show.
#[derive(Default, Deserialize)]
struct SpecProbe {
    title: Option<Text>,
    name: Option<Text>,
    member: Option<MemberId>,
}

/// The part of a first command that events show.
#[derive(Default, Deserialize)]
struct CommandProbe {
    #[serde(rename = "Start")]
    start: Option<StartProbe>,
}

#[derive(Deserialize)]
struct StartProbe {
    request: Text,
}

//! A group driven by hand: inputs in, a log of what follows out.

use std::fmt::Write as _;

use thermidor_agent_runtime::AgentOutput;
use thermidor_group_orchestration::{
    GroupCommand, GroupEvent, GroupInstruction, GroupMachine, GroupOutput, GroupSpec, GroupState, MemberSpec,
    Supervisors,
};
use thermidor_step_engine::{
    ChildEnd, EffectKey, End, EndStatus, How, Input, Machine, Moment, Next, NodeId, Open, Signal, Spent, Work,
};
use thermidor_types::{Failure, FailureKind, Json, SequentialIds, Timestamp, Tokens, Usage};

pub struct Room {
    pub machine: GroupMachine,
    pub state: GroupState,
    pub events: Vec<GroupEvent>,
    /// Numbers of the turns in flight, and whether they were told to stop.
    pub open: Vec<(u32, bool)>,
    pub spec: GroupSpec,
    pub log: String,
}

impl Room {
    pub fn new(spec: GroupSpec, supervisors: &Supervisors) -> Self {
        let machine = GroupMachine::new(spec.clone(), supervisors).expect("a sound group");
        Self {
            machine,
            state: GroupState::default(),
            events: Vec::new(),
            open: Vec::new(),
            spec,
            log: String::new(),
        }
    }

    /// Reads `start`, `resume`, `stop`, `limit`, or `done N`, `failed N`, `stopped N`, `limit N`.
    pub fn input(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let word = words.next().expect("a word");
        let turn = words.next().map(|turn| turn.parse().expect("a turn"));
        let input = match (word, turn) {
            ("start", None) => Input::Command(GroupCommand::start("a trainer")),
            ("resume", None) => Input::Command(GroupCommand::Resume),
            ("stop", None) => Input::Signal(Signal::Stop),
            ("limit", None) => Input::Signal(Signal::Limit),
            (status, Some(turn)) => {
                let end = self.child_end(turn, status);
                self.open.retain(|open| open.0 != turn);
                let how = How::Child(ChildEnd { node: Some(NodeId(turn)), end, spent: Spent::default() });
                Input::Settled { key: EffectKey::new("turn", turn), how }
            }
            (word, None) => panic!("what is {word:?}?"),
        };
        writeln!(self.log, "> {line}").expect("writes");
        self.give(input);
    }

    pub fn inputs<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        for line in lines {
            self.input(line);
        }
    }

    pub fn give(&mut self, input: Input<GroupMachine>) {
        let at = Moment { now: Timestamp::from_millis(0), ids: &SequentialIds::default() };
        match self.machine.handle(&self.state, input, &at) {
            Ok(events) => self.take(events),
            Err(refusal) => writeln!(self.log, "refused: {refusal}").expect("writes"),
        }
        self.rest();
        self.check_fold();
    }

    fn child_end(&self, turn: u32, status: &str) -> End {
        let usage = Usage { input: Tokens(10), output: Tokens(1), ..Usage::default() };
        let status = match status {
            "done" => EndStatus::Done,
            "failed" => EndStatus::Failed,
            "stopped" => EndStatus::Stopped,
            "limit" => EndStatus::Limit,
            other => panic!("what is {other:?}?"),
        };
        let began = self.events.iter().find_map(|event| match event {
            GroupEvent::TurnBegan { turn: number, call, .. } if *number == turn => Some(call),
            _ => None,
        });
        let call = began.expect("the turn began");
        let failure = (status == EndStatus::Failed)
            .then(|| Failure::new(FailureKind::Server, format!("{} is down", call.member)));
        let text = format!("{}'s words", call.stage).into();
        let output = match &self.spec.members[&call.member] {
            MemberSpec::Agent(_) => Json::of(&AgentOutput { text, usage, failure, ..AgentOutput::default() }),
            MemberSpec::Group(_) => Json::of(&GroupOutput { text, usage, failure, ..GroupOutput::default() }),
        };
        End { status, output: output.expect("serialises"), reason: None }
    }

    fn take(&mut self, events: Vec<GroupEvent>) {
        for event in events {
            GroupMachine::apply(&mut self.state, &event);
            writeln!(self.log, "{}", show(&event)).expect("writes");
            self.events.push(event);
        }
    }

    fn rest(&mut self) {
        loop {
            let open: Open = self.open.iter().map(|open| EffectKey::new("turn", open.0)).collect();
            if GroupMachine::end(&self.state).is_some() {
                return;
            }
            match self.machine.next(&self.state, &open) {
                Next::Record(events) => {
                    assert!(!events.is_empty(), "it recorded nothing");
                    self.take(events);
                }
                Next::Want(wants) => {
                    for (turn, stopping) in &mut self.open {
                        if !wants.iter().any(|want| want.0.number() == *turn) && !*stopping {
                            *stopping = true;
                            writeln!(self.log, "  stops turn:{turn}").expect("writes");
                        }
                    }
                    for (key, work) in wants {
                        match work {
                            Work::Child(child) => {
                                assert!(!open.contains(&key), "{key} is open");
                                writeln!(self.log, "  opens {key}: {}", child.kind).expect("writes");
                                self.open.push((key.number(), false));
                            }
                            Work::Keep => assert!(open.contains(&key), "{key} is not open"),
                            Work::Effect(_) | Work::Timer(_) | Work::Person(_) => panic!("{key} is no turn"),
                        }
                    }
                    return;
                }
            }
        }
    }

    /// Invariant 1: folding what was stored gives the live state, as stored too.
    pub fn check_fold(&self) {
        let mut folded = GroupState::default();
        for event in &self.events {
            let stored = Json::of(event).expect("serialises");
            GroupMachine::apply(&mut folded, &stored.read().expect("reads back"));
        }
        assert_eq!(folded, self.state, "the fold is another state");
        let stored = Json::of(&self.state).expect("serialises");
        assert_eq!(
            stored.read::<GroupState>().expect("reads back"),
            self.state,
            "the snapshot is another state"
        );
    }

    pub fn output(&self) -> (EndStatus, GroupOutput) {
        let end = GroupMachine::end(&self.state).expect("it ended");
        (end.status, end.output.read().expect("a group's output"))
    }
}

fn show(event: &GroupEvent) -> String {
    match event {
        GroupEvent::Began { request, roster, .. } => {
            format!("began {request:?} with {} members", roster.len())
        }
        GroupEvent::SupervisorDecided { round, instructions, because, .. } => {
            let shown: Vec<_> = instructions.iter().map(instruction).collect();
            let shown = if shown.is_empty() { "nothing".into() } else { shown.join(", ") };
            format!("decided ({round}): {shown} [{because}]")
        }
        GroupEvent::DecisionUnfit { failure } => format!("unfit: {failure}"),
        GroupEvent::TurnBegan { turn, call, sees, again } => {
            let again = again.map(|old| format!(" again after {old}")).unwrap_or_default();
            format!("turn {turn}: {} by {} sees {sees:?}{again}", call.stage, call.member)
        }
        GroupEvent::AgentSpoke { turn, status, node, .. } => {
            let node = if node.is_some() { "" } else { ", never opened" };
            format!("spoke {turn}: {status:?}{node}")
        }
        GroupEvent::StopAsked => "stop asked".into(),
        GroupEvent::LimitReached => "limit reached".into(),
        GroupEvent::Resumed => "resumed".into(),
        GroupEvent::Ended { status, reason, finish_reason, outputs, .. } => {
            let why = finish_reason.as_ref().or(reason.as_ref()).map(ToString::to_string).unwrap_or_default();
            format!("ended {status:?} {outputs:?}: {why}")
        }
    }
}

fn instruction(instruction: &GroupInstruction) -> String {
    let word = instruction.word();
    match instruction {
        GroupInstruction::CallAgent { turn } => format!("{word} {turn}"),
        GroupInstruction::ParallelCallAgents { turns } => format!("{word} {turns:?}"),
        GroupInstruction::Finish { reason } => format!("{word} {reason:?}"),
    }
}

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
    time::Duration,
};

use expect_test::Expect;
use thermidor_step_engine::{
    EffectKey, EndStatus, How, Input, Machine, Moment, Next, Open, Recovery, Refusal, Signal, Work,
};
use thermidor_types::{
    AssistantMessage, Content, Ending, Exchange, Failure, FailureKind, Json, Message, ModelId, Part,
    SequentialIds, Timestamp, Tokens, ToolCall, ToolOutcome, ToolResult, Usage,
};

use crate::{
    Agent, AgentCommand, AgentMachine, AgentOutcome, AgentOutput, AgentSpec, AgentState, Assignment,
    CallReport, Cut, ModelReply, Reply, ToolPolicies, ToolPolicy, ToolReply, event::AgentEvent,
};

/// The engine's part, played by hand: what is wanted starts at once, what is left out waits to be settled.
pub(super) struct Sim {
    pub(super) machine: AgentMachine,
    pub(super) state: AgentState,
    pub(super) in_flight: BTreeSet<EffectKey>,
    pub(super) unwanted: BTreeSet<EffectKey>,
    pub(super) asked: BTreeSet<EffectKey>,
    pub(super) timers: BTreeMap<EffectKey, Timestamp>,
    pub(super) now: Timestamp,
    finished: BTreeSet<EffectKey>,
    pub(super) events: Vec<Json>,
    pub(super) log: String,
}

pub(super) fn spec(json: &str) -> AgentSpec {
    let whole = format!(
        r#"{{"member":"ada","name":"Ada","model":"test/one"{}{json}}}"#,
        if json.is_empty() { "" } else { "," }
    );
    serde_json::from_str(&whole).expect("a spec")
}

impl Sim {
    /// An agent with the tools `add` (idempotent) and `send` (with consequences).
    pub(super) fn new(json: &str) -> Self {
        let policy = |recovery| ToolPolicy { recovery, deadline: Duration::from_secs(8) };
        let tools = [("add".into(), policy(Recovery::Repeat)), ("send".into(), policy(Recovery::Ask))];
        let mut spec = spec(json);
        spec.tools = vec!["add".into(), "send".into()];
        Self {
            machine: AgentMachine::new(spec, ToolPolicies::from_iter(tools)),
            state: AgentState::default(),
            in_flight: BTreeSet::new(),
            unwanted: BTreeSet::new(),
            asked: BTreeSet::new(),
            timers: BTreeMap::new(),
            now: Timestamp::from_millis(0),
            finished: BTreeSet::new(),
            events: Vec::new(),
            log: String::new(),
        }
    }

    pub(super) fn deciding(mut self, agent: impl Agent) -> Self {
        self.machine = self.machine.deciding(Arc::new(agent));
        self
    }

    pub(super) fn start(self, request: &str) -> Self {
        self.assigned(Assignment { request: request.into(), ..Assignment::default() })
    }

    pub(super) fn assigned(mut self, assignment: Assignment) -> Self {
        self.input(Input::Command(AgentCommand::Start(Box::new(assignment)))).expect("the first command");
        self
    }

    pub(super) fn input(&mut self, input: Input<AgentMachine>) -> Result<(), Refusal> {
        let ids = SequentialIds::default();
        let at = Moment { now: self.now, ids: &ids };
        for event in self.machine.handle(&self.state, input, &at)? {
            self.happen(&event);
        }
        self.rest();
        Ok(())
    }

    fn happen(&mut self, event: &AgentEvent) {
        writeln!(self.log, "{}", show(event)).expect("a string takes it");
        self.events.push(Json::of(event).expect("an event has a JSON form"));
        AgentMachine::apply(&mut self.state, event);
    }

    fn rest(&mut self) {
        for _ in 0..100 {
            if AgentMachine::end(&self.state).is_some() {
                assert!(self.in_flight.is_empty(), "ended with {:?} in flight", self.in_flight);
                self.asked.clear();
                self.timers.clear();
                return;
            }
            let open: Open = self.in_flight.iter().cloned().collect();
            match self.machine.next(&self.state, &open) {
                Next::Record(events) => {
                    assert!(!events.is_empty(), "it recorded nothing");
                    for event in &events {
                        self.happen(event);
                    }
                }
                Next::Want(wants) => return self.want(wants),
            }
        }
        panic!("it does not come to rest:\n{}", self.log);
    }

    fn want(&mut self, wants: Vec<(EffectKey, Work<crate::AgentEffect>)>) {
        let keys: BTreeSet<_> = wants.iter().map(|want| want.0.clone()).collect();
        assert_eq!(keys.len(), wants.len(), "two wants under one key");
        self.unwanted = self.in_flight.difference(&keys).cloned().collect();
        for key in &self.unwanted {
            writeln!(self.log, "- {key}").expect("a string takes it");
        }
        self.asked.clear();
        self.timers.clear();
        for (key, work) in wants {
            match work {
                Work::Effect(_) if self.in_flight.contains(&key) => {}
                Work::Effect(effect) => {
                    assert!(!self.finished.contains(&key), "{key} is wanted again");
                    let recovery = if effect.recovery == Recovery::Ask { ", once" } else { "" };
                    let what = match effect.instruction {
                        crate::AgentEffect::CallModel { tools } => format!("{tools:?}"),
                        crate::AgentEffect::CallTool(call) => format!("{}({})", call.name, call.arguments),
                    };
                    writeln!(self.log, "+ {key} {what}{recovery}").expect("a string takes it");
                    self.in_flight.insert(key);
                }
                Work::Person(question) => {
                    writeln!(self.log, "? {key} {}", question.kind).expect("a string takes it");
                    self.asked.insert(key);
                }
                Work::Timer(moment) => {
                    assert!(!self.finished.contains(&key), "{key} is wanted again");
                    let millis = moment.since(self.now).as_millis();
                    writeln!(self.log, "@ {key} in {millis} ms").expect("a string takes it");
                    self.timers.insert(key, moment);
                }
                Work::Child(_) | Work::Keep => panic!("an agent wants no such work"),
            }
        }
    }

    pub(super) fn settle(&mut self, key: &str, how: How<AgentOutcome>) {
        let key: EffectKey = key.parse().expect("a key");
        assert!(self.in_flight.remove(&key), "{key} is not in flight:\n{}", self.log);
        self.finished.insert(key.clone());
        self.input(Input::Settled { key, how }).expect("settlements are never refused");
    }

    /// Lets the time pass up to the moment that is waited for.
    pub(super) fn fire(&mut self, key: &str) {
        let key: EffectKey = key.parse().expect("a key");
        let moment = self.timers.remove(&key);
        self.now = moment.unwrap_or_else(|| panic!("nobody waits for {key}:\n{}", self.log));
        self.finished.insert(key.clone());
        self.input(Input::Settled { key, how: How::Fired }).expect("settlements are never refused");
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        self.input(Input::Signal(signal)).expect("signals are never refused");
    }

    pub(super) fn say(&mut self, key: &str, text: &str) {
        self.settle(key, model(Reply::Said(message(text))));
    }

    pub(super) fn answer(&mut self, key: &str, text: &str) {
        self.settle(key, How::Done(AgentOutcome::Tool(ToolReply::Answered(ToolResult::text(text)))));
    }

    pub(super) fn output(&self) -> (EndStatus, AgentOutput) {
        let end = AgentMachine::end(&self.state).expect("it has ended");
        (end.status, end.output.read().expect("an output"))
    }

    /// Folds the events as they are stored.
    pub(super) fn refolded(&self) -> AgentState {
        let mut state = AgentState::default();
        for event in &self.events {
            AgentMachine::apply(&mut state, &event.read().expect("an event reads back"));
        }
        state
    }
}

pub(super) fn model(reply: Reply) -> How<AgentOutcome> {
    How::Done(AgentOutcome::Model(Box::new(ModelReply { reply, call: CallReport::default() })))
}

pub(super) fn broken(text: &str) -> How<AgentOutcome> {
    model(Reply::CutOff(message(text), Cut::Broken(Failure::new(FailureKind::Network, "reset"))))
}

/// A message in short: `words [add 1] [send 2] …` with calls in brackets, `words ~length` for an ending.
pub(super) fn message(text: &str) -> AssistantMessage {
    let mut message = AssistantMessage {
        usage: Usage { input: Tokens(10), output: Tokens(2), ..Usage::default() },
        model: Some(ModelId::new("test", "one")),
        ..AssistantMessage::default()
    };
    let text = match text.strip_suffix("~length") {
        Some(rest) => {
            message.ending = Ending::Length;
            rest
        }
        None => text,
    };
    for piece in text.split_inclusive(']') {
        let (words, call) = piece.split_once('[').unwrap_or((piece, ""));
        if !words.trim().is_empty() {
            message.parts.push(Part::text(words.trim()));
        }
        if let Some((name, arguments)) = call.trim_end_matches(']').split_once(' ') {
            message.parts.push(Part::Exchange(Exchange::open(ToolCall::new("same", name, arguments))));
        }
    }
    message
}

pub(super) fn show_message(message: &AssistantMessage) -> String {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => format!("{:?}", &**text),
        Part::Exchange(exchange) => {
            let result = exchange
                .result
                .as_ref()
                .map_or_else(|| "open".to_owned(), |result| format!("{:?}", result.outcome));
            format!("[{} {}({}) {result}]", exchange.call.id, exchange.call.name, exchange.call.arguments)
        }
        Part::Reasoning(_) | Part::Media(_) | Part::Native(_) => "…".to_owned(),
    });
    let mut shown = parts.collect::<Vec<_>>().join(" ");
    if message.ending != Ending::Finished {
        write!(shown, " {:?}", message.ending).expect("a string takes it");
    }
    shown
}

fn show_result(result: &ToolResult) -> String {
    let text = result.content.iter().map(|content| match content {
        Content::Text(text) => text.as_str(),
        Content::Media(_) => "…",
    });
    match result.outcome {
        ToolOutcome::Success => text.collect(),
        outcome => format!("{outcome:?}"),
    }
}

fn show(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Assigned(assignment) => format!("Assigned {:?}", &*assignment.request),
        AgentEvent::TurnBegan(turn) => {
            let reason = turn.reason.as_ref().map(|reason| format!(" because {reason}")).unwrap_or_default();
            format!("TurnBegan {} (turn {}, {:?}){reason}", turn.call, turn.turn, turn.tools)
        }
        AgentEvent::Spoke(spoke) => format!("Spoke {}: {}", spoke.call, show_message(&spoke.message)),
        AgentEvent::BrokeOff { spoke, counts, .. } => {
            format!(
                "BrokeOff {}: {}{}",
                spoke.call,
                show_message(&spoke.message),
                if *counts { "" } else { " (free)" }
            )
        }
        AgentEvent::TurnStopped { call, .. } => format!("TurnStopped {call}"),
        AgentEvent::ModelFailed(failed) => format!("ModelFailed {}: {}", failed.call, failed.failure),
        AgentEvent::GaveUp { failure } => format!("GaveUp: {failure}"),
        AgentEvent::CallsBegan { calls, .. } => {
            format!("CallsBegan {}", calls.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        }
        AgentEvent::CallSettled { id, result } => format!("CallSettled {id}: {}", show_result(result)),
        AgentEvent::CallsSettled { settled } => {
            let all = settled.iter().map(|(id, result)| format!(" {id}: {}", show_result(result)));
            format!("CallsSettled{}", all.collect::<String>())
        }
        AgentEvent::CallLost { id } => format!("CallLost {id}"),
        AgentEvent::CallRetried { id } => format!("CallRetried {id}"),
        AgentEvent::Unfit { faults } => format!("Unfit: {}", faults.join(" ")),
        AgentEvent::RepairAsked { words } => format!("RepairAsked: {} lines", words.lines().count()),
        AgentEvent::RepairJudged { kept, faults } => format!("RepairJudged {kept:?}: {}", faults.join(" ")),
        AgentEvent::StopAsked => "StopAsked".into(),
        AgentEvent::LimitReached => "LimitReached".into(),
        AgentEvent::Ended { status, reason } => {
            format!(
                "Ended {status:?}{}",
                reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
            )
        }
    }
}

/// The calls of a conversation that have no result, and the ids that occur twice.
pub(super) fn unpaired(state: &AgentState) -> (Vec<String>, Vec<String>) {
    let (mut seen, mut open, mut double) = (BTreeSet::new(), Vec::new(), Vec::new());
    for message in state.history.iter() {
        let Message::Assistant(answer) = &**message else { continue };
        for exchange in answer.exchanges() {
            if exchange.result.is_none() {
                open.push(exchange.call.id.to_string());
            }
            if !seen.insert(exchange.call.id.clone()) {
                double.push(exchange.call.id.to_string());
            }
        }
    }
    (open, double)
}

/// What `steps` do to an agent that was asked to "plan": the log of events, of work started (`+`), no longer
/// wanted (`-`), asked of a person (`?`), waited for (`@`).
pub(super) fn check(spec: &str, steps: impl FnOnce(&mut Sim), expected: Expect) -> Sim {
    let mut sim = Sim::new(spec).start("plan");
    steps(&mut sim);
    expected.assert_eq(&sim.log);
    assert_eq!(sim.refolded(), sim.state, "folding the stored events gives another state");
    if sim.state.end.is_some() {
        assert_eq!(unpaired(&sim.state), (vec![], vec![]));
    }
    sim
}

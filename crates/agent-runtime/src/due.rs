//! What is decided when something is due, as events: by the agent, and by what holds for every agent.

use thermidor_context_engine::Language;
use thermidor_step_engine::{EndStatus, Signal};
use thermidor_types::{CallId, Ending, Failure, FailureKind, Text, ToolOutcome, ToolResult};

use crate::{
    AgentMachine, AgentState, AgentView, Assignment, Decision, FinishReason, Instruction, Offer,
    contract::{faults, repair_words},
    event::{AgentEvent, Attempt, TurnBegan},
    settle::{interrupted, unknown},
    state::{Due, Repair, Stage},
};

impl AgentMachine {
    pub(crate) fn due(&self, state: &AgentState, assignment: &Assignment, due: Due) -> Vec<AgentEvent> {
        match (due, &state.repair) {
            (Due::Again, _) => vec![Self::again(state)],
            (Due::Answered | Due::CallsSettled, Some(repair)) => self.judge(state, assignment, repair),
            (Due::Failed, Some(repair)) => {
                let failure = state.failure.as_ref().map(ToString::to_string).unwrap_or_default();
                let reason = format!("the answer could not be repaired: {failure}");
                vec![keep_first(repair), ended(EndStatus::Done, Some(reason))]
            }
            (Due::Begun | Due::Answered | Due::CallsSettled | Due::Failed, _) => {
                let decision = self.agent.decide(&AgentView::new(&self.spec, assignment, state));
                self.decided(state, assignment, decision)
            }
        }
    }

    /// The same model call once more.
    pub(crate) fn again(state: &AgentState) -> AgentEvent {
        let (call, turn, tools) = (state.calls + 1, state.turns, state.offer);
        AgentEvent::TurnBegan(TurnBegan { call, turn, tools, reason: None })
    }

    fn decided(
        &self,
        state: &AgentState,
        assignment: &Assignment,
        decision: Decision<Instruction>,
    ) -> Vec<AgentEvent> {
        let Decision { instructions, reason } = decision;
        let (mut calls, mut others): (Vec<CallId>, Vec<Instruction>) = (Vec::new(), Vec::new());
        for instruction in instructions {
            match instruction {
                Instruction::CallTool { call } => calls.push(call),
                Instruction::CallToolsBatch { calls: batch } => calls.extend(batch),
                Instruction::CallLlm { .. } | Instruction::Finish { .. } => others.push(instruction),
            }
        }
        let passed_over = state.open.iter().filter(|open| !calls.contains(&open.call.id));
        let passed_over: Vec<_> =
            passed_over.map(|open| (open.call.id.clone(), refused(assignment))).collect();
        let mut events = Vec::new();
        if !passed_over.is_empty() {
            events.push(AgentEvent::CallsSettled { settled: passed_over });
        }
        match (calls.is_empty(), others.len(), others.pop()) {
            (false, 0, _) => {
                let wrong = calls.iter().enumerate().find(|(place, id)| {
                    state.call(id).is_none_or(|open| open.stage != Stage::Asked)
                        || calls[..*place].contains(id)
                });
                match wrong {
                    Some((_, id)) => {
                        return self.defect(state, assignment, format!("it called {id}, which is not open"));
                    }
                    None => events.push(AgentEvent::CallsBegan { calls, reason }),
                }
            }
            (true, 1, Some(Instruction::CallLlm { tools })) => events.extend(self.ask(state, tools, reason)),
            (true, 1, Some(Instruction::Finish { reason: why })) => {
                events.extend(self.finish(state, assignment, why, reason));
            }
            (true, 0, _) => return self.defect(state, assignment, "it decided nothing".into()),
            (..) => {
                return self.defect(state, assignment, "it decided things that exclude each other".into());
            }
        }
        events
    }

    /// A model call, as far as one is allowed.
    fn ask(&self, state: &AgentState, tools: Offer, reason: Option<Text>) -> Vec<AgentEvent> {
        let most = self.spec.max_calls.max(1);
        if state.turns >= most {
            return vec![ended(EndStatus::Limit, Some(format!("all {most} model calls are used up")))];
        }
        let tools =
            if state.turns + 1 == most || self.spec.tools.is_empty() { Offer::Nothing } else { tools };
        vec![AgentEvent::TurnBegan(TurnBegan { call: state.calls + 1, turn: state.turns + 1, tools, reason })]
    }

    fn finish(
        &self,
        state: &AgentState,
        assignment: &Assignment,
        why: FinishReason,
        reason: Option<Text>,
    ) -> Vec<AgentEvent> {
        let forced = match why {
            FinishReason::Completed => None,
            FinishReason::MaxCallsCompleted => {
                Some(format!("the last of {} model calls was made without tools", self.spec.max_calls.max(1)))
            }
            FinishReason::Failed(failure) => return failed(state, failure, reason),
        };
        let said = state.said.as_ref();
        let cut = said.is_some_and(|said| said.ending != Ending::Finished);
        let reason = reason
            .or(forced.map(Text::from))
            .or_else(|| cut.then(|| "the answer reached the length allowed".into()));
        let language = Language::of(&assignment.request);
        let faults = faults(&self.spec.contract, said.map_or("", |said| &said.text), language);
        if faults.is_empty() {
            return vec![AgentEvent::Ended { status: EndStatus::Done, reason }];
        }
        let words = repair_words(&faults, language);
        let unfit = AgentEvent::Unfit { faults };
        if state.turns >= self.spec.max_calls.max(1) {
            return vec![unfit, AgentEvent::Ended { status: EndStatus::Done, reason }];
        }
        let (call, turn) = (state.calls + 1, state.turns + 1);
        let turn = TurnBegan { call, turn, tools: Offer::Nothing, reason: None };
        vec![unfit, AgentEvent::RepairAsked { words }, AgentEvent::TurnBegan(turn)]
    }

    /// Keeps the better of an answer and its repair.
    fn judge(&self, state: &AgentState, assignment: &Assignment, repair: &Repair) -> Vec<AgentEvent> {
        // A repair without words leaves the first answer as the last one said: nothing is better then.
        let text = state.said.as_ref().map_or("", |said| &said.text);
        let faults = faults(&self.spec.contract, text, Language::of(&assignment.request));
        let kept = if faults.len() < repair.faults.len() {
            AgentEvent::RepairJudged { kept: Attempt::Second, faults }
        } else {
            keep_first(repair)
        };
        vec![kept, ended(EndStatus::Done, None)]
    }

    /// The end of a run that was told to come to it and has nothing in flight any more.
    pub(crate) fn closing(state: &AgentState, signal: Signal) -> Vec<AgentEvent> {
        let language = Language::of(state.assignment.as_deref().map_or("", |assignment| &assignment.request));
        let settled = state.open.iter().map(|open| {
            let result = match open.stage {
                Stage::Asked | Stage::Running(_) => interrupted(language),
                Stage::Lost(_) => unknown(language),
            };
            (open.call.id.clone(), result)
        });
        let settled: Vec<_> = settled.collect();
        let mut events = Vec::new();
        if !settled.is_empty() {
            events.push(AgentEvent::CallsSettled { settled });
        }
        events.extend(state.repair.as_ref().map(keep_first));
        events.push(match signal {
            Signal::Stop => ended(EndStatus::Stopped, Some("it was stopped".into())),
            Signal::Limit => ended(EndStatus::Limit, Some("a limit was reached".into())),
        });
        events
    }

    /// The end of a run whose agent decided what cannot be.
    fn defect(&self, state: &AgentState, assignment: &Assignment, what: String) -> Vec<AgentEvent> {
        let failure = Failure::new(
            FailureKind::Internal,
            format!("a defect of the agent {}: {what}", self.spec.member),
        );
        let settled: Vec<_> =
            state.open.iter().map(|open| (open.call.id.clone(), refused(assignment))).collect();
        let settled = (!settled.is_empty()).then_some(AgentEvent::CallsSettled { settled });
        settled.into_iter().chain(failed(state, failure, None)).collect()
    }
}

fn failed(state: &AgentState, failure: Failure, reason: Option<Text>) -> Vec<AgentEvent> {
    let reason = reason.unwrap_or_else(|| failure.to_string().into());
    let ended = AgentEvent::Ended { status: EndStatus::Failed, reason: Some(reason) };
    if state.failure.as_ref() == Some(&failure) {
        return vec![ended];
    }
    vec![AgentEvent::GaveUp { failure }, ended]
}

fn keep_first(repair: &Repair) -> AgentEvent {
    AgentEvent::RepairJudged { kept: Attempt::First, faults: repair.faults.clone() }
}

fn ended(status: EndStatus, reason: Option<String>) -> AgentEvent {
    AgentEvent::Ended { status, reason: reason.map(Text::from) }
}

fn refused(assignment: &Assignment) -> ToolResult {
    let words = Language::of(&assignment.request)
        .pick("The agent decided not to run this call.", "智能体决定不执行该调用。");
    ToolResult::failed(ToolOutcome::Refused, words)
}

use std::{collections::BTreeMap, fmt};

use smol_str::SmolStr;
use thermidor_agent_runtime::UpstreamOutput;
use thermidor_step_engine::{
    BoxFuture, ChildEnd, EffectContext, EffectKey, End, EndStatus, Executor, How, Input, Machine, Moment,
    Next, Open, Refusal, Signal, Spent, Work,
};
use thermidor_types::{FailureKind, MemberId, Text};

use crate::{
    Error, GroupCommand, GroupEvent, GroupSpec, GroupState, MemberSpec, StageOutput, Supervisor,
    SupervisorSpec, Supervisors, assign, deciding::check, ending::spoke, error::Problem,
    graph_supervisor::GraphSupervisor, state::Closing,
};

/// What turns are called among a group's pieces of work: `turn:1`, `turn:2`, ….
const TURN: &str = "turn";

/// The group as a machine: turns are child runs, and all else is pure.
pub struct GroupMachine {
    pub(crate) spec: GroupSpec,
    pub(crate) supervisor: Box<dyn Supervisor>,
    /// Where each stage stands among the stages; empty without a graph.
    pub(crate) places: BTreeMap<SmolStr, usize>,
}

/// Groups have no effects of their own: there is no value of this type.
#[derive(Clone, Copy, Debug)]
pub enum Nothing {}

/// The executor of groups, which have nothing to execute.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEffects;

impl Executor<GroupMachine> for NoEffects {
    fn start(&self, _: &GroupState, instruction: Nothing, _: EffectContext) -> BoxFuture<Nothing> {
        match instruction {}
    }
}

impl GroupMachine {
    /// Makes the machine of a group and proves that its configuration, nested groups included, can be used.
    ///
    /// # Errors
    /// Any [`ErrorKind`](crate::ErrorKind), with the group and the stage.
    pub fn new(spec: GroupSpec, supervisors: &Supervisors) -> Result<Self, Error> {
        let failed = |problem| Error::new(&spec.name, problem);
        if spec.members.is_empty() {
            return Err(failed(Problem::NoMembers));
        }
        for member in spec.members.values() {
            if let MemberSpec::Group(group) = member {
                let nested = Self::new(GroupSpec::clone(group), supervisors);
                nested.map_err(|error| failed(Problem::Nested(Box::new(error))))?;
            }
        }
        let mut places = BTreeMap::new();
        let supervisor: Box<dyn Supervisor> = match &spec.supervisor {
            SupervisorSpec::Graph(graph) => {
                let supervisor = GraphSupervisor::new(graph).map_err(failed)?;
                for (place, stage) in graph.stages.iter().enumerate() {
                    check(&spec, &stage.id, &stage.member, &stage.instruction, &stage.contract)
                        .map_err(failed)?;
                    places.insert(stage.id.clone(), place);
                }
                Box::new(supervisor)
            }
            SupervisorSpec::Custom { name, config } => {
                let make = supervisors.get(name).ok_or_else(|| {
                    failed(Problem::UnknownSupervisor {
                        name: name.clone(),
                        known: supervisors.names().cloned().collect(),
                    })
                })?;
                make(config).map_err(|reason| failed(Problem::Supervisor { name: name.clone(), reason }))?
            }
        };
        Ok(Self { spec, supervisor, places })
    }

    fn start(
        &self,
        state: &GroupState,
        request: Text,
        upstream: Vec<UpstreamOutput>,
        finished: Vec<StageOutput>,
    ) -> Result<Vec<GroupEvent>, Refusal> {
        if state.begun {
            return Err(Refusal::new("the group has begun"));
        }
        if let Some(output) = finished.iter().find(|output| !self.spec.members.contains_key(&output.member)) {
            return Err(Refusal::new(format!(
                "{:?} is finished by {}, who is no member",
                output.stage, output.member
            )));
        }
        let name = |(id, member): (&MemberId, &MemberSpec)| (id.clone(), member.name().clone());
        let roster = self.spec.members.iter().map(name).collect();
        Ok(vec![GroupEvent::Began { request, roster, upstream, finished }])
    }

    fn resume(&self, state: &GroupState) -> Result<Vec<GroupEvent>, Refusal> {
        match state.end.as_ref().map(|end| end.status) {
            None => return Err(Refusal::new("the group has not ended: there is nothing to resume")),
            Some(EndStatus::Done) => {
                return Err(Refusal::new("the group is done: there is nothing to resume"));
            }
            Some(EndStatus::Failed | EndStatus::Stopped | EndStatus::Limit) => {}
        }
        let mut events = vec![GroupEvent::Resumed];
        let again = self.in_order(state, state.unfinished.iter().copied().collect());
        let again = again.into_iter().filter_map(|turn| state.turn(turn));
        events.extend(again.zip(state.next_turn()..).map(|(old, turn)| GroupEvent::TurnBegan {
            turn,
            sees: self.sees(state, &old.call.view),
            call: old.call.clone(),
            again: Some(old.number),
        }));
        Ok(events)
    }

    fn settled(&self, state: &GroupState, key: &EffectKey, how: How<Nothing>) -> Vec<GroupEvent> {
        let Some(turn) = state.turn(key.number()).filter(|_| key.name() == TURN) else { return Vec::new() };
        let member = self.spec.members.get(&turn.call.member);
        let ((status, said), node, spent) = match how {
            How::Child(ChildEnd { node, end, spent }) => (assign::said(member, &end), node, spent),
            How::Done(nothing) => match nothing {},
            How::Fired | How::TimedOut | How::Unknown | How::Abandoned => {
                let said =
                    assign::failed(FailureKind::Internal, format!("{key} is no run that ends like this"));
                ((EndStatus::Failed, said), None, Spent::default())
            }
        };
        vec![spoke(turn, status, said, node, spent)]
    }

    fn wanted(&self, state: &GroupState, open: &Open) -> Next<Self> {
        let mut wants = Vec::new();
        for turn in state.speaking() {
            let key = EffectKey::new(TURN, turn.number);
            if open.contains(&key) {
                wants.push((key, Work::Keep));
                continue;
            }
            match assign::child(&self.spec, state, turn) {
                Ok(child) => wants.push((key, Work::Child(child))),
                Err(failure) => return Next::Record(vec![GroupEvent::DecisionUnfit { failure }]),
            }
        }
        Next::Want(wants)
    }
}

impl Machine for GroupMachine {
    type State = GroupState;
    type Command = GroupCommand;
    type Instruction = Nothing;
    type Outcome = Nothing;
    type Event = GroupEvent;

    const KIND: &'static str = "group";
    const VERSION: u32 = 1;

    fn handle(
        &self,
        state: &GroupState,
        input: Input<Self>,
        _: &Moment<'_>,
    ) -> Result<Vec<GroupEvent>, Refusal> {
        match input {
            Input::Command(GroupCommand::Start { request, upstream, finished }) => {
                self.start(state, request, upstream, finished)
            }
            Input::Command(GroupCommand::Resume) => self.resume(state),
            Input::Settled { key, how } => Ok(self.settled(state, &key, how)),
            Input::Signal(signal) => Ok(match (&state.closing, signal) {
                _ if state.end.is_some() => Vec::new(),
                (Some(Closing::Finish(_) | Closing::Stop | Closing::Limit), _) => Vec::new(),
                (None | Some(Closing::Member | Closing::Unfit(_)), Signal::Stop) => {
                    vec![GroupEvent::StopAsked]
                }
                (None | Some(Closing::Member | Closing::Unfit(_)), Signal::Limit) => {
                    vec![GroupEvent::LimitReached]
                }
            }),
        }
    }

    fn apply(state: &mut GroupState, event: &GroupEvent) {
        state.apply(event);
    }

    fn next(&self, state: &GroupState, open: &Open) -> Next<Self> {
        match &state.closing {
            _ if state.end.is_some() => Next::Want(Vec::new()),
            Some(closing) if open.is_empty() => Next::Record(self.wrap_up(state, closing)),
            Some(Closing::Finish(_) | Closing::Stop | Closing::Limit) => Next::Want(Vec::new()),
            Some(Closing::Member | Closing::Unfit(_)) => {
                Next::Want(open.keys().map(|key| (key.clone(), Work::Keep)).collect())
            }
            None if !state.news.is_empty() => Next::Record(self.decide(state)),
            None => self.wanted(state, open),
        }
    }

    fn end(state: &GroupState) -> Option<End> {
        state.end.clone()
    }
}

impl fmt::Debug for GroupMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupMachine").field("spec", &self.spec).finish_non_exhaustive()
    }
}

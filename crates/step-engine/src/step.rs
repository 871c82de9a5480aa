//! One step of a tree: inputs go in, machines are asked until none wants anything new, and what happened
//! stands in a batch that is appended as one. Pure: no I/O, and time only from the [`Moment`].

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use thermidor_types::{CommandId, ContentHash, Json};
use tokio_util::sync::CancellationToken;

use crate::{
    ChildEnd, ChildSpec, Effect, EffectKey, End, EndStatus, Fact, How, Kinds, LimitKind, Moment, NodeId,
    Opened, Posted, Record, Recovery, Refusal, Request, Signal, Spent,
    error::Problem,
    executor::Account,
    fold::Tree,
    node::{AnyOutcome, ErasedNext, ErasedWork},
    run::InFlight,
};

/// Machines that record and settle without ever coming to rest are stopped after this many visits in one step.
const MAX_VISITS: u32 = 100_000;

/// What one step adds to the journal, and what to start once that is durable.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    pub(crate) blobs: Vec<(ContentHash, Bytes)>,
    pub(crate) handled: Vec<CommandId>,
    pub(crate) launches: Vec<Launch>,
}

pub(crate) struct Launch {
    pub(crate) node: NodeId,
    pub(crate) key: EffectKey,
    pub(crate) attempt: u32,
    pub(crate) recovery: Recovery,
    pub(crate) deadline: Option<Duration>,
    pub(crate) cancel: CancellationToken,
}

pub(crate) struct Step<'a> {
    pub(crate) tree: &'a mut Tree,
    pub(crate) kinds: &'a Kinds,
    pub(crate) batch: &'a mut Batch,
    pub(crate) at: Moment<'a>,
    /// Nothing new may start: the driver is letting go.
    pub(crate) suspending: bool,
}

impl Step<'_> {
    pub(crate) fn record(&mut self, node: NodeId, fact: Fact) -> Result<(), Problem> {
        self.tree.fold(self.kinds, self.at.now, node, &fact)?;
        self.batch.records.push(Record { at: self.at.now, node, fact });
        Ok(())
    }

    /// Notes events that the run's machine has already folded.
    fn events(&mut self, node: NodeId, events: Vec<Json>) {
        let Some(run) = self.tree.runs.get(&node) else { return };
        if events.is_empty() {
            return;
        }
        self.tree.clock.tick(self.at.now);
        let version = run.machine.version();
        let records = events.into_iter().map(|event| Fact::Happened { version, event });
        self.batch.records.extend(records.map(|fact| Record { at: self.at.now, node, fact }));
        self.tree.dirty.insert(node);
    }

    /// Handles a command from the inbox.
    pub(crate) fn post(&mut self, posted: Posted) -> Result<(), Problem> {
        let Posted { id, node, request } = posted;
        let refused = match request {
            _ if !self.tree.runs.contains_key(&node) => Some(format!("there is no open run {node}").into()),
            Request::Stop => {
                self.signal(node, Signal::Stop)?;
                None
            }
            Request::Limits(limits) => {
                self.record(node, Fact::Relimited(limits))?;
                None
            }
            Request::Command(command) => {
                self.command(node, &command)?.err().map(|refusal| refusal.to_string().into())
            }
        };
        self.batch.handled.push(id);
        self.record(node, Fact::Handled { command: id, refused })
    }

    fn command(&mut self, node: NodeId, command: &Json) -> Result<Result<(), Refusal>, Problem> {
        let Some(run) = self.tree.runs.get_mut(&node) else { return Ok(Err(Refusal::new("no such run"))) };
        let had_ended = run.machine.end().is_some();
        let events = match run.machine.command(command, &self.at) {
            Ok(events) => events,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let reopened = had_ended && run.machine.end().is_none();
        self.events(node, events);
        if reopened {
            self.record(node, Fact::Reopened)?;
        }
        Ok(Ok(()))
    }

    fn signal(&mut self, node: NodeId, signal: Signal) -> Result<(), Problem> {
        let Some(run) = self.tree.runs.get_mut(&node) else { return Ok(()) };
        if signal == Signal::Stop && run.book.signalled {
            return Ok(());
        }
        let events = run.machine.signal(signal, &self.at)?;
        if signal == Signal::Stop {
            self.record(node, Fact::Signalled(signal))?;
        }
        self.events(node, events);
        Ok(())
    }

    /// Ends a piece of work and lets its machine say what that means.
    pub(crate) fn settle(
        &mut self,
        node: NodeId,
        key: EffectKey,
        how: How<AnyOutcome>,
        account: Account,
    ) -> Result<(), Problem> {
        self.batch.blobs.extend(account.blobs);
        self.record(node, Fact::Ended { key: key.clone(), how: how.kind(), spent: account.spent })?;
        let Some(run) = self.tree.runs.get_mut(&node) else { return Ok(()) };
        let events = run.machine.settled(key, how, &self.at)?;
        self.events(node, events);
        Ok(())
    }

    /// Tells the runs whose time is up.
    pub(crate) fn check_time(&mut self) -> Result<(), Problem> {
        let driven = self.tree.clock.at(self.at.now);
        let late = self.tree.runs.iter().filter(|(_, run)| {
            let limit = run.book.limits.millis;
            run.book.allowance.is_none()
                && run.machine.end().is_none()
                && limit.is_some_and(|limit| driven.saturating_sub(run.book.opened_after) >= limit)
        });
        for node in late.map(|(node, _)| *node).collect::<Vec<_>>() {
            self.limit(node, LimitKind::Time)?;
        }
        Ok(())
    }

    fn limit(&mut self, node: NodeId, limit: LimitKind) -> Result<(), Problem> {
        self.record(node, Fact::Limited { limit })?;
        self.signal(node, Signal::Limit)
    }

    /// Asks machines until none has anything new.
    pub(crate) fn rest(&mut self) -> Result<(), Problem> {
        for _ in 0..MAX_VISITS {
            let Some(node) = self.tree.dirty.pop_first() else { return Ok(()) };
            self.visit(node)?;
        }
        let kind = self.tree.runs.get(&NodeId::ROOT).map(|run| run.book.kind.clone()).unwrap_or_default();
        Err(Problem::Defect { kind, reason: "it does not come to rest".into() })
    }

    fn visit(&mut self, node: NodeId) -> Result<(), Problem> {
        let Some(run) = self.tree.runs.get_mut(&node) else { return Ok(()) };
        run.waits.clear();
        run.timers.clear();
        if let Some(command) = run.book.command.take() {
            let parent = run.book.parent.clone();
            return match (self.command(node, &command)?, parent) {
                (Ok(()), _) => self.record(node, Fact::Began),
                (Err(refusal), Some((parent, key))) => {
                    let reason = format!("its first command was refused: {refusal}");
                    self.stillborn(parent, key, Some(node), reason)
                }
                (Err(refusal), None) => Err(Problem::Refused(refusal.to_string())),
            };
        }
        let ended = run.machine.end();
        let wants = if ended.is_some() {
            Vec::new()
        } else {
            match run.machine.next(&run.book.open)? {
                ErasedNext::Record(events) => {
                    self.events(node, events);
                    return Ok(());
                }
                ErasedNext::Want(wants) => wants,
            }
        };
        let keys: BTreeSet<_> = wants.iter().map(|want| want.0.clone()).collect();
        if keys.len() != wants.len() {
            return Err(self.defect(node, "it wants two things under one key"));
        }
        let Some(run) = self.tree.runs.get(&node) else { return Ok(()) };
        for key in run.book.open.keys().filter(|key| !keys.contains(*key)).cloned().collect::<Vec<_>>() {
            self.unwanted(node, key)?;
        }
        for (key, work) in wants {
            self.want(node, key, work)?;
        }
        if let Some(end) = ended {
            self.hand_over(node, end)?;
        }
        Ok(())
    }

    /// Gives an ended child's result to its parent; the child folds away.
    fn hand_over(&mut self, node: NodeId, end: End) -> Result<(), Problem> {
        let Some(run) = self.tree.runs.get(&node) else { return Ok(()) };
        let Some((parent, key)) = run.book.parent.clone() else { return Ok(()) };
        if run.book.open.is_empty() {
            let end = ChildEnd { node: Some(node), end, spent: run.book.spent };
            self.settle(parent, key, How::Child(end), Account::default())?;
        }
        Ok(())
    }

    fn unwanted(&mut self, node: NodeId, key: EffectKey) -> Result<(), Problem> {
        let Some(run) = self.tree.runs.get(&node) else { return Ok(()) };
        match run.book.in_flight.get(&key).copied() {
            Some(InFlight::Child(child)) => self.signal(child, Signal::Stop),
            Some(InFlight::Effect { recovery, .. }) => match run.live.get(&key) {
                Some(token) => {
                    token.cancel();
                    Ok(())
                }
                // Nobody is doing it: whoever did died.
                None => self.settle(node, key, lost(recovery), Account::default()),
            },
            None => Ok(()),
        }
    }

    fn want(&mut self, node: NodeId, key: EffectKey, work: ErasedWork) -> Result<(), Problem> {
        let Some(run) = self.tree.runs.get_mut(&node) else { return Ok(()) };
        if run.book.open.contains(&key) {
            return match work {
                ErasedWork::Effect(effect) if !run.live.contains_key(&key) => {
                    self.recover(node, key, &effect)
                }
                _ => Ok(()),
            };
        }
        if run.book.finished.contains(&key) {
            return Err(self.defect(node, &format!("it wants {key} again, which is finished")));
        }
        match work {
            ErasedWork::Person(question) => run.waits.push((key, question)),
            ErasedWork::Timer(moment) if moment <= self.at.now && !self.suspending => {
                self.settle(node, key, How::Fired, Account::default())?;
            }
            ErasedWork::Timer(moment) => run.timers.push((key, moment)),
            ErasedWork::Keep => {
                return Err(self.defect(node, &format!("it keeps {key}, which is not in flight")));
            }
            ErasedWork::Effect(_) | ErasedWork::Child(_) if self.suspending => {}
            ErasedWork::Effect(effect) => {
                let needs = Spent {
                    steps: 1,
                    tokens: effect.reserve.max(thermidor_types::Tokens(1)),
                    ..Spent::default()
                };
                if self.allowed(node, &needs)? {
                    self.start(node, key, 1, &effect)?;
                }
            }
            ErasedWork::Child(spec) => {
                if self.allowed(node, &Spent { turns: 1, ..Spent::default() })? {
                    self.open(node, key, spec)?;
                }
            }
        }
        Ok(())
    }

    /// An effect that was in flight when its process died.
    fn recover(&mut self, node: NodeId, key: EffectKey, effect: &Effect<()>) -> Result<(), Problem> {
        if self.suspending {
            return Ok(());
        }
        let Some(run) = self.tree.runs.get(&node) else { return Ok(()) };
        let attempt = run.book.open.attempt(&key).unwrap_or(0).saturating_add(1);
        let recovery = match run.book.in_flight.get(&key) {
            Some(InFlight::Effect { recovery, .. }) => *recovery,
            _ => effect.recovery,
        };
        let within = self
            .tree
            .ancestors(node)
            .all(|(_, run)| run.book.limits.attempts.is_none_or(|most| attempt <= most));
        match recovery {
            Recovery::Repeat if within => self.start(node, key, attempt, effect),
            Recovery::Repeat | Recovery::Ask => self.settle(node, key, How::Unknown, Account::default()),
        }
    }

    fn start(
        &mut self,
        node: NodeId,
        key: EffectKey,
        attempt: u32,
        effect: &Effect<()>,
    ) -> Result<(), Problem> {
        let Effect { recovery, reserve, deadline, .. } = *effect;
        self.record(node, Fact::Started { key: key.clone(), attempt, recovery, reserve })?;
        let cancel = CancellationToken::new();
        if let Some(run) = self.tree.runs.get_mut(&node) {
            run.live.insert(key.clone(), cancel.clone());
        }
        self.batch.launches.push(Launch { node, key, attempt, recovery, deadline, cancel });
        Ok(())
    }

    fn open(&mut self, parent: NodeId, key: EffectKey, spec: ChildSpec) -> Result<(), Problem> {
        let child = NodeId(self.tree.next_node);
        let ChildSpec { kind, spec, command, limits } = spec;
        match self.kinds.open(&kind, &spec) {
            Ok(machine) => self.tree.prepared = Some(machine),
            Err(problem) => return self.stillborn(parent, key, None, problem.to_string()),
        }
        let opened = Opened { parent: Some((parent, key)), kind, spec, command, limits, title: None };
        self.record(child, Fact::Opened(Box::new(opened)))
    }

    /// Tells a parent that a child it wanted has failed before it began. The tree goes on without it.
    fn stillborn(
        &mut self,
        parent: NodeId,
        key: EffectKey,
        node: Option<NodeId>,
        reason: String,
    ) -> Result<(), Problem> {
        let end = End::because(EndStatus::Failed, reason);
        let end = ChildEnd { node, end, spent: Spent::default() };
        self.settle(parent, key, How::Child(end), Account::default())
    }

    /// Whether work that needs `needs` may start now. Tells the run whose limit forbids it.
    fn allowed(&mut self, node: NodeId, needs: &Spent) -> Result<bool, Problem> {
        let Some(run) = self.tree.runs.get(&node) else { return Ok(false) };
        if run.book.limits.fan_out.is_some_and(|most| run.book.open.keys().count() >= most as usize) {
            // Asked again as soon as something in flight ends.
            return Ok(false);
        }
        let depth = run.book.depth + u32::from(needs.turns > 0);
        let mut crossed = None;
        for (ancestor, run) in self.tree.ancestors(node) {
            let book = &run.book;
            let mut after = book.spent + *needs;
            after.tokens += book.reserved;
            let limit = book.limits.exceeded_by(&after).or_else(|| {
                let below = depth.saturating_sub(book.depth);
                book.limits.depth.is_some_and(|most| below > most).then_some(LimitKind::Depth)
            });
            match (limit, book.allowance) {
                (None, None) => {}
                // Beyond a limit only effects may start, and only out of the reserve.
                (_, Some(left)) if left > 0 && needs.turns == 0 => {}
                (_, Some(_)) => return Ok(false),
                (Some(limit), None) => crossed = Some((ancestor, limit)),
            }
        }
        let Some((ancestor, limit)) = crossed else { return Ok(true) };
        self.limit(ancestor, limit)?;
        // Whether it may use the reserve is asked again once the run that was told has had its say.
        self.tree.dirty.insert(node);
        Ok(false)
    }

    fn defect(&self, node: NodeId, reason: &str) -> Problem {
        let kind = self.tree.runs.get(&node).map(|run| run.book.kind.clone()).unwrap_or_default();
        Problem::Defect { kind, reason: reason.to_owned() }
    }
}

/// What to say of an effect that nobody is doing any more.
pub(crate) fn lost(recovery: Recovery) -> How<AnyOutcome> {
    match recovery {
        Recovery::Repeat => How::Abandoned,
        Recovery::Ask => How::Unknown,
    }
}

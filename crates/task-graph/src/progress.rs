use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{Error, TaskGraph, error::Problem};

/// How far one node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeState {
    /// Not started, or to be done again.
    #[default]
    Pending,
    /// Somebody works on it.
    Running,
    /// It is done; what needs it may start.
    Done,
    /// It could not be done.
    Failed,
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        })
    }
}

/// Where the work on a graph stands. A plain value: only nodes that were ever started take space.
///
/// Changes of one node cost O(log V) and its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Progress {
    nodes: BTreeMap<SmolStr, Mark>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    state: NodeState,
    attempts: u32,
}

impl FromIterator<(SmolStr, NodeState)> for Progress {
    /// A progress that is known from elsewhere. Nodes that are not pending count as started once.
    fn from_iter<I: IntoIterator<Item = (SmolStr, NodeState)>>(states: I) -> Self {
        let started = states.into_iter().filter(|(_, state)| *state != NodeState::Pending);
        Self { nodes: started.map(|(id, state)| (id, Mark { state, attempts: 1 })).collect() }
    }
}

impl Progress {
    /// Nothing has been started.
    pub fn new() -> Self {
        Self::default()
    }

    /// How far a node is.
    pub fn state(&self, id: &str) -> NodeState {
        self.nodes.get(id).map_or_else(NodeState::default, |mark| mark.state)
    }

    /// How often a node was started.
    pub fn attempts(&self, id: &str) -> u32 {
        self.nodes.get(id).map_or(0, |mark| mark.attempts)
    }

    /// The pending nodes whose needs are all done, as declared. Costs O(V + E), whatever happened before.
    pub fn ready<'a>(&self, graph: &'a TaskGraph) -> Vec<&'a SmolStr> {
        graph
            .ids()
            .filter(|id| self.state(id) == NodeState::Pending && self.missing(graph, id).is_none())
            .collect()
    }

    /// The first need of a node that is not done.
    fn missing<'a>(&self, graph: &'a TaskGraph, id: &str) -> Option<&'a SmolStr> {
        graph.needs(id).find(|need| self.state(need) != NodeState::Done)
    }

    /// Whether every node is done.
    pub fn is_complete(&self, graph: &TaskGraph) -> bool {
        graph.ids().all(|id| self.state(id) == NodeState::Done)
    }

    /// Starts a pending node; its attempt is counted from 1 and returned.
    ///
    /// # Errors
    /// `UnknownNode`; `WrongState` when it is not pending; `NotReady` when something it needs is not done.
    pub fn start(&mut self, graph: &TaskGraph, id: &str) -> Result<u32, Error> {
        if !graph.contains(id) {
            return Err(Problem::UnknownNode(id.into()).into());
        }
        self.expect(id, NodeState::Pending, NodeState::Running)?;
        if let Some(need) = self.missing(graph, id) {
            return Err(Problem::NotReady { node: id.into(), need: need.clone() }.into());
        }
        let mark = self.nodes.entry(id.into()).or_default();
        *mark = Mark { state: NodeState::Running, attempts: mark.attempts.saturating_add(1) };
        Ok(mark.attempts)
    }

    /// Notes that a running node is done.
    ///
    /// # Errors
    /// `WrongState` when it is not running.
    pub fn complete(&mut self, id: &str) -> Result<(), Error> {
        self.change(id, NodeState::Running, NodeState::Done)
    }

    /// Notes that a running node failed.
    ///
    /// # Errors
    /// `WrongState` when it is not running.
    pub fn fail(&mut self, id: &str) -> Result<(), Error> {
        self.change(id, NodeState::Running, NodeState::Failed)
    }

    /// Makes a failed node pending again; its attempts stay counted.
    ///
    /// # Errors
    /// `WrongState` when it has not failed.
    pub fn retry(&mut self, id: &str) -> Result<(), Error> {
        self.change(id, NodeState::Failed, NodeState::Pending)
    }

    /// Makes a node and exactly its downstream pending again; attempts stay counted. Returns the ones that
    /// were not pending, in topological order, with the state they were in: what runs must be called off.
    ///
    /// # Errors
    /// `UnknownNode`.
    pub fn reset(&mut self, graph: &TaskGraph, id: &str) -> Result<Vec<(SmolStr, NodeState)>, Error> {
        let Some(place) = graph.position(id) else { return Err(Problem::UnknownNode(id.into()).into()) };
        let first = graph.ids().nth(place);
        let mut undone = Vec::new();
        for id in first.into_iter().chain(graph.downstream(id)) {
            if let Some(mark) = self.nodes.get_mut(id)
                && mark.state != NodeState::Pending
            {
                undone.push((id.clone(), mark.state));
                mark.state = NodeState::Pending;
            }
        }
        Ok(undone)
    }

    fn expect(&self, id: &str, must: NodeState, wanted: NodeState) -> Result<(), Error> {
        let is = self.state(id);
        if is == must { Ok(()) } else { Err(Problem::WrongState { node: id.into(), is, wanted }.into()) }
    }

    fn change(&mut self, id: &str, from: NodeState, to: NodeState) -> Result<(), Error> {
        self.expect(id, from, to)?;
        self.nodes.entry(id.into()).or_default().state = to;
        Ok(())
    }
}

use smol_str::SmolStr;
use thermidor_step_engine::EndStatus;
use thermidor_task_graph::{Node, NodeState, Progress, TaskGraph};

use crate::{
    Call, ContextView, Decide, Decision, GraphSpec, GroupView, StageSpec, Supervisor, error::Problem,
};

/// Runs a task graph: each stage starts the moment the stages it needs are done, whatever else is under way.
/// A chain of needs is a strict relay. The run is done when every stage is.
///
/// A decision costs O(stages + needs), whatever happened before.
#[derive(Clone, Debug)]
pub(crate) struct GraphSupervisor {
    graph: TaskGraph,
    stages: Vec<StageSpec>,
}

impl GraphSupervisor {
    pub(crate) fn new(spec: &GraphSpec) -> Result<Self, Problem> {
        let stages = spec.stages.clone();
        if stages.is_empty() {
            return Err(Problem::NoStages);
        }
        let node = |stage: &StageSpec| Node::new(stage.id.clone()).needing(stage.needs.iter().cloned());
        let graph = TaskGraph::new(stages.iter().map(node))?;
        for stage in &stages {
            if let ContextView::Named(seen) = &stage.view
                && let Some(seen) = seen.iter().find(|seen| !graph.contains(seen))
            {
                return Err(Problem::UnknownStage { stage: stage.id.clone(), seen: seen.clone() });
            }
        }
        Ok(Self { graph, stages })
    }

    fn progress(&self, group: &GroupView<'_>) -> Progress {
        let state = |id: &SmolStr| match group.stage(id).map(|turn| turn.status) {
            None => NodeState::Pending,
            Some(None) => NodeState::Running,
            Some(Some(EndStatus::Done)) => NodeState::Done,
            Some(Some(EndStatus::Failed | EndStatus::Stopped | EndStatus::Limit)) => NodeState::Failed,
        };
        self.graph.ids().map(|id| (id.clone(), state(id))).collect()
    }

    fn call(&self, id: &str) -> Option<Decide> {
        let stage = self.stages.get(self.graph.position(id)?)?;
        let view = match &stage.view {
            ContextView::Needs => ContextView::Named(stage.needs.clone()),
            view @ (ContextView::All | ContextView::Request | ContextView::Named(_)) => view.clone(),
        };
        let call = Call::new(stage.member.clone())
            .stage(stage.id.clone(), stage.title.clone())
            .saying(stage.instruction.clone())
            .seeing(view)
            .under(stage.contract.clone());
        Some(Decide::Call(call))
    }
}

impl Supervisor for GraphSupervisor {
    fn decide(&self, group: &GroupView<'_>) -> Decision {
        let progress = self.progress(group);
        if progress.is_complete(&self.graph) {
            return Decision::new([Decide::finish("all_stages_done")], "every stage is done");
        }
        let ready = progress.ready(&self.graph);
        let because = if ready.is_empty() {
            "what is left waits for stages under way".into()
        } else {
            format!("ready: {}", ready.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", "))
        };
        Decision::new(ready.into_iter().filter_map(|id| self.call(id)), because)
    }
}

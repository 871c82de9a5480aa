use std::{fmt, sync::Arc};

use thermidor_context_engine::ContextEngine;
use thermidor_step_engine::{BoxFuture, EffectContext, Executor};
use thermidor_tools::{Registry, ToolContext};
use thermidor_types::{Clock, ToolCall, ToolOutcome};

use crate::{
    AgentEffect, AgentMachine, AgentOutcome, AgentSpec, AgentState, Models, Offer, ToolReply, Tries,
    model_call::{ModelCall, call_model},
};

/// Does what an agent's machine instructs: builds the prompt, calls the model, runs tools.
///
/// It decides nothing and writes no events. Fragments go out on the channels `text`, `reasoning`, `call`
/// (one [`CallFragment`](crate::CallFragment) as JSON per line) and, from tools, `progress`.
pub struct AgentExecutor {
    pub(crate) spec: Arc<AgentSpec>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) tools: Arc<Registry>,
    pub(crate) engine: ContextEngine,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tries: Option<Tries>,
}

impl Executor<AgentMachine> for AgentExecutor {
    fn start(
        &self,
        state: &AgentState,
        instruction: AgentEffect,
        context: EffectContext,
    ) -> BoxFuture<AgentOutcome> {
        match instruction {
            AgentEffect::CallModel { tools } => self.call_model(state, tools, context),
            AgentEffect::CallTool(call) => {
                let tools = self.tools.clone();
                Box::pin(async move { AgentOutcome::Tool(run_tool(&tools, &call, context).await) })
            }
        }
    }
}

impl AgentExecutor {
    fn call_model(
        &self,
        state: &AgentState,
        offer: Offer,
        context: EffectContext,
    ) -> BoxFuture<AgentOutcome> {
        let assignment = state.assignment().cloned().unwrap_or_default();
        let call = ModelCall {
            model: self.models.resolve(&self.spec.model),
            engine: self.engine.clone(),
            spec: self.spec.clone(),
            tools: self.tools.clone(),
            offer,
            clock: self.clock.clone(),
            tries: self.tries.clone(),
            context,
        };
        let view = call.model.as_ref().ok().map(|model| {
            crate::prompt::view(&self.spec, state, &assignment, self.clock.now(), model.card().clone())
        });
        Box::pin(async move { AgentOutcome::Model(Box::new(call_model(call, view).await)) })
    }
}

async fn run_tool(tools: &Registry, call: &ToolCall, context: EffectContext) -> ToolReply {
    if context.is_cancelled() {
        return ToolReply::NotBegun;
    }
    let surroundings =
        ToolContext::new(call.id.clone(), context.idempotency_key(), context.cancellation().clone());
    let progress = context.clone();
    let result =
        tools.run(call, surroundings.on_progress(move |words| progress.delta("progress", words))).await;
    match result.outcome {
        ToolOutcome::Interrupted | ToolOutcome::Unknown if context.is_cancelled() => {
            ToolReply::CutOff(result)
        }
        ToolOutcome::Success
        | ToolOutcome::Error
        | ToolOutcome::Refused
        | ToolOutcome::Interrupted
        | ToolOutcome::Unknown => ToolReply::Answered(result),
    }
}

impl fmt::Debug for AgentExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentExecutor").field("member", &self.spec.member).finish_non_exhaustive()
    }
}

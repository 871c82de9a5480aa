use crate::{Agent, AgentView, Decision, FinishReason, Instruction, Offer, Phase};

/// The general agent: asks the model, runs the tools it calls, and asks again until it answers in words.
///
/// | what is due | condition | decision |
/// | --- | --- | --- |
/// | the run begins | | `CallLlm` |
/// | an answer | without calls | `Finish(Completed)`; `MaxCallsCompleted` if its tools were withheld |
/// | | with one open call | `CallTool` |
/// | | with more | `CallToolsBatch` |
/// | all calls have results | calls to the model are left | `CallLlm` |
/// | | none is left | `Finish(MaxCallsCompleted)` |
/// | a failed model call | | `Finish(Failed)` |
///
/// The last model call allowed is made without tools, so that it ends in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatAgent;

impl Agent for ChatAgent {
    fn decide(&self, agent: &AgentView<'_>) -> Decision<Instruction> {
        let last = agent.calls_left() <= 1;
        let ask = || match (last, agent.spec().tools.is_empty()) {
            (false, false) => Decision::of(Instruction::CallLlm { tools: Offer::Tools }),
            (_, true) => Decision::of(Instruction::CallLlm { tools: Offer::Nothing }),
            (true, false) => {
                let reason = format!(
                    "the last of {} model calls is made without tools",
                    agent.spec().max_calls.max(1)
                );
                Decision::of(Instruction::CallLlm { tools: Offer::Nothing }).because(reason)
            }
        };
        let finish = |reason| Decision::of(Instruction::Finish { reason });
        match agent.phase() {
            Phase::Answered(_) => {
                let mut calls: Vec<_> = agent.open_calls().map(|call| call.id.clone()).collect();
                match (calls.len(), calls.pop()) {
                    (1, Some(call)) => Decision::of(Instruction::CallTool { call }),
                    (_, Some(call)) => {
                        calls.push(call);
                        Decision::of(Instruction::CallToolsBatch { calls })
                    }
                    (_, None) if agent.calls_left() == 0 && !agent.spec().tools.is_empty() => {
                        finish(FinishReason::MaxCallsCompleted)
                    }
                    (_, None) => finish(FinishReason::Completed),
                }
            }
            Phase::CallsSettled(_) if agent.calls_left() == 0 => finish(FinishReason::MaxCallsCompleted),
            Phase::Begun | Phase::CallsSettled(_) => ask(),
            Phase::ModelFailed(failure) => finish(FinishReason::Failed(failure.clone())),
        }
    }
}

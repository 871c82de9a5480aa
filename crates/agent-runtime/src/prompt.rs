//! What an agent's model is told: its configuration and state as a view and steps of the context engine.

use std::sync::Arc;

use smol_str::SmolStr;
use thermidor_context_engine::{
    ContextEngine, Contribution, Error, Keep, Room, Step, Upstream, View, processor_fn, provider_fn,
    steps::{OutputContract, SkillText, SystemRole},
};
use thermidor_tools::Registry;
use thermidor_types::{Message, ModelCard, Timestamp, Tokens};

use crate::{AgentSpec, AgentState, Assignment, UpstreamOutput};

/// The longest answer that is asked for, whatever the model could.
const LONGEST_ANSWER: Tokens = Tokens(16_384);

/// Under this name the words of a repair stand in a view's facts.
const REPAIR: &str = "repair";

/// The engine for one agent: the usual steps, its persona, skill and contract, then the caller's own.
pub(crate) fn engine(spec: &AgentSpec, tools: &Arc<Registry>, own: &[Step]) -> Result<ContextEngine, Error> {
    let contract = &spec.contract;
    let mut builder = ContextEngine::standard().provider(SystemRole::new(spec.persona.clone()));
    if let Some(skill) = &spec.skill {
        builder = builder.provider(SkillText::new(skill.name.clone(), skill.instructions.clone()));
    }
    let tools = tools.clone();
    let builder = builder
        .provider(OutputContract {
            words: contract.words,
            sections: contract.sections.clone(),
            files: contract.files,
        })
        .provider(provider_fn("repair", |view| {
            Some(Contribution::tail(REPAIR, view.facts.get(REPAIR)?.clone()).priority(255).keep(Keep::Whole))
        }))
        .processor(processor_fn("wire-names", move |draft, _| {
            draft.rewrite("tools under their wire names", |message| on_the_wire(message, &tools));
            Ok(())
        }));
    own.iter().cloned().fold(builder, thermidor_context_engine::ContextEngineBuilder::step).build()
}

/// What the agent's model may see at this moment.
pub(crate) fn view(
    spec: &AgentSpec,
    state: &AgentState,
    assignment: &Assignment,
    now: Timestamp,
    model: ModelCard,
) -> View {
    let upstream = |output: &UpstreamOutput| Upstream {
        id: output.id.clone(),
        title: output.title.clone(),
        member: (!output.member.is_empty()).then(|| output.member.clone()),
        text: output.text.clone(),
    };
    View {
        zone: spec.zone.clone(),
        member: Some(spec.member.clone()),
        instruction: assignment.instruction.clone(),
        history: state.history.clone(),
        upstream: assignment.upstream.iter().map(upstream).collect(),
        params: assignment.params.clone(),
        facts: state
            .repair_words()
            .map(|words| (SmolStr::new_static(REPAIR), words.clone()))
            .into_iter()
            .collect(),
        ..View::new(now, model, assignment.request.clone())
    }
}

/// What stays free for the answer, and the longest answer asked for: what the model can, at most a quarter of
/// its window.
pub(crate) fn room(model: &ModelCard) -> Room {
    let quarter = Tokens(model.context_window.0 / 4);
    Room { answer: model.max_output.unwrap_or(quarter).min(quarter).min(LONGEST_ANSWER).max(Tokens(1)) }
}

/// The message with its calls under the names that providers accept, if any has another one.
fn on_the_wire(message: &Message, tools: &Registry) -> Option<Message> {
    let Message::Assistant(answer) = message else { return None };
    if answer.exchanges().all(|exchange| wire_name(&exchange.call.name, tools) == exchange.call.name) {
        return None;
    }
    let mut answer = answer.clone();
    for exchange in answer.exchanges_mut() {
        exchange.call.name = wire_name(&exchange.call.name, tools);
    }
    Some(Message::Assistant(answer))
}

/// A tool that is not registered here any more, or never was, keeps what can be kept of its name.
fn wire_name(name: &SmolStr, tools: &Registry) -> SmolStr {
    if let Some(wire) = tools.wire_name(name) {
        return wire.clone();
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let kept: SmolStr = name.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect();
    if kept.is_empty() { SmolStr::new_static("unknown") } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_by_model_window_and_reason() {
        let card = |window, most: Option<u64>| ModelCard {
            max_output: most.map(Tokens),
            ..ModelCard::unknown("a/b".parse().expect("an id"), Tokens(window))
        };
        for (window, most, expected) in [
            (8_000, None, 2_000),
            (8_000, Some(500), 500),
            (1_000_000, None, 16_384),
            (400_000, Some(128_000), 16_384),
            (0, None, 1),
        ] {
            assert_eq!(room(&card(window, most)).answer, Tokens(expected), "{window} {most:?}");
        }
    }

    #[test]
    fn names_fit_the_wire() {
        let tools = Registry::default();
        for (name, expected) in [("add", "add"), ("查 x", "__x"), ("", "unknown")] {
            assert_eq!(wire_name(&name.into(), &tools), expected);
        }
    }
}

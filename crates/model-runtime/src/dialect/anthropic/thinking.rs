//! Whether and how much a model is told to think, and how long its answer may get.

use thermidor_types::{AssistantMessage, Message, ModelCard, NativeItem, Part, Tokens};

use super::{blocks, request::Thinking};
use crate::{ChatRequest, Quirk, Quirks, ReasoningEffort, ToolChoice, dialect::replay};

/// The longest answer asked for where neither the request nor the card says one, in tokens.
const USUAL_LENGTH: u64 = 8_192;

/// The smallest budget that the API takes, in tokens.
const SMALLEST_BUDGET: u64 = 1_024;

/// What a request says of thinking and of the answer's length.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// `max_tokens`, which includes the thinking.
    pub(super) max_tokens: u64,
    pub(super) thinking: Option<Thinking>,
    /// `output_config.effort`; the API's own default is `high`.
    pub(super) effort: Option<&'static str>,
}

impl Plan {
    /// Reads the wish of `request`.
    ///
    /// `max_tokens` is what the request asks for, cut to what the card allows; else what the card allows; else 8192,
    /// and never more than half of the window. It is not raised: a budget that does not fit is cut to three
    /// quarters of it, and thinking is off where not even 1024 tokens fit.
    ///
    /// Thinking is off, too, where the API would refuse it: when a tool is forced, and, with budgets, when the tool
    /// calls being answered were made by a model whose thoughts cannot be shown to this one.
    pub(super) fn of(request: &ChatRequest, card: &ModelCard, quirks: &Quirks) -> Self {
        let usual =
            card.max_output.map_or(USUAL_LENGTH, |most| most.0).min((card.context_window.0 / 2).max(1));
        let most = card.max_output.map_or(u64::MAX, |most| most.0);
        let max_tokens = request.max_output.map_or(usual, |limit| limit.0.min(most)).max(1);
        let unsaid = Self { max_tokens, thinking: None, effort: None };
        let Some(wish) = request.reasoning.filter(|_| card.abilities.reasoning) else { return unsaid };
        let always = quirks.has(Quirk::ThinkingAlways);
        let off = || Self { thinking: (!always).then_some(Thinking::Disabled), ..unsaid };
        let display = quirks.has(Quirk::ReasoningSummary).then_some("summarized");
        if matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_)) {
            return off();
        }
        let by_steps = quirks.has(Quirk::AdaptiveThinking)
            && !(matches!(wish, ReasoningEffort::Budget(_)) && quirks.has(Quirk::ThinkingBudget));
        if by_steps {
            let thinking = Some(Thinking::Adaptive { display });
            return match wish {
                ReasoningEffort::Off if always => Self { effort: Some("low"), ..off() },
                ReasoningEffort::Off => off(),
                _ => Self { thinking, effort: step(wish), ..unsaid },
            };
        }
        let budget = match budget(wish) {
            None => return off(),
            Some(budget) if budget < max_tokens => budget,
            Some(_) => (max_tokens - max_tokens / 4).max(SMALLEST_BUDGET),
        };
        if budget >= max_tokens || loop_lacks_thoughts(request, card) {
            return off();
        }
        Self { thinking: Some(Thinking::Enabled { budget_tokens: budget, display }), ..unsaid }
    }

    /// Whether the model may think: it was told to, or nobody told a model that thinks not to.
    pub(super) fn may_think(&self, card: &ModelCard) -> bool {
        card.abilities.reasoning && self.thinking != Some(Thinking::Disabled)
    }

    /// Whether the model was told to think, which leaves no choice of sampling.
    pub(super) fn thinks(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled { .. } | Thinking::Adaptive { .. }))
    }
}

/// The nearest step of `output_config.effort`; `None` for `high`, which is the API's default.
fn step(wish: ReasoningEffort) -> Option<&'static str> {
    match wish {
        ReasoningEffort::Max => Some("max"),
        ReasoningEffort::Off
        | ReasoningEffort::Minimal
        | ReasoningEffort::Low
        | ReasoningEffort::Budget(Tokens(..=2_048)) => Some("low"),
        ReasoningEffort::Medium | ReasoningEffort::Budget(Tokens(..=8_192)) => Some("medium"),
        ReasoningEffort::High | ReasoningEffort::Budget(_) => None,
    }
}

/// The budget in tokens; `None` when there shall be no thinking.
fn budget(wish: ReasoningEffort) -> Option<u64> {
    match wish {
        ReasoningEffort::Off | ReasoningEffort::Budget(Tokens(0)) => None,
        ReasoningEffort::Minimal => Some(SMALLEST_BUDGET),
        ReasoningEffort::Low => Some(2_048),
        ReasoningEffort::Medium => Some(8_192),
        ReasoningEffort::High => Some(16_384),
        ReasoningEffort::Max => Some(32_000),
        ReasoningEffort::Budget(tokens) => Some(tokens.0.max(SMALLEST_BUDGET)),
    }
}

/// Whether the calls whose results are sent now began without thoughts that this model may see.
///
/// The API counts calls and results up to the next words of a person as one turn, which must begin with its
/// thinking block.
fn loop_lacks_thoughts(request: &ChatRequest, card: &ModelCard) -> bool {
    let mut messages = request
        .messages
        .iter()
        .rev()
        .skip_while(|message| !matches!(message, Message::Assistant(_)))
        .peekable();
    if !matches!(messages.peek(), Some(Message::Assistant(last)) if last.exchanges().next().is_some()) {
        return false;
    }
    let turns = messages.map_while(|message| match message {
        Message::Assistant(turn) => Some(turn),
        Message::System(_) | Message::User(_) => None,
    });
    turns.last().is_some_and(|first| !begins_with_thoughts(first, card))
}

/// Whether the first block sent for `turn` is one of its thoughts.
pub(super) fn begins_with_thoughts(turn: &AssistantMessage, card: &ModelCard) -> bool {
    turn.parts.iter().any(|part| match part {
        Part::Reasoning(reasoning) => {
            reasoning.signature.is_some() && replay::is_own(reasoning.model.as_ref(), &card.id)
        }
        Part::Native(NativeItem { model, item }) => {
            *model == card.id && blocks::kind(item).is_some_and(|kind| kind == "redacted_thinking")
        }
        Part::Text(_) | Part::Exchange(_) | Part::Media(_) => false,
    })
}

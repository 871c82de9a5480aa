//! How much the model thinks, in the words of each provider.

use serde::Serialize;
use thermidor_types::Tokens;

use crate::{Quirk, Quirks, ReasoningEffort};

/// Fields that say how much to think. Providers know one or two of them; unknown ones are refused.
#[derive(Debug, Default, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(super) struct Thinking {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Template>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReasoningObject {
    Effort(&'static str),
    MaxTokens(u64),
    Enabled(bool),
}

#[derive(Debug, PartialEq, Serialize)]
struct Kind {
    r#type: &'static str,
}

#[derive(Debug, PartialEq, Serialize)]
struct Template {
    thinking: bool,
}

impl Thinking {
    /// The wish in the form that `quirks` name; without one of those flags none is sent.
    pub(super) fn of(wish: Option<ReasoningEffort>, quirks: &Quirks) -> Self {
        let Some(wish) = wish else { return Self::default() };
        let on = !matches!(wish, ReasoningEffort::Off | ReasoningEffort::Budget(Tokens(0)));
        let has = |quirk| quirks.has(quirk);
        // Where a switch is off, an effort beside it is refused.
        let switched_off = !on && (has(Quirk::ThinkingType) || has(Quirk::ThinkingSwitch));
        let switch = has(Quirk::ThinkingSwitch);
        Self {
            reasoning_effort: (has(Quirk::ReasoningEffort) && !switched_off).then(|| effort(wish, quirks)),
            reasoning: has(Quirk::ReasoningObject).then(|| object(wish)),
            enable_thinking: switch.then_some(on),
            thinking_budget: budget(wish).filter(|_| switch && on),
            thinking: has(Quirk::ThinkingType)
                .then_some(Kind { r#type: if on { "enabled" } else { "disabled" } }),
            chat_template_kwargs: has(Quirk::ThinkingTemplate).then_some(Template { thinking: on }),
        }
    }
}

/// A step for providers that know steps only. All know `low`, `medium` and `high`.
pub(crate) fn effort(wish: ReasoningEffort, quirks: &Quirks) -> &'static str {
    let or = |quirk, step, otherwise| if quirks.has(quirk) { step } else { otherwise };
    match wish {
        ReasoningEffort::Off | ReasoningEffort::Budget(Tokens(0)) => {
            or(Quirk::EffortNone, "none", or(Quirk::EffortMinimal, "minimal", "low"))
        }
        ReasoningEffort::Minimal => or(Quirk::EffortMinimal, "minimal", "low"),
        ReasoningEffort::Low | ReasoningEffort::Budget(Tokens(..=4096)) => "low",
        ReasoningEffort::Medium | ReasoningEffort::Budget(Tokens(..=16_384)) => "medium",
        ReasoningEffort::High | ReasoningEffort::Budget(_) => "high",
        ReasoningEffort::Max => or(Quirk::EffortXhigh, "xhigh", "high"),
    }
}

fn object(wish: ReasoningEffort) -> ReasoningObject {
    match wish {
        ReasoningEffort::Off | ReasoningEffort::Budget(Tokens(0)) => ReasoningObject::Enabled(false),
        ReasoningEffort::Minimal => ReasoningObject::Effort("minimal"),
        ReasoningEffort::Low => ReasoningObject::Effort("low"),
        ReasoningEffort::Medium => ReasoningObject::Effort("medium"),
        ReasoningEffort::High => ReasoningObject::Effort("high"),
        ReasoningEffort::Max => ReasoningObject::Effort("xhigh"),
        ReasoningEffort::Budget(tokens) => ReasoningObject::MaxTokens(tokens.0),
    }
}

/// A budget for providers that know budgets only; from `Medium` on the model's own.
fn budget(wish: ReasoningEffort) -> Option<u64> {
    match wish {
        ReasoningEffort::Minimal => Some(1024),
        ReasoningEffort::Low => Some(4096),
        ReasoningEffort::Budget(tokens) => Some(tokens.0),
        ReasoningEffort::Off | ReasoningEffort::Medium | ReasoningEffort::High | ReasoningEffort::Max => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wrong row is a request that the provider refuses, or a model that thinks when it should not.
    #[test]
    fn every_wish_in_every_form() {
        use ReasoningEffort::{Budget, High, Low, Max, Medium, Minimal, Off};
        let wishes = [Off, Minimal, Low, Medium, High, Max, Budget(Tokens(2000)), Budget(Tokens(0))];
        let rows: &[(&[Quirk], [&str; 8])] = &[
            (&[], ["{}"; 8]),
            (&[Quirk::ReasoningEffort], ["low", "low", "low", "medium", "high", "high", "low", "low"]),
            (
                &[Quirk::ReasoningEffort, Quirk::EffortNone, Quirk::EffortMinimal, Quirk::EffortXhigh],
                ["none", "minimal", "low", "medium", "high", "xhigh", "low", "none"],
            ),
            (
                &[Quirk::ReasoningObject],
                [
                    r#"{"reasoning":{"enabled":false}}"#,
                    r#"{"reasoning":{"effort":"minimal"}}"#,
                    r#"{"reasoning":{"effort":"low"}}"#,
                    r#"{"reasoning":{"effort":"medium"}}"#,
                    r#"{"reasoning":{"effort":"high"}}"#,
                    r#"{"reasoning":{"effort":"xhigh"}}"#,
                    r#"{"reasoning":{"max_tokens":2000}}"#,
                    r#"{"reasoning":{"enabled":false}}"#,
                ],
            ),
            (
                &[Quirk::ThinkingSwitch],
                [
                    r#"{"enable_thinking":false}"#,
                    r#"{"enable_thinking":true,"thinking_budget":1024}"#,
                    r#"{"enable_thinking":true,"thinking_budget":4096}"#,
                    r#"{"enable_thinking":true}"#,
                    r#"{"enable_thinking":true}"#,
                    r#"{"enable_thinking":true}"#,
                    r#"{"enable_thinking":true,"thinking_budget":2000}"#,
                    r#"{"enable_thinking":false}"#,
                ],
            ),
            (
                &[Quirk::ThinkingType, Quirk::ReasoningEffort],
                [
                    r#"{"thinking":{"type":"disabled"}}"#,
                    r#"{"reasoning_effort":"low","thinking":{"type":"enabled"}}"#,
                    r#"{"reasoning_effort":"low","thinking":{"type":"enabled"}}"#,
                    r#"{"reasoning_effort":"medium","thinking":{"type":"enabled"}}"#,
                    r#"{"reasoning_effort":"high","thinking":{"type":"enabled"}}"#,
                    r#"{"reasoning_effort":"high","thinking":{"type":"enabled"}}"#,
                    r#"{"reasoning_effort":"low","thinking":{"type":"enabled"}}"#,
                    r#"{"thinking":{"type":"disabled"}}"#,
                ],
            ),
            (
                &[Quirk::ThinkingTemplate],
                [
                    r#"{"chat_template_kwargs":{"thinking":false}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":true}}"#,
                    r#"{"chat_template_kwargs":{"thinking":false}}"#,
                ],
            ),
        ];
        for (quirks, expected) in rows {
            for (wish, expected) in wishes.into_iter().zip(expected) {
                let written = Thinking::of(Some(wish), &Quirks::of(quirks.iter().copied()));
                let written = serde_json::to_string(&written).expect("JSON");
                let expected = match *expected {
                    step if step.starts_with('{') => step.to_owned(),
                    step => format!(r#"{{"reasoning_effort":"{step}"}}"#),
                };
                assert_eq!(written, expected, "{wish:?} {quirks:?}");
            }
        }
        assert_eq!(Thinking::of(None, &Quirks::of([Quirk::ReasoningEffort])), Thinking::default());
    }
}

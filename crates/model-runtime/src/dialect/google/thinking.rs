use thermidor_types::Tokens;

use super::request::Thinking;
use crate::{Quirk, Quirks, ReasoningEffort};

/// The largest budget of models that can also be told not to think, in tokens.
const MOST: u64 = 24_576;
/// The range of models that always think.
const ALWAYS: (u64, u64) = (128, 32_768);
/// The smallest budget of the smallest models.
const LEAST_OF_SMALL: u64 = 512;
/// Budgets of the named efforts, as Google's own translation of `reasoning_effort` has them.
const LOW: u64 = 1024;
const MEDIUM: u64 = 8192;

/// The wish about thinking in this generation's words; `None` where the model knows none.
pub(super) fn thinking(effort: ReasoningEffort, quirks: &Quirks) -> Option<Thinking> {
    if quirks.has(Quirk::ThinkingLevel) {
        let level = level(effort, quirks.has(Quirk::ThinkingAlways));
        return Some(Thinking {
            level: Some(level),
            include_thoughts: effort != ReasoningEffort::Off,
            ..Thinking::default()
        });
    }
    if !quirks.has(Quirk::ThinkingBudget) {
        return None;
    }
    let budget = budget(effort, quirks);
    Some(Thinking { budget: Some(budget), include_thoughts: budget > 0, ..Thinking::default() })
}

/// Steps instead of budgets; a model of this generation always thinks a little.
fn level(effort: ReasoningEffort, always: bool) -> &'static str {
    match effort {
        ReasoningEffort::Off | ReasoningEffort::Minimal | ReasoningEffort::Budget(Tokens(0)) if !always => {
            "minimal"
        }
        ReasoningEffort::Off
        | ReasoningEffort::Minimal
        | ReasoningEffort::Low
        | ReasoningEffort::Budget(Tokens(..=LOW)) => "low",
        ReasoningEffort::Medium | ReasoningEffort::Budget(Tokens(..=MEDIUM)) => "medium",
        ReasoningEffort::High | ReasoningEffort::Max | ReasoningEffort::Budget(_) => "high",
    }
}

fn budget(effort: ReasoningEffort, quirks: &Quirks) -> u64 {
    let (least, most) = if quirks.has(Quirk::ThinkingAlways) { ALWAYS } else { (0, MOST) };
    let wanted = match effort {
        ReasoningEffort::Off => 0,
        ReasoningEffort::Minimal => LEAST_OF_SMALL,
        ReasoningEffort::Low => LOW,
        ReasoningEffort::Medium => MEDIUM,
        ReasoningEffort::High => MOST,
        ReasoningEffort::Max => most,
        ReasoningEffort::Budget(Tokens(budget)) => budget,
    };
    let smallest = if wanted > 0 && quirks.has(Quirk::ThinkingFrom512) { LEAST_OF_SMALL } else { least };
    wanted.clamp(smallest, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget outside its range is refused with the whole request.
    #[test]
    fn each_generation_gets_its_own_words_and_ranges() {
        use ReasoningEffort::{Budget, High, Low, Max, Medium, Minimal, Off};
        let flash: &[Quirk] = &[Quirk::ThinkingBudget];
        let pro: &[Quirk] = &[Quirk::ThinkingBudget, Quirk::ThinkingAlways];
        let lite: &[Quirk] = &[Quirk::ThinkingBudget, Quirk::ThinkingFrom512];
        let steps: &[Quirk] = &[Quirk::ThinkingLevel];
        let pro_steps: &[Quirk] = &[Quirk::ThinkingLevel, Quirk::ThinkingAlways];
        let check = |quirks: &[Quirk], rows: &[(ReasoningEffort, &str)]| {
            for (effort, expected) in rows {
                let told = thinking(*effort, &Quirks::of(quirks.iter().copied()));
                let told = serde_json::to_string(&told).expect("JSON").replace(['"', '{', '}'], "");
                assert_eq!(told, *expected, "{effort:?} {quirks:?}");
            }
        };
        check(&[], &[(High, "null"), (Off, "null")]);
        check(
            flash,
            &[
                (Off, "thinkingBudget:0"),
                (Minimal, "thinkingBudget:512,includeThoughts:true"),
                (Low, "thinkingBudget:1024,includeThoughts:true"),
                (Medium, "thinkingBudget:8192,includeThoughts:true"),
                (High, "thinkingBudget:24576,includeThoughts:true"),
                (Max, "thinkingBudget:24576,includeThoughts:true"),
                (Budget(Tokens(7)), "thinkingBudget:7,includeThoughts:true"),
                (Budget(Tokens(99_999)), "thinkingBudget:24576,includeThoughts:true"),
            ],
        );
        check(
            pro,
            &[
                (Off, "thinkingBudget:128,includeThoughts:true"),
                (Max, "thinkingBudget:32768,includeThoughts:true"),
                (Budget(Tokens(7)), "thinkingBudget:128,includeThoughts:true"),
            ],
        );
        check(
            lite,
            &[
                (Off, "thinkingBudget:0"),
                (Budget(Tokens(7)), "thinkingBudget:512,includeThoughts:true"),
                (Budget(Tokens(0)), "thinkingBudget:0"),
            ],
        );
        check(
            steps,
            &[
                (Off, "thinkingLevel:minimal"),
                (Medium, "thinkingLevel:medium,includeThoughts:true"),
                (Budget(Tokens(1024)), "thinkingLevel:low,includeThoughts:true"),
                (Budget(Tokens(9000)), "thinkingLevel:high,includeThoughts:true"),
            ],
        );
        check(
            pro_steps,
            &[
                (Off, "thinkingLevel:low"),
                (Minimal, "thinkingLevel:low,includeThoughts:true"),
                (Max, "thinkingLevel:high,includeThoughts:true"),
            ],
        );
    }
}

use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::Json;

use super::event::present;
use crate::{Quirk, Quirks, dialect::lenient::string};

/// Whether an item that only the provider understands goes back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Reasoning: before the item it led to, and not without it.
    Reasoning,
    /// In its place.
    Item,
    /// Not at all.
    Never,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// Whether `item` goes back to the model that made it.
///
/// Nothing is stored at the provider, so reasoning must hold its content, encrypted or plain, unless the provider
/// takes it without. Calls that a client answers other than by a function's result would stay unanswered. An image is
/// a medium of the message; what is left is the item of one that failed.
pub(super) fn replay(item: &Json, quirks: &Quirks) -> Replay {
    let Ok(head) = serde_json::from_str::<Head<'_>>(item.as_str()) else { return Replay::Never };
    match string(head.kind).as_deref() {
        Some("reasoning") => {
            let plain = present(head.content).is_some_and(|content| content.get() != "[]");
            let whole = plain || string(head.encrypted_content).is_some();
            if whole || quirks.has(Quirk::PlainReasoningItems) { Replay::Reasoning } else { Replay::Never }
        }
        Some(
            "function_call"
            | "computer_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "shell_call"
            | "apply_patch_call"
            | "mcp_approval_request",
        )
        | None => Replay::Never,
        Some(_) => Replay::Item,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if an item left that the API refuses, or one was kept back that it wants.
    #[test]
    fn what_goes_back() {
        let check = |item: &str, quirks: &[Quirk], expected: Replay| {
            let quirks = Quirks::of(quirks.iter().copied());
            assert_eq!(replay(&Json::parse(item).expect("JSON"), &quirks), expected, "{item}");
        };
        check(r#"{"type":"reasoning","encrypted_content":"x","summary":[]}"#, &[], Replay::Reasoning);
        check(
            r#"{"type":"reasoning","content":[{"type":"reasoning_text","text":"x"}]}"#,
            &[],
            Replay::Reasoning,
        );
        let summary =
            r#"{"type":"reasoning","encrypted_content":null,"content":[],"summary":[{"text":"x"}]}"#;
        check(summary, &[], Replay::Never);
        check(summary, &[Quirk::PlainReasoningItems], Replay::Reasoning);
        check(r#"{"type":"web_search_call","id":"ws_1"}"#, &[], Replay::Item);
        check(r#"{"type":"computer_call","call_id":"c"}"#, &[], Replay::Never);
        check(r#"{"id":"x"}"#, &[], Replay::Never);
        check("[]", &[], Replay::Never);
    }
}

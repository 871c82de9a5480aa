use std::collections::HashSet;

use super::body::Message;

const UNANSWERED: &str = "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'";
const ORPHAN: &str = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";

/// The provider's rule: every tool call of an assistant is answered right after it. Gives the complaint.
pub(super) fn complaint(messages: &[Message<'_>]) -> Option<&'static str> {
    let mut pending: HashSet<Option<&str>> = HashSet::new();
    for message in messages {
        if message.is("tool") {
            if !pending.remove(&message.tool_call_id.as_deref()) {
                return Some(ORPHAN);
            }
            continue;
        }
        if !pending.is_empty() {
            return Some(UNANSWERED);
        }
        if message.is("assistant") {
            pending = message.calls().iter().map(|call| call.id.as_deref()).collect();
        }
    }
    (!pending.is_empty()).then_some(UNANSWERED)
}

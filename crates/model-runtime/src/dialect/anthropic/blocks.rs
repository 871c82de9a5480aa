//! Reads blocks of the provider's own, which are kept as they came.

use std::{borrow::Cow, collections::HashSet};

use serde::Deserialize;
use thermidor_types::{AssistantMessage, Json, ModelId, NativeItem, Part};

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
}

fn head(item: &Json) -> Option<Head<'_>> {
    serde_json::from_str(item.as_str()).ok()
}

/// The type of a block.
pub(super) fn kind(item: &Json) -> Option<Cow<'_, str>> {
    head(item).map(|head| head.r#type)
}

/// Calls of server-side tools in `message` that got no result: the stream broke off, or the provider paused. Sent
/// back anywhere but at the very end, they are refused.
pub(super) struct Unanswered<'a>(HashSet<Cow<'a, str>>);

impl<'a> Unanswered<'a> {
    pub(super) fn of(message: &'a AssistantMessage, model: &ModelId) -> Self {
        let mut open = HashSet::new();
        for part in &message.parts {
            let Part::Native(NativeItem { model: maker, item }) = part else { continue };
            let Some(head) = head(item).filter(|_| maker == model) else { continue };
            if let Some(id) = head.id.filter(|_| head.r#type.ends_with("tool_use")) {
                open.insert(id);
            }
            if let Some(id) = head.tool_use_id {
                open.remove(&id);
            }
        }
        Self(open)
    }

    pub(super) fn has(&self, item: &Json) -> bool {
        !self.0.is_empty() && head(item).and_then(|head| head.id).is_some_and(|id| self.0.contains(&id))
    }
}

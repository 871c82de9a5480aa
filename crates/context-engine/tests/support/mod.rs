//! What the tests share: a model, a view, messages.
#![allow(dead_code, reason = "every test binary uses its part")]

use std::sync::Arc;

use thermidor_context_engine::{ContextEngine, Prompt, Room, TokenCounter, View};
use thermidor_types::{
    AssistantMessage, Exchange, Measure, Message, ModelCard, Origin, Part, Timestamp, Tokens, ToolCall,
    ToolResult,
};

/// One token a word, so that figures can be checked by eye.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> Tokens {
        Tokens(text.split_whitespace().count() as u64)
    }
    fn measure(&self) -> Measure {
        Measure::Counted
    }
}

pub(crate) fn view(window: u64, request: &str) -> View {
    let model = ModelCard::unknown("openai/gpt-5".parse().expect("valid"), Tokens(window));
    View::new(Timestamp::from_millis(1_774_999_800_000), model, request)
}

pub(crate) fn with_history(view: View, history: impl IntoIterator<Item = Message>) -> View {
    View { history: history.into_iter().map(Arc::new).collect(), ..view }
}

pub(crate) fn call(id: &str, result: Option<&str>) -> Message {
    let open = Exchange::open(ToolCall::new(id, "search", "{}"));
    let exchange = match result {
        Some(text) => open.answered(ToolResult::text(text)),
        None => open,
    };
    let parts = vec![Part::Exchange(exchange)];
    Message::Assistant(AssistantMessage { parts, origin: Origin::member("a"), ..AssistantMessage::default() })
}

pub(crate) async fn prompt(engine: &ContextEngine, view: View) -> Prompt {
    engine.prompt(view, vec![], Room::default()).await.expect("a prompt")
}

/// Role and text of each message, one a line; a tool call stands as `name→result`.
pub(crate) fn outline(prompt: &Prompt) -> String {
    let line = |message: &Message| {
        let mut text = message.text();
        if let Message::Assistant(answer) = message {
            for exchange in answer.exchanges() {
                let result = exchange
                    .result
                    .as_ref()
                    .map(|result| format!("{:?} {:?}", result.outcome, result.content));
                text.extend([exchange.call.id.as_str(), "→", &result.unwrap_or_default()]);
            }
        }
        format!("{:?}: {}\n", message.role(), text.replace('\n', "⏎"))
    };
    prompt.messages.iter().map(line).collect()
}

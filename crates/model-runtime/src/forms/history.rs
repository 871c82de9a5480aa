use serde::Serialize;
use serde_json::value::RawValue;
use thermidor_types::{AssistantMessage, Content, Exchange, Message, Origin, Part, ToolOutcome, UserMessage};

/// What the model reads in place of a result that never came.
const INTERRUPTED: &str = "The call was interrupted before it gave a result.";

/// The history for a model that knows no calls: a call is what it said, a result is what it was told.
///
/// Calls are written as the model writes them, so that it sees its own form.
pub(super) fn without_exchanges(messages: Vec<Message>) -> Vec<Message> {
    let mut plain = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            Message::Assistant(message) if message.exchanges().next().is_some() => {
                let exchanges: Vec<Exchange> = message.exchanges().cloned().collect();
                plain.push(Message::Assistant(spoken(message, &exchanges)));
                plain.push(Message::User(results(&exchanges)));
            }
            other => plain.push(other),
        }
    }
    plain
}

#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

fn spoken(message: AssistantMessage, exchanges: &[Exchange]) -> AssistantMessage {
    let calls: Vec<Call<'_>> = exchanges
        .iter()
        .map(|Exchange { call, .. }| Call {
            tool: &call.name,
            arguments: serde_json::from_str(&call.arguments)
                .map_or(Arguments::Text(&call.arguments), Arguments::Json),
        })
        .collect();
    let text = match calls.as_slice() {
        [one] => serde_json::to_string(one),
        several => serde_json::to_string(several),
    };
    let mut parts: Vec<Part> =
        message.parts.into_iter().filter(|part| !matches!(part, Part::Exchange(_))).collect();
    parts.push(Part::text(text.unwrap_or_default()));
    AssistantMessage { parts, ..message }
}

fn results(exchanges: &[Exchange]) -> UserMessage {
    let mut content = Vec::new();
    for exchange in exchanges {
        let (head, result) = match &exchange.result {
            None => (heading(exchange, ToolOutcome::Interrupted), vec![Content::Text(INTERRUPTED.into())]),
            Some(result) => (heading(exchange, result.outcome), result.content.clone()),
        };
        content.push(Content::Text(head.into()));
        content.extend(result);
    }
    UserMessage { content, origin: Origin::context() }
}

fn heading(exchange: &Exchange, outcome: ToolOutcome) -> String {
    let name = &exchange.call.name;
    match outcome {
        ToolOutcome::Success => format!("Result of {name}:"),
        ToolOutcome::Error => format!("{name} failed:"),
        ToolOutcome::Refused => format!("{name} was not allowed to run:"),
        ToolOutcome::Interrupted => format!("{name} was interrupted:"),
        ToolOutcome::Unknown => format!("It is not known whether {name} took effect:"),
    }
}

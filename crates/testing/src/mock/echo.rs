//! The role `echo`: the rehearsal writer behind HTTP, marked with a digest of what was asked.

use futures_util::StreamExt;
use serde_json::Value;
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, Rehearsal, ResponseSchema, StreamEnd, StreamEnding, ToolChoice,
};
use thermidor_types::{
    AssistantMessage, Exchange, Json, Message, Part, Text, Tokens, ToolCall, ToolResult, ToolSchema,
};

use super::{body, decide::Reply};

/// An answer, its tokens, and whether it stopped at the length allowed.
pub(super) struct Echo {
    pub(super) reply: Reply,
    pub(super) usage: (u64, u64),
    pub(super) length: bool,
}

/// Answers from what the request holds: the same request, the same answer; another last message, another one.
///
/// # Errors
/// The writer's own refusal, for a prompt longer than its window.
pub(super) async fn echo(body: &body::Body<'_>) -> Result<Echo, thermidor_model_runtime::Error> {
    let request = request(body);
    let asked =
        request.messages.iter().rfind(|message| matches!(message, Message::User(_))).map(Message::text);
    let mut events = Rehearsal::instant().stream(request).await?;
    let mut end: Option<StreamEnd> = None;
    while let Some(event) = events.next().await {
        if let ChatEvent::Ended(ended) = event {
            end = Some(*ended);
        }
    }
    let (message, ending) =
        end.map_or((AssistantMessage::default(), StreamEnding::Finished), |end| (end.message, end.ending));
    let calls: Vec<_> = message
        .exchanges()
        .map(|exchange| (exchange.call.name.to_string(), exchange.call.arguments.to_string()))
        .collect();
    let reply = if calls.is_empty() {
        Reply::Text(marked(&message.text(), &asked.unwrap_or_default()))
    } else {
        Reply::Calls(calls)
    };
    let usage = (message.usage.input.0, message.usage.output.0);
    Ok(Echo { reply, usage, length: ending == StreamEnding::Length })
}

/// The text with its first line, the writer's notice, replaced by a digest of what was asked.
fn marked(text: &str, asked: &str) -> String {
    let digest = format!("*echo-{:08x}*", digest(asked));
    match text.split_once('\n') {
        Some((notice, rest)) if notice.starts_with('*') => format!("{digest}\n{rest}"),
        None if text.starts_with('*') => digest,
        _ => text.to_owned(),
    }
}

/// FNV-1a, 32 bits.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn request(body: &body::Body<'_>) -> ChatRequest {
    let tools = body.tools().map(|tool| ToolSchema {
        name: tool.name.into(),
        description: Text::from(tool.description),
        parameters: tool.parameters.map_or_else(Json::default, |raw| Json::from(raw.to_owned())),
    });
    ChatRequest {
        messages: messages(body.messages()),
        tools: tools.collect(),
        tool_choice: tool_choice(body),
        max_output: body.max_completion_tokens.or(body.max_tokens).map(Tokens),
        response_schema: schema(body),
        call_prefix: "call".into(),
        ..ChatRequest::default()
    }
}

/// The messages with each tool's answer put back into its call.
fn messages(wire: &[body::Message<'_>]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for message in wire {
        let text = message.content.map(|content| words(content.get())).unwrap_or_default();
        match message.role.as_deref() {
            Some("system" | "developer") => messages.push(Message::system(text)),
            Some("assistant") => {
                let mut parts: Vec<Part> = Vec::new();
                if !text.is_empty() {
                    parts.push(Part::text(text));
                }
                for call in message.calls() {
                    let name =
                        call.function.as_ref().and_then(|called| called.name.as_deref()).unwrap_or_default();
                    let arguments = call
                        .function
                        .as_ref()
                        .and_then(|called| called.arguments.as_deref())
                        .unwrap_or_default();
                    let id = call.id.as_deref().unwrap_or_default();
                    parts.push(Part::Exchange(Exchange::open(ToolCall::new(id, name, arguments))));
                }
                messages.push(Message::Assistant(AssistantMessage { parts, ..AssistantMessage::default() }));
            }
            Some("tool") => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let open = messages.iter_mut().rev().find_map(|message| match message {
                    Message::Assistant(answer) => answer
                        .exchanges_mut()
                        .find(|exchange| exchange.call.id.as_str() == id && exchange.result.is_none()),
                    Message::System(_) | Message::User(_) => None,
                });
                if let Some(exchange) = open {
                    exchange.result = Some(ToolResult::text(text));
                }
            }
            _ => messages.push(Message::user(text)),
        }
    }
    messages
}

/// The words of a content that is a string, or a list of parts.
fn words(content: &str) -> String {
    match serde_json::from_str(content) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn tool_choice(body: &body::Body<'_>) -> ToolChoice {
    let value: Value =
        body.tool_choice.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    match value.as_str() {
        Some("none") => ToolChoice::None,
        Some("required") => ToolChoice::Required,
        _ => match value.pointer("/function/name").and_then(Value::as_str) {
            Some(name) => ToolChoice::Named(name.into()),
            None => ToolChoice::Auto,
        },
    }
}

fn schema(body: &body::Body<'_>) -> Option<ResponseSchema> {
    let value: Value = serde_json::from_str(body.response_format?.get()).ok()?;
    let schema = Json::of(value.pointer("/json_schema/schema")?).ok()?;
    let name = value.pointer("/json_schema/name").and_then(Value::as_str).unwrap_or("answer");
    Some(ResponseSchema { name: name.into(), schema })
}

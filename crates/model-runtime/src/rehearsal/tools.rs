//! Decides which of the offered tools to call.

use serde_json::Value;
use smol_str::SmolStr;
use thermidor_types::{Message, OriginKind, ToolSchema};

use super::{
    arithmetic::arithmetic,
    blocks::{Kind, split},
    contract::{Contract, MaterialKind},
    fill::{Extent, Filler},
};
use crate::{ChatRequest, ToolChoice};

/// The most calls in one answer.
const MOST: usize = 4;
const HAND_OFF: [&str; 5] = ["transfer", "handoff", "hand_off", "delegate", "speak"];
const CLOSING: [&str; 4] = ["finish", "done", "end", "close"];
const EXPRESSION: &str = "expression";
const MEMBER: [&str; 8] =
    ["member", "member_id", "agent", "agent_name", "coworker", "target", "to", "speaker"];

/// A call: the tool's wire name and its arguments as JSON.
pub(super) type Call = (SmolStr, String);

/// The calls of this answer, none when it is to be words.
pub(super) fn decide(request: &ChatRequest, contract: &Contract, phrases: &[String]) -> Vec<Call> {
    match &request.tool_choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Named(name) => request
            .tools
            .iter()
            .filter(|tool| tool.name == *name)
            .take(1)
            .map(|tool| call(tool, phrases, None))
            .collect(),
        ToolChoice::Required => {
            let wanted = wanted(request, contract, phrases);
            if !wanted.is_empty() {
                return wanted;
            }
            let closing = request.tools.iter().find(|tool| named_as(tool, &CLOSING));
            closing.or(request.tools.first()).map(|tool| call(tool, phrases, None)).into_iter().collect()
        }
        ToolChoice::Auto => wanted(request, contract, phrases),
    }
}

fn wanted(request: &ChatRequest, contract: &Contract, phrases: &[String]) -> Vec<Call> {
    let hand_off = request.tools.iter().filter(|tool| named_as(tool, &HAND_OFF)).find_map(|tool| {
        match next_member(tool, request, contract) {
            Floor::To(member) => Some(call(tool, phrases, Some(&member))),
            Floor::Open => Some(call(tool, phrases, None)),
            Floor::Given => None,
        }
    });
    if let Some(hand_off) = hand_off {
        return vec![hand_off];
    }
    if contract.materials.iter().any(|source| source.kind == MaterialKind::ToolResult) {
        return Vec::new();
    }
    let said = last_words(request);
    let mut named: Vec<(usize, &ToolSchema)> = request
        .tools
        .iter()
        .filter(|tool| !named_as(tool, &HAND_OFF))
        .filter_map(|tool| mention(&said, &tool.name).map(|place| (place, tool)))
        .collect();
    named.sort_by_key(|(place, _)| *place);
    named.into_iter().take(MOST).map(|(_, tool)| calculated(call(tool, phrases, None), &said)).collect()
}

/// Puts the arithmetic of the sentence where a call takes an expression.
fn calculated((name, arguments): Call, said: &str) -> Call {
    let mut filled: Value = serde_json::from_str(&arguments).unwrap_or_default();
    match (filled.get_mut(EXPRESSION), arithmetic(said)) {
        (Some(expression), Some(arithmetic)) => {
            *expression = Value::from(arithmetic);
            (name, filled.to_string())
        }
        _ => (name, arguments),
    }
}

fn named_as(tool: &ToolSchema, words: &[&str]) -> bool {
    let name = tool.name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// What the last person or supervisor said, block contents of the request included.
fn last_words(request: &ChatRequest) -> String {
    let texts = request.messages.iter().rev().filter_map(|message| match message {
        Message::User(user) => Some((message.text(), user.origin.kind)),
        Message::System(_) | Message::Assistant(_) => None,
    });
    let mut words = String::new();
    for (text, kind) in texts {
        let (blocks, outside) = split(&text);
        words.push_str(&outside);
        words.extend(blocks.iter().filter(|block| block.kind == Kind::Request).map(|block| block.body));
        if kind != OriginKind::Context && !words.trim().is_empty() {
            break;
        }
        words.push('\n');
    }
    words.to_lowercase()
}

/// Where a text names a tool, by its name or by the name's words.
fn mention(said: &str, name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let words = name.replace(['_', '-'], " ");
    [name, words].iter().find_map(|form| {
        said.match_indices(form.as_str()).map(|(place, _)| place).find(|&place| {
            let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            !letter(said[..place].chars().next_back()) && !letter(said[place + form.len()..].chars().next())
        })
    })
}

/// Whom a hand-off tool can still bring in.
enum Floor {
    /// This member.
    To(String),
    /// Whoever the tool stands for: it names no member and was not called.
    Open,
    /// Nobody: all had the floor.
    Given,
}

fn next_member(tool: &ToolSchema, request: &ChatRequest, contract: &Contract) -> Floor {
    let schema: Value = tool.parameters.read().unwrap_or_default();
    let calls: Vec<_> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer.exchanges()),
            Message::System(_) | Message::User(_) => None,
        })
        .flatten()
        .map(|exchange| &exchange.call)
        .filter(|call| call.name == tool.name)
        .collect();
    let Some((property, members)) = members(&schema) else {
        return if calls.is_empty() { Floor::Open } else { Floor::Given };
    };
    members
        .into_iter()
        .find(|member| {
            let called = calls.iter().any(|call| {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                arguments.get(&property).and_then(Value::as_str) == Some(member)
            });
            let wrote = contract.materials.iter().any(|source| source.member == *member);
            let spoke = request.messages.iter().any(|message| {
                message.origin().member.as_ref().is_some_and(|speaker| speaker.as_str() == member)
            });
            !called && !wrote && !spoke
        })
        .map_or(Floor::Given, Floor::To)
}

/// The property of a hand-off tool that names the member, and the members it allows.
fn members(schema: &Value) -> Option<(String, Vec<String>)> {
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().filter(|(name, _)| MEMBER.contains(&name.as_str())).find_map(|(name, property)| {
        let allowed = property.get("enum")?.as_array()?;
        Some((name.clone(), allowed.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
    })
}

fn call(tool: &ToolSchema, phrases: &[String], member: Option<&str>) -> Call {
    let schema: Value = tool.parameters.read().unwrap_or_default();
    let mut arguments = match Filler::new(&schema, phrases, Extent::Required).value() {
        Value::Object(arguments) => arguments,
        _ => serde_json::Map::new(),
    };
    if let (Some(member), Some((property, _))) = (member, members(&schema)) {
        arguments.insert(property, Value::from(member));
    }
    (tool.name.clone(), Value::Object(arguments).to_string())
}

//! What a role answers to a request.

use std::fmt::Write as _;

use super::{
    body::{Body, Function, Parameters, property_type},
    script::{Role, Script},
};

const WORKERS: [(&str, &str); 2] = [("worker_a", "[done:worker_a]"), ("worker_b", "[done:worker_b]")];
const FINAL: &str = "FINAL: both workers have reported. TERMINATE";
const TARGETS: [&str; 7] = ["coworker", "member_id", "agent", "agent_name", "target", "to", "member"];

/// What is answered: words, or calls by name and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Text(String),
    Calls(Vec<(String, String)>),
}

/// The answer of every role but `echo`, whose writer is elsewhere.
pub(super) fn decide(script: &Script, body: &Body<'_>) -> Reply {
    match script.role {
        Role::Text | Role::Echo => Reply::Text(words(script.tokens, script.chars)),
        Role::Selector => {
            let next = WORKERS
                .iter()
                .find(|(_, mark)| !body.messages().iter().any(|message| message.mentions(mark)));
            Reply::Text(next.map_or("closer", |(worker, _)| worker).to_owned())
        }
        Role::WorkerA => worker(0, body),
        Role::WorkerB => worker(1, body),
        Role::Parallel => {
            let seen = body.messages().iter().any(|message| message.mentions("[done:"));
            let calls: Vec<_> = if seen || delegations(body) > 0 {
                Vec::new()
            } else {
                WORKERS.iter().filter_map(|(worker, _)| hand_off(body, worker)).collect()
            };
            if calls.is_empty() { Reply::Text(FINAL.to_owned()) } else { Reply::Calls(calls) }
        }
        Role::Supervisor => {
            let before = delegations(body);
            let (worker, _) = WORKERS[before % 2];
            match hand_off(body, worker).filter(|_| before < script.steps) {
                Some(call) => Reply::Calls(vec![call]),
                None => Reply::Text(FINAL.to_owned()),
            }
        }
    }
}

fn words(tokens: usize, chars: usize) -> String {
    let word = if chars == 0 { "token".to_owned() } else { "x".repeat(chars.saturating_sub(1).max(1)) };
    format!("{word} ").repeat(tokens)
}

fn worker(place: usize, body: &Body<'_>) -> Reply {
    let back = body.tools().find(|tool| {
        let name = tool.name.to_lowercase();
        name.contains("supervisor") && (name.contains("transfer") || name.contains("handoff"))
    });
    if let Some(tool) = back {
        return Reply::Calls(vec![(tool.name.to_owned(), arguments(&tool, "supervisor"))]);
    }
    let (name, mark) = WORKERS[place];
    Reply::Text(format!("{mark} here is the result of {name}: the part is finished."))
}

/// How many hand-offs to a worker the messages show.
fn delegations(body: &Body<'_>) -> usize {
    let assistants = body.messages().iter().filter(|message| message.is("assistant"));
    let functions = assistants.flat_map(|message| message.calls()).filter_map(|call| call.function.as_ref());
    let to_worker = |text: Option<&str>| text.is_some_and(|text| text.contains("worker_"));
    functions
        .filter(|called| to_worker(called.name.as_deref()) || to_worker(called.arguments.as_deref()))
        .count()
}

/// The call that hands off to `target`: by a tool of that name, else by any tool for hand-offs.
fn hand_off(body: &Body<'_>, target: &str) -> Option<(String, String)> {
    let tool = body.tools().find(|tool| tool.name.contains(target)).or_else(|| {
        body.tools().find(|tool| {
            let name = tool.name.to_lowercase();
            ["delegate", "transfer", "handoff"].iter().any(|word| name.contains(word))
        })
    })?;
    Some((tool.name.to_owned(), arguments(&tool, target)))
}

/// Arguments in the schema's order: the target where one is asked for, a dummy everywhere else.
fn arguments(tool: &Function<'_>, target: &str) -> String {
    let parameters = tool
        .parameters
        .and_then(|raw| serde_json::from_str::<Parameters<'_>>(raw.get()).ok())
        .unwrap_or_default();
    let properties = parameters.properties.unwrap_or_default();
    let required: Vec<&str> = match &parameters.required {
        Some(required) => required.iter().map(AsRef::as_ref).collect(),
        None => properties.keys().map(AsRef::as_ref).collect(),
    };
    let optional = properties
        .keys()
        .map(AsRef::as_ref)
        .filter(|name| TARGETS.contains(name) && !required.contains(name));
    let mut written: Vec<&str> = Vec::new();
    let mut json = String::from("{");
    for name in required.iter().copied().chain(optional) {
        if written.contains(&name) {
            continue;
        }
        let value = if TARGETS.contains(&name) {
            format!("\"{target}\"")
        } else {
            match properties.get(name).map_or("", |property| property_type(property)) {
                "\"boolean\"" => "false".to_owned(),
                "\"integer\"" | "\"number\"" => "1".to_owned(),
                "\"array\"" => "[]".to_owned(),
                _ => "\"do your part of the job\"".to_owned(),
            }
        };
        let comma = if written.is_empty() { "" } else { "," };
        let _ = write!(json, "{comma}{}:{value}", super::render::quoted(name));
        written.push(name);
    }
    json.push('}');
    json
}

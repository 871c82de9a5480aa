//! A small language for conversations: one command a line.

use std::fmt::Write as _;

use expect_test::Expect;
use thermidor_conversation_flow::{
    After, Body, Command, Conversation, Event, GroupKind, Mark, NodeId, Scope, Shown,
};
use thermidor_types::{AssistantMessage, Exchange, Message, Origin, Part, ToolCall, ToolResult, UserMessage};

/// Runs a script, and checks on the way that the events alone give the same conversation.
pub(crate) fn run(script: &str) -> Conversation {
    let (talk, refused) = run_all(script);
    assert_eq!(refused, "", "no command should be refused");
    talk
}

/// What is refused is told, line by line.
pub(crate) fn run_all(script: &str) -> (Conversation, String) {
    let (mut talk, mut events, mut refused) = (Conversation::new(), Vec::<Event>::new(), String::new());
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let command = command(&talk, line);
        match talk.execute(command) {
            Ok(event) => events.push(event),
            Err(error) => writeln!(refused, "{line}: {error}").expect("a string takes all"),
        }
    }
    let mut again = Conversation::new();
    for event in &events {
        again.apply(event);
    }
    assert_eq!(again, talk, "events replay to the same state");
    let (read, faults) = Conversation::from_rows(talk.rows());
    assert_eq!(faults, [], "what was written is read without faults");
    assert_eq!(read, talk, "rows give the same state");
    (talk, refused)
}

pub(crate) fn message(role: &str, text: &str) -> Message {
    match role {
        "user" => Message::user(text),
        "system" => Message::system(text),
        _ => {
            let (member, tool) = role.split_once('!').unwrap_or((role, ""));
            let mut parts = vec![Part::text(text)];
            if !tool.is_empty() {
                let call = ToolCall::new(format!("call-{tool}"), tool, "{}");
                parts.push(Part::Exchange(Exchange::open(call)));
            }
            Message::Assistant(AssistantMessage {
                parts,
                origin: Origin::member(member),
                ..AssistantMessage::default()
            })
        }
    }
}

fn command(talk: &Conversation, line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    let text = |from: usize| words.get(from..).unwrap_or_default().join(" ");
    let said = |from: usize| message(words[from], &text(from + 1));
    let id = |at: usize| NodeId::from(words[at]);
    let parent = |at: usize| match words[at] {
        "." => talk.tip(&Scope::Main).expect("the main path is always there"),
        "-" => None,
        other => Some(other.into()),
    };
    match words[0] {
        "say" => Command::Append { id: id(1), after: parent(2), body: said(3).into() },
        "group" => {
            let kind = match words[3] {
                "agents" => GroupKind::Agents,
                "council" => GroupKind::Council,
                "tasks" => GroupKind::Tasks,
                other => panic!("no such kind: {other}"),
            };
            Command::Append { id: id(1), after: parent(2), body: kind.into() }
        }
        "lane" => Command::AddLane { id: id(1), group: id(2), lane: words[3].into(), message: said(4) },
        "thread" => Command::OpenThread { id: id(1), on: id(2), thread: words[3].into(), message: said(4) },
        "edit" => Command::Edit { id: id(1), of: id(2), message: said(3) },
        "regen" => Command::Regenerate { id: id(1), of: id(2), body: said(3).into() },
        "regroup" => Command::Regenerate { id: id(1), of: id(2), body: Body::Group(GroupKind::Agents) },
        "result" => Command::AnswerCall {
            node: id(1),
            call: format!("call-{}", words[2]).into(),
            result: ToolResult::text(text(3)),
        },
        "select" => Command::Select { node: id(1) },
        "delete" => Command::Delete { node: id(1), after: After::Keep },
        "prune" => Command::Delete { node: id(1), after: After::Remove },
        "pin" => Command::Pin { node: id(1) },
        "unpin" => Command::Unpin { node: id(1) },
        "fold" => Command::Compress {
            id: id(1),
            first: id(2),
            last: id(3),
            summary: Message::User(UserMessage {
                content: vec![thermidor_types::Content::text(text(4))],
                origin: Origin::context(),
            }),
        },
        "expand" => Command::Expand { fold: id(1) },
        other => panic!("no such command: {other}"),
    }
}

/// The display as text: depth by indentation, `n/m` where there are alternatives.
pub(crate) fn shown(talk: &Conversation, scope: &Scope) -> String {
    let display = talk.for_display(scope).expect("the scope is there");
    let mut depths = std::collections::HashMap::<&NodeId, usize>::new();
    let mut out = String::new();
    for item in &display.items {
        let depth = item.within.as_ref().map_or(0, |within| depths[&within.item] + 1);
        depths.insert(&item.id, depth);
        let lane = item.within.as_ref().and_then(|within| within.lane.as_ref());
        let lane = lane.map(|lane| format!("{lane}: ")).unwrap_or_default();
        let line = match &item.shown {
            Shown::System(step) => format!("system {}", mark(&step.mark)),
            Shown::User(step) => format!("user {}", mark(&step.mark)),
            Shown::Answer { member, steps } => {
                let steps: Vec<String> = steps.iter().map(|step| mark(&step.mark)).collect();
                let calls: Vec<String> = item
                    .shown
                    .exchanges()
                    .map(|(node, exchange)| {
                        let is = if exchange.result.is_some() { "answered" } else { "open" };
                        format!(" [{node} {} {is}]", exchange.call.name)
                    })
                    .collect();
                let member = member.as_ref().map_or("nobody", |member| member.as_str());
                format!("answer of {member}: {}{}", steps.join(" + "), calls.concat())
            }
            Shown::Group { kind, mark: of, lanes } => {
                let lanes: Vec<String> = lanes
                    .iter()
                    .map(|lane| {
                        let name = |id: &Option<NodeId>| id.as_ref().map_or("-".into(), ToString::to_string);
                        format!(
                            "{} {}..{} ({})",
                            lane.name,
                            name(&lane.first),
                            name(&lane.answer),
                            lane.messages
                        )
                    })
                    .collect();
                format!("{kind:?} {} | {}", mark(of), lanes.join(" | "))
            }
            Shown::Compressed { nodes, .. } => format!("fold {} of {}", item.id, nodes.len()),
            Shown::Removed(of) => format!("removed {}", mark(of)),
        };
        writeln!(out, "{:indent$}{lane}{line}", "", indent = depth * 2).expect("a string takes all");
    }
    out
}

fn mark(mark: &Mark) -> String {
    let mut out = mark.node.to_string();
    if mark.branch.of > 1 {
        write!(out, " {}/{}", mark.branch.n, mark.branch.of).expect("a string takes all");
    }
    for thread in &mark.threads {
        write!(out, " ({}: {})", thread.id, thread.messages).expect("a string takes all");
    }
    if mark.pinned {
        out.push_str(" pinned");
    }
    out
}

/// The model's messages as text; a summary names what it stands for.
pub(crate) fn read(talk: &Conversation, scope: &Scope) -> String {
    let view = talk.for_model(scope).expect("the scope is there");
    view.entries.iter().fold(String::new(), |mut out, entry| {
        let nodes: Vec<&str> = entry.nodes.iter().map(NodeId::as_str).collect();
        let of = if nodes == [entry.id.as_str()] { String::new() } else { format!(" <{}>", nodes.join(" ")) };
        writeln!(out, "{}{of}: {}", entry.id, entry.message.text()).expect("a string takes all");
        out
    })
}

/// Both lists of the main path.
pub(crate) fn check(script: &str, expected: Expect) {
    check_scope(script, &Scope::Main, expected);
}

pub(crate) fn check_scope(script: &str, scope: &Scope, expected: Expect) {
    let talk = run(script);
    expected.assert_eq(&format!("{}---\n{}", shown(&talk, scope), read(&talk, scope)));
}

//! From units to messages: the one place where a prompt takes its final form.

use thermidor_types::{
    AssistantMessage, Content, Message, Origin, Role, SystemMessage, Text, Tokens, UserMessage,
};

use crate::{Draft, ReportLine, Source, TokenCounter, Unit, Verdict, unit::Body, weigh::MESSAGE_FRAME};

/// Kept messages of the history have a line each up to this many; older ones share lines.
const OWN_LINES: usize = 8;

/// The units of each message, in order.
pub(crate) fn groups(units: &[Unit]) -> impl Iterator<Item = &[Unit]> {
    units.chunk_by(|before, unit| unit.joined && before.role() == unit.role())
}

/// What the contents of one message take. A system message is one text; all others have a part for each
/// unit's parts.
pub(crate) fn group_tokens(units: &[Unit], counter: &dyn TokenCounter) -> Tokens {
    match units {
        [first, _, ..] if first.role() == Role::System => counter.count(&system_text(units)),
        _ => units.iter().map(|unit| unit.tokens(counter)).sum(),
    }
}

/// The messages and the report's lines about them. The lines' tokens sum to the tokens of the messages.
pub(crate) fn finish(draft: Draft) -> (Vec<Message>, Vec<ReportLine>) {
    let counter = draft.counter();
    let mut messages = Vec::with_capacity(draft.units.len());
    let mut lines: Vec<(usize, ReportLine)> = Vec::with_capacity(draft.units.len() + draft.dropped.len());
    for units in groups(&draft.units) {
        messages.push(message(units));
        let mut left = group_tokens(units, counter);
        for (place, unit) in units.iter().enumerate() {
            // Where the texts of a message were joined, the last one answers for what the seams are worth.
            let own = if place + 1 == units.len() { left } else { unit.tokens(counter).min(left) };
            left = left.saturating_sub(own);
            let frame = if place == 0 { MESSAGE_FRAME } else { Tokens(0) };
            lines.push((unit.position, line(unit, own + frame, frame)));
        }
    }
    lines.extend(draft.dropped);
    lines.sort_by_key(|(position, _)| *position);
    (messages, merge(lines.into_iter().map(|(_, line)| line).collect()))
}

fn line(unit: &Unit, after: Tokens, frame: Tokens) -> ReportLine {
    ReportLine {
        source: unit.source(),
        tokens_before: unit.before.map_or(after, |before| before + frame),
        tokens_after: after,
        verdict: if unit.shortened { Verdict::Shortened } else { Verdict::Kept },
        reason: unit.reason.clone(),
    }
}

/// Lets neighbouring messages with the same fate share a line, except the newest of those that are kept.
fn merge(lines: Vec<ReportLine>) -> Vec<ReportLine> {
    let kept =
        |line: &ReportLine| matches!(line.source, Source::History { .. }) && line.verdict != Verdict::Dropped;
    let mut shared = lines.iter().filter(|line| kept(line)).count().saturating_sub(OWN_LINES);
    let mut merged: Vec<ReportLine> = Vec::new();
    for line in lines {
        let may_share = !kept(&line) || shared > 0;
        shared = shared.saturating_sub(usize::from(kept(&line)));
        let (Source::History { index, .. }, true) = (&line.source, may_share) else {
            merged.push(line);
            continue;
        };
        match merged.last_mut() {
            Some(ReportLine {
                source: Source::History { index: first, count },
                tokens_before,
                tokens_after,
                verdict,
                reason,
            }) if *first + *count == *index && *verdict == line.verdict && *reason == line.reason => {
                *count += 1;
                *tokens_before += line.tokens_before;
                *tokens_after += line.tokens_after;
            }
            _ => merged.push(line),
        }
    }
    merged
}

fn message(units: &[Unit]) -> Message {
    if let [Unit { body: Body::Message { message, .. }, .. }] = units {
        return Message::clone(message);
    }
    let said = units.iter().find_map(Unit::message);
    let origin = said.map_or_else(Origin::context, |message| message.origin().clone());
    match units.first().map_or(Role::User, Unit::role) {
        Role::System => Message::System(SystemMessage { text: system_text(units).into(), origin }),
        Role::User | Role::Tool => {
            Message::User(UserMessage { content: units.iter().flat_map(contents).collect(), origin })
        }
        Role::Assistant => {
            let answers = units.iter().filter_map(|unit| match unit.message() {
                Some(Message::Assistant(answer)) => Some(answer),
                _ => None,
            });
            let last = answers.clone().next_back().cloned().unwrap_or_default();
            let parts = answers.flat_map(|answer| answer.parts.iter().cloned()).collect();
            Message::Assistant(AssistantMessage { parts, origin, ..last })
        }
    }
}

fn contents(unit: &Unit) -> Vec<Content> {
    match &unit.body {
        Body::Block { text, .. } => vec![Content::Text(text.clone())],
        Body::Message { message, .. } => match &**message {
            Message::User(user) => user.content.clone(),
            Message::System(system) => vec![Content::Text(system.text.clone())],
            Message::Assistant(answer) => vec![Content::Text(answer.text().into())],
        },
    }
}

fn system_text(units: &[Unit]) -> String {
    let texts = units.iter().map(|unit| match &unit.body {
        Body::Block { text, .. } => text.clone(),
        Body::Message { message, .. } => Text::from(message.text()),
    });
    texts.collect::<Vec<Text>>().join("\n\n")
}

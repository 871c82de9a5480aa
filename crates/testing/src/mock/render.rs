//! Answers as bytes, in the format of chat completions.

use std::fmt::Write as _;

use super::{decide::Reply, script::Body};

/// Everything that makes up an answer.
pub(super) struct Answer<'a> {
    pub(super) id: u64,
    pub(super) model: &'a str,
    pub(super) reply: &'a Reply,
    /// Tokens of the prompt and of the answer.
    pub(super) usage: (u64, u64),
    pub(super) length: bool,
}

const CREATED: &str = r#""created":1700000000"#;
/// An error as the last event of a stream that began well.
pub(super) const STREAM_ERROR: &str = "data: {\"error\":{\"message\":\"the mock fails inside the stream\",\"type\":\"server_error\",\"code\":\"mock_failure\"}}\n\n";
pub(super) const DONE: &str = "data: [DONE]\n\n";

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Answer<'_> {
    fn finish(&self) -> &'static str {
        match self.reply {
            _ if self.length => "length",
            Reply::Text(_) => "stop",
            Reply::Calls(_) => "tool_calls",
        }
    }

    fn usage_json(&self) -> String {
        let (prompt, completion) = self.usage;
        let total = prompt + completion;
        format!("{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion},\"total_tokens\":{total}}}")
    }

    /// The answer as one document.
    pub(super) fn plain(&self) -> String {
        let (id, model, finish) = (self.id, quoted(self.model), self.finish());
        let message = match self.reply {
            Reply::Text(text) => format!("\"content\":{},\"refusal\":null", quoted(text)),
            Reply::Calls(calls) => {
                let mut list = String::from("\"content\":null,\"refusal\":null,\"tool_calls\":[");
                for (place, (name, arguments)) in calls.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    let (name, arguments) = (quoted(name), quoted(arguments));
                    let _ = write!(
                        list,
                        "{comma}{{\"id\":\"call_{id}_{place}\",\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
                    );
                }
                list + "]"
            }
        };
        format!(
            "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion\",{CREATED},\"model\":{model},\"choices\":[{{\"index\":0,\
             \"message\":{{\"role\":\"assistant\",{message}}},\"logprobs\":null,\"finish_reason\":\"{finish}\"}}],\"usage\":{}}}",
            self.usage_json()
        )
    }

    /// The answer as events, in one string with the end of each.
    pub(super) fn stream(&self, wants_usage: bool, body: Body) -> Events {
        let (id, model) = (self.id, quoted(self.model));
        let head = format!(
            "data: {{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",{CREATED},\"model\":{model},\"choices\":["
        );
        let mut events = Events::default();
        let mut chunk = |delta: &str, finish: &str| {
            let choice = [
                &head,
                "{\"index\":0,\"delta\":",
                delta,
                ",\"logprobs\":null,\"finish_reason\":",
                finish,
                "}]}\n\n",
            ];
            events.push(&choice);
        };
        match self.reply {
            Reply::Text(text) => {
                chunk("{\"role\":\"assistant\",\"content\":\"\"}", "null");
                for piece in pieces(text) {
                    chunk(&format!("{{\"content\":{}}}", quoted(piece)), "null");
                }
            }
            Reply::Calls(calls) => {
                chunk("{\"role\":\"assistant\",\"content\":null}", "null");
                for (place, (name, arguments)) in calls.iter().enumerate() {
                    let (name, arguments) = (quoted(name), quoted(arguments));
                    chunk(
                        &format!(
                            "{{\"tool_calls\":[{{\"index\":{place},\"id\":\"call_{id}_{place}\",\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":\"\"}}}}]}}"
                        ),
                        "null",
                    );
                    chunk(
                        &format!(
                            "{{\"tool_calls\":[{{\"index\":{place},\"function\":{{\"arguments\":{arguments}}}}}]}}"
                        ),
                        "null",
                    );
                }
            }
        }
        if body != Body::NoEnd {
            chunk("{}", &format!("\"{}\"", self.finish()));
        }
        if wants_usage {
            events.push(&[&head, "],\"usage\":", &self.usage_json(), "}\n\n"]);
        }
        if body != Body::NoEnd {
            events.push(&[DONE]);
        }
        events
    }
}

/// The events of a stream, one after the other.
#[derive(Default)]
pub(super) struct Events {
    pub(super) text: String,
    /// Where each event ends.
    pub(super) ends: Vec<usize>,
}

impl Events {
    fn push(&mut self, parts: &[&str]) {
        for part in parts {
            self.text.push_str(part);
        }
        self.ends.push(self.text.len());
    }

    /// Keeps the first `events`, and adds one.
    pub(super) fn replace_rest(&mut self, events: usize, last: &str) {
        self.ends.truncate(events);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        self.push(&[last]);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// Words with the white space that follows them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let space = rest[word..].find(|c: char| !c.is_whitespace()).map_or(rest.len(), |space| word + space);
        let (piece, left) = rest.split_at(space);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}
